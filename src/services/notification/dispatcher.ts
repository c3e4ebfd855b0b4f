/** Sends stored notifications: one lane per channel, each attempt with a deadline, retried with backoff (NOTIFY-2, -3). */
import { AppError, type Logger, messageOf, RepeatableWork, type StartTimer } from '#kernel'
import type { Collection, Store, Stored } from '#storage'
import { laneOf, type NotificationRecord, NOTIFICATIONS } from './notification-record.ts'

export interface DispatcherOptions {
  readonly store: Store
  readonly tenant: string
  readonly now: () => number
  readonly later: StartTimer
  /** Sends a notification, and returns the response of the receiver. */
  readonly send: (id: string, record: NotificationRecord, signal: AbortSignal) => Promise<string>
  readonly logger: Logger
}

export const ATTEMPTS = 12
const FIRST_BACKOFF_MS = 2_000
const MAX_BACKOFF_MS = 600_000
export const DEADLINE_MS = 20_000
const RETRY_MS = 1_000
const LONGEST_WAIT_MS = 60_000
const KEPT_MS = 30 * 86_400_000
/** waiting notifications of one channel; beyond that the oldest fails */
export const MAX_WAITING = 1_000
const SWEPT_AT_ONCE = 500
const MAX_TEXT = 1_000

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #records: Collection<NotificationRecord>
  readonly #lanes = new Map<string, Lane>()
  readonly #counts = { delivered: 0, failed: 0, waiting: 0 }
  #isRunning = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#records = options.store.collection(NOTIFICATIONS)
  }

  get counts(): Readonly<{ delivered: number; failed: number; waiting: number }> {
    return this.#counts
  }

  async start(): Promise<void> {
    this.#isRunning = true
    const where = [{ field: 'state', op: 'eq', value: 'waiting' }] as const
    const lanes = await this.#records.countBy('lane', where)
    for (const [lane, count] of lanes) {
      this.#counts.waiting += count
      this.#lane(lane).wake()
    }
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    await Promise.all([...this.#lanes.values()].map((lane) => lane.stop()))
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.idle()))
  }

  /** Call after the commit of notifications. */
  added(records: readonly NotificationRecord[]): void {
    const waiting = records.filter(({ state }) => state === 'waiting')
    this.#counts.waiting += waiting.length
    this.#counts.failed += records.length - waiting.length
    if (!this.#isRunning) return
    for (const lane of new Set(waiting.map(laneOf))) this.#lane(lane).wake()
  }

  /** Removes ended notifications whose time is over. */
  async sweep(): Promise<void> {
    const where = [{ field: 'removeTime', op: 'lte', value: this.#options.now() }] as const
    for (;;) {
      const ids = await this.#records.ids({ where, limit: SWEPT_AT_ONCE })
      await Promise.all(ids.map((id) => this.#records.delete(id)))
      if (ids.length < SWEPT_AT_ONCE) return
    }
  }

  #lane(name: string): Lane {
    const known = this.#lanes.get(name)
    if (known !== undefined) return known
    const ended = (state: 'delivered' | 'failed'): void => {
      this.#counts[state]++
      this.#counts.waiting = Math.max(0, this.#counts.waiting - 1)
    }
    const lane = new Lane(name, this.#options, this.#records, ended)
    this.#lanes.set(name, lane)
    return lane
  }
}

class Lane extends RepeatableWork {
  readonly #name: string
  readonly #options: DispatcherOptions
  readonly #records: Collection<NotificationRecord>
  readonly #ended: (state: 'delivered' | 'failed') => void
  #interrupt: (() => void) | undefined
  #cancelTimer: (() => void) | undefined

  constructor(
    name: string,
    options: DispatcherOptions,
    records: Collection<NotificationRecord>,
    ended: (state: 'delivered' | 'failed') => void,
  ) {
    super({
      work: () => this.#sendAll(),
      later: options.later,
      retryMs: RETRY_MS,
      failed: (error) =>
        options.logger.error(`notifications of tenant ${options.tenant} are delayed: ${messageOf(error)}`),
    })
    this.#name = name
    this.#options = options
    this.#records = records
    this.#ended = ended
  }

  override async stop(): Promise<void> {
    const stopped = super.stop()
    this.#interrupt?.()
    this.#cancelTimer?.()
    await stopped
  }

  async #sendAll(): Promise<void> {
    const { now, later } = this.#options
    this.#cancelTimer?.()
    await this.#dropOldest()
    while (!this.isStopped) {
      const where = [{ field: 'lane', op: 'eq', value: this.#name }] as const
      const [first] = await this.#records.find({ where, sort: [{ field: 'due' }], limit: 1 })
      if (first === undefined || this.isStopped) return
      const wait = (first.value.due ?? 0) - now()
      if (wait > 0) {
        this.#cancelTimer = later(Math.min(wait, LONGEST_WAIT_MS), () => this.wake())
        return
      }
      await this.#attempt(first)
    }
  }

  async #attempt({ id, value, version }: Stored<NotificationRecord>): Promise<void> {
    const { now } = this.#options
    const attempts = value.attempts + 1
    const { due: _due, lastError: _error, ...rest } = value
    const end = async (state: 'delivered' | 'failed', more: Partial<NotificationRecord>): Promise<void> => {
      const time = now()
      const times = { endTime: time, removeTime: time + KEPT_MS }
      await this.#records.put(id, { ...rest, ...more, ...times, state, attempts }, version)
      this.#ended(state)
    }
    let receipt: string
    try {
      receipt = await this.#withDeadline((signal) => this.#options.send(id, value, signal))
    } catch (error) {
      // an attempt that the end of the host interrupts does not count
      if (this.isStopped) return
      const lastError = messageOf(error).slice(0, MAX_TEXT)
      if (attempts >= ATTEMPTS || error instanceof Undeliverable) return end('failed', { lastError })
      const due = now() + Math.min(FIRST_BACKOFF_MS * 2 ** (attempts - 1), MAX_BACKOFF_MS)
      await this.#records.put(id, { ...rest, attempts, lastError, due }, version)
      return
    }
    return end('delivered', { receipt: receipt.slice(0, MAX_TEXT) })
  }

  /** Ends the wait at the deadline, even if the channel ignores the signal. */
  #withDeadline(work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const attempt = new AbortController()
    return new Promise<string>((resolve, reject) => {
      const end = (text: string): void => {
        attempt.abort()
        reject(new AppError('FORWARDING', text))
      }
      const cancel = this.#options.later(DEADLINE_MS, () => end(`did not respond within ${DEADLINE_MS / 1_000} s`))
      this.#interrupt = () => end('the host is stopping')
      work(attempt.signal)
        .then(resolve, reject)
        .finally(() => cancel())
    }).finally(() => (this.#interrupt = undefined))
  }

  async #dropOldest(): Promise<void> {
    const where = [{ field: 'lane', op: 'eq', value: this.#name }] as const
    const over = (await this.#records.count(where)) - MAX_WAITING
    if (over <= 0) return
    const oldest = await this.#records.find({ where, sort: [{ field: 'createTime' }], limit: Math.min(over, 500) })
    const now = this.#options.now()
    for (const { id, value, version } of oldest) {
      const { due: _due, ...rest } = value
      const lastError = `it was dropped: ${MAX_WAITING} later notifications of the channel are waiting`
      const ended = { state: 'failed', lastError, endTime: now, removeTime: now + KEPT_MS } as const
      await this.#records.put(id, { ...rest, ...ended }, version)
      this.#ended('failed')
    }
  }
}

/** A failure that another attempt would repeat. */
export class Undeliverable extends AppError {
  constructor(message: string) {
    super('FORWARDING', message)
  }
}
