/**
 * Applies messages from other partitions in order, each window in one commit with its cursor.
 *
 * RELAYREADER-1 an entry is applied exactly once, after all earlier entries
 * RELAYREADER-2 an entry that is itself invalid is skipped and reported; after any other failure, the entry is retried
 *   at the next wake-up
 * RELAYREADER-3 after a stop, no further commit begins; the next host continues from there
 */
import { AppError, type Logger, messageOf } from '#kernel'
import type { LogEntry, Store, Write } from '#storage'
import type { DataIntake, IntakePost } from '../runner.ts'
import { RELAY_CURSORS, RELAY_LOG, type RelayEntry } from './relay-records.ts'

export interface RelayReaderOptions {
  readonly tenant: string
  readonly store: Store
  readonly number: number
  /** applies messages of this partition's resources, and relays them to other listeners */
  readonly home: DataIntake
  /** applies messages of other partitions' resources */
  readonly tasks: DataIntake
  readonly logger?: Logger | undefined
}

interface Cursor {
  readonly position: number
  /** storage version of the cursor; 0: not stored yet */
  readonly version: number
}

const WINDOW = 200
const WORTH_TRIMMING = 5_000

export class RelayReader {
  readonly #options: RelayReaderOptions
  #cursor: Cursor | undefined
  #trimmed = 0
  #isWoken = false
  #isStopped = false
  #running: Promise<void> | undefined

  constructor(options: RelayReaderOptions) {
    this.#options = options
  }

  wake(): void {
    this.#isWoken = true
    if (this.#isStopped) return
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isWoken && !this.#isStopped) this.wake()
    })
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.idle()
  }

  async #run(): Promise<void> {
    this.#isWoken = false
    try {
      while (!this.#isStopped && (await this.#takeNext()));
    } catch (error) {
      this.#cursor = undefined
      const { tenant, number, logger } = this.#options
      if (!this.#isStopped)
        logger?.warn(`partition ${number} of ${tenant} cannot accept messages yet: ${messageOf(error)}`)
    }
  }

  async #takeNext(): Promise<boolean> {
    const { store, number } = this.#options
    const current = (this.#cursor ??= await this.#stored())
    const window = await store.log(RELAY_LOG).read(number, current.position, WINDOW)
    for (const group of groupsOf(window)) {
      // committing the rest of a long window would delay a takeover of the partition
      if (this.#isStopped) return false
      await this.#take(group)
    }
    const { position } = this.#cursor
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
      await intake.receive(entries.map(postOf), [cursor])
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (group.length > 1) {
        for (const one of group) if (!this.#isStopped) await this.#take([one])
        return
      }
      logger?.error(`tasks of ${tenant} could not process relayed messages: ${messageOf(error)}`)
      await this.#options.store.commit([cursor])
    }
    this.#cursor = { position: last.position, version: (this.#cursor?.version ?? 0) + 1 }
  }

  async #moving(position: number): Promise<Write> {
    const { store, number } = this.#options
    const { version } = (this.#cursor ??= await this.#stored())
    return store.collection(RELAY_CURSORS).putting(String(number), { position }, version === 0 ? 'absent' : version)
  }

  async #stored(): Promise<Cursor> {
    const { store, number } = this.#options
    const stored = await store.collection(RELAY_CURSORS).get(String(number))
    return { position: stored?.value.position ?? 0, version: stored?.version ?? 0 }
  }
}

/** Groups neighbouring entries with the same receiver, to share a commit. */
function groupsOf(window: readonly LogEntry[]): readonly (readonly LogEntry[])[] {
  const groups: LogEntry[][] = []
  let receiver: string | undefined
  for (const entry of window) {
    const { to } = entry.body as unknown as RelayEntry
    if (to === receiver) groups.at(-1)?.push(entry)
    else groups.push([entry])
    receiver = to
  }
  return groups
}

function postOf({ data: { m, c, h, r, u, g } }: RelayEntry): IntakePost {
  const causation = { ...(h !== undefined && { hops: h }), ...(r !== undefined && { root: r }) }
  return {
    messages: m,
    ...(c !== undefined && { channel: c }),
    ...causation,
    ...(u && { unstamped: u }),
    ...(g && { identityIgnores: g }),
  }
}

/** Returns whether the message itself is invalid, so that a retry is pointless. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'VALIDATION' || error.code === 'TOO_LARGE')
}
