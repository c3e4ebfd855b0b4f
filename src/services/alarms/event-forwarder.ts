/** Forwards each event to the engine exactly once, in log order; the cursor is committed with the inputs. */
import { AppError, type Logger, MAX_HOPS, messageOf, RepeatableWork } from '#kernel'
import { machineTimers } from '#platform'
import type { AlarmCollections } from './collections.ts'
import type { AlarmForwarding } from './contract.ts'
import { readEvents, type LiveEvent } from './event-tail.ts'

const WINDOW = 200
const CURSOR = 'engine'
const RETRY_MS = 1_000

/** The last forwarded event, and the storage version of its cursor (0: not stored yet). */
interface Cursor {
  readonly position: number
  readonly version: number
}

export class EventForwarder extends RepeatableWork {
  readonly #collections: AlarmCollections
  readonly #engine: () => AlarmForwarding | undefined
  readonly #logger: Logger | undefined
  #cursor: Cursor | undefined

  constructor(collections: AlarmCollections, engine: () => AlarmForwarding | undefined, logger: Logger | undefined) {
    super({
      work: () => this.#forwardAll(),
      later: machineTimers.later,
      retryMs: RETRY_MS,
      failed: (error) => {
        if (!this.isStopped) logger?.error(`alarm events could not be passed to the engine: ${messageOf(error)}`)
      },
    })
    this.#collections = collections
    this.#engine = engine
    this.#logger = logger
  }

  get position(): number | undefined {
    return this.#engine() === undefined ? undefined : (this.#cursor?.position ?? 0)
  }

  async #forwardAll(): Promise<void> {
    const engine = this.#engine()
    if (engine === undefined) return
    for (let refusals = 0; ;) {
      const { position, version }: Cursor = (this.#cursor ??= await this.#stored())
      const window = await readEvents(this.#collections, position, refusals === 0 ? WINDOW : 1)
      const last = window.at(-1)
      if (last === undefined || this.isStopped) return
      // skip events beyond the hop limit
      const events = window.filter(({ event }) => event.hops <= MAX_HOPS)
      const results = await Promise.allSettled(events.map((event, i) => this.#forward(engine, event, version + i)))
      const at = results.findIndex(({ status }) => status === 'rejected')
      const [first, event] = [results[at], events[at]]
      if (first?.status !== 'rejected' || event === undefined) {
        this.#cursor = { position: last.position, version: version + events.length }
        refusals = 0
        continue
      }
      const isOn = await this.#refused(event, first.reason, position)
      refusals = isOn ? 1 : refusals + 1
      if (refusals > 1) throw first.reason
    }
  }

  async #refused({ position }: LiveEvent, reason: unknown, before: number): Promise<boolean> {
    const stored = await this.#stored()
    if (stored.position < position && reason instanceof AppError && reason.code === 'VALIDATION') {
      this.#logger?.error(`the engine rejected alarm event ${position}: ${reason.message}`)
      this.#cursor = { position, version: stored.version }
    } else this.#cursor = { position: Math.max(before, stored.position), version: stored.version }
    return this.#cursor.position > before
  }

  async #stored(): Promise<Cursor> {
    const stored = await this.#collections.cursors.get(CURSOR)
    return { position: stored?.value.position ?? 0, version: stored?.version ?? 0 }
  }

  /** The cursor advances by one event at a time, so rejecting an event also rejects the following ones. */
  #forward(engine: AlarmForwarding, { position, event }: LiveEvent, version: number): Promise<unknown> {
    const { hops, root, ...shown } = event
    const cursor = this.#collections.cursors.putting(CURSOR, { position }, version === 0 ? 'absent' : version)
    const message = { resource: event.alarm.source.id, ...shown }
    return engine.receive(message, { writes: [cursor], hops, ...(root !== undefined && { root }) })
  }
}
