/**
 * Takes what other partitions handed to this one, in their order: each window of the log in one commit with how far it
 * is taken, so that none is taken twice or left out, whatever ends in between.
 *
 * RELAYREADER-1 an entry is taken exactly once, and after those before it
 * RELAYREADER-2 what cannot be taken for its own sake is passed over and reported; for any other reason it is tried
 *   again at the next look
 * RELAYREADER-3 once it is to stop it begins no other commit: the next host goes on from there
 */
import { AppError, type Logger, messageOf } from '#kernel'
import type { LogEntry, Store, Write } from '#storage'
import type { DataIntake } from '../runner.ts'
import { RELAY_CURSORS, RELAY_LOG, type RelayEntry } from './relay-records.ts'

export interface RelayReaderOptions {
  readonly tenant: string
  readonly store: Store
  /** of the partition */
  readonly number: number
  /** takes what the partition is the home of, and hands it on to whoever hears it */
  readonly home: DataIntake
  /** takes what tasks of the partition hear of others */
  readonly tasks: DataIntake
  readonly logger?: Logger | undefined
}

interface Place {
  readonly position: number
  /** of the cursor; 0: there is none */
  readonly version: number
}

const WINDOW = 200
/** entries that stay behind the cursor until they are let go together */
const WORTH_TRIMMING = 5_000

export class RelayReader {
  readonly #options: RelayReaderOptions
  #place: Place | undefined
  #trimmed = 0
  #isAsked = false
  #isStopped = false
  #running: Promise<void> | undefined

  constructor(options: RelayReaderOptions) {
    this.#options = options
  }

  /** There may be more. Never waits. */
  wake(): void {
    this.#isAsked = true
    if (this.#isStopped) return
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isAsked && !this.#isStopped) this.wake()
    })
  }

  /** Resolves when what was there is taken, or has to wait. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.idle()
  }

  async #run(): Promise<void> {
    this.#isAsked = false
    try {
      while (!this.#isStopped && (await this.#takeNext()));
    } catch (error) {
      // how far it came is read again
      this.#place = undefined
      const { tenant, number, logger } = this.#options
      if (!this.#isStopped) logger?.warn(`partition ${number} of ${tenant} takes messages later: ${messageOf(error)}`)
    }
  }

  /** False when there is nothing left. */
  async #takeNext(): Promise<boolean> {
    const { store, number } = this.#options
    const place = (this.#place ??= await this.#stored())
    const window = await store.log(RELAY_LOG).read(number, place.position, WINDOW)
    for (const group of groupsOf(window)) {
      // a window of many commits would hold up whoever takes the partition over
      if (this.#isStopped) return false
      await this.#take(group)
    }
    const { position } = this.#place
    if (position - this.#trimmed > WORTH_TRIMMING) {
      await store.log(RELAY_LOG).trim(number, position)
      this.#trimmed = position
    }
    return window.length === WINDOW
  }

  async #take(group: readonly LogEntry[]): Promise<void> {
    const { tenant, home, tasks, logger } = this.#options
    const entries = group.map(({ body }) => body as unknown as RelayEntry)
    const [first] = entries
    const last = group.at(-1)
    if (first === undefined || last === undefined) return
    const cursor = await this.#moving(last.position)
    const intake = first.to === 'home' ? home : tasks
    try {
      const { c: channel } = first.data
      if (channel === undefined) await intake.receiveAll(entries.map(postOf), [cursor])
      else {
        const { messages, ...led } = postOf(first)
        await intake.receive(messages, { ...led, channel, writes: [cursor] })
      }
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (group.length > 1) {
        for (const one of group) if (!this.#isStopped) await this.#take([one])
        return
      }
      logger?.error(`tasks of ${tenant} do not take what was handed to them: ${messageOf(error)}`)
      await this.#options.store.commit([cursor])
    }
    this.#place = { position: last.position, version: (this.#place?.version ?? 0) + 1 }
  }

  async #moving(position: number): Promise<Write> {
    const { store, number } = this.#options
    const { version } = (this.#place ??= await this.#stored())
    return store.collection(RELAY_CURSORS).putting(String(number), { position }, version === 0 ? 'absent' : version)
  }

  async #stored(): Promise<Place> {
    const { store, number } = this.#options
    const stored = await store.collection(RELAY_CURSORS).get(String(number))
    return { position: stored?.value.position ?? 0, version: stored?.version ?? 0 }
  }
}

/** Neighbours that are taken alike share a commit; those of a channel are taken one by one. */
function groupsOf(window: readonly LogEntry[]): readonly (readonly LogEntry[])[] {
  const groups: LogEntry[][] = []
  let kind: string | undefined
  for (const entry of window) {
    const { to, data } = entry.body as unknown as RelayEntry
    const next = data.c === undefined ? to : undefined
    if (next !== undefined && next === kind) groups.at(-1)?.push(entry)
    else groups.push([entry])
    kind = next
  }
  return groups
}

function postOf({ data: { m, h, r, u, g } }: RelayEntry) {
  const led = { ...(h !== undefined && { hops: h }), ...(r !== undefined && { root: r }) }
  return { messages: m, ...led, ...(u && { unstamped: u }), ...(g && { identityIgnores: g }) }
}

/** For the sake of the message: it is never taken. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'VALIDATION' || error.code === 'TOO_LARGE')
}
