/**
 * Tells the engine of every event, in the order of the log, also after a crash: the cursor is committed with what the
 * engine takes, so that an event is neither lost nor taken twice.
 */
import { AppError, messageOf } from '../../kernel/errors.ts'
import type { Books } from './books.ts'
import type { AlarmForwarding } from './contract.ts'
import { readEvents, type ToldEvent } from './event-tail.ts'
import type { AlarmsLogger } from './logger.ts'
import { MOST_HOPS } from './words.ts'

/** Events that are on their way at once. */
const WINDOW = 200
const CURSOR = 'engine'

export class EventForwarder {
  readonly #books: Books
  readonly #engine: () => AlarmForwarding | undefined
  readonly #logger: AlarmsLogger | undefined
  #position: number | undefined
  #running: Promise<void> | undefined
  #isAsked = false
  #isStopped = false
  #hasFailed = false

  constructor(books: Books, engine: () => AlarmForwarding | undefined, logger: AlarmsLogger | undefined) {
    this.#books = books
    this.#engine = engine
    this.#logger = logger
  }

  /** There may be something new. */
  wake(): void {
    if (this.#isStopped) return
    this.#isAsked = true
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  /** Tries again what failed. */
  wakeIfBehind(): void {
    if (this.#hasFailed) this.wake()
  }

  /** What is not told yet is told after the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  /** Resolves when everything that was there is told. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** position up to which everything is told; undefined when nobody is to be told */
  get position(): number | undefined {
    return this.#engine() === undefined ? undefined : (this.#position ?? 0)
  }

  async #run(): Promise<void> {
    try {
      while (this.#isAsked && !this.#isStopped) {
        this.#isAsked = false
        this.#hasFailed = false
        await this.#tellAll()
      }
    } catch (error) {
      // the next event, or the next look at the clock, tries again from the same place
      this.#hasFailed = true
      if (!this.#isStopped) this.#logger?.error(`alarm events wait for the engine: ${messageOf(error)}`)
    }
  }

  async #tellAll(): Promise<void> {
    const engine = this.#engine()
    if (engine === undefined) return
    this.#position ??= (await this.#books.cursors.get(CURSOR))?.value.position ?? 0
    for (;;) {
      const window = await readEvents(this.#books, this.#position, WINDOW)
      const last = window.at(-1)
      if (last === undefined || this.#isStopped) return
      const told = await Promise.allSettled(window.map((event) => this.#tell(engine, event)))
      for (const [i, one] of told.entries()) {
        const event = window[i]
        if (one.status === 'rejected' && event) await this.#again(engine, event, one.reason)
      }
      this.#position = last.position
    }
  }

  #tell(engine: AlarmForwarding, { position, event }: ToldEvent): Promise<unknown> {
    const { tenant, eventtype, eventtime, alarm, changes, hops } = event
    const cursor = this.#books.cursors.putting(CURSOR, { position })
    if (hops > MOST_HOPS) return this.#books.commit([cursor])
    const message = { resource: alarm.source.id, eventtype, eventtime, alarm, ...(changes && { changes }) }
    return engine.receive(tenant, message, { writes: [cursor], hops })
  }

  /** The cursor goes back to it: after a crash, what came behind it comes again rather than it never. */
  async #again(engine: AlarmForwarding, told: ToldEvent, reason: unknown): Promise<void> {
    if (reason instanceof AppError && reason.code === 'VALIDATION') {
      this.#logger?.error(`the engine does not take alarm event ${told.position}: ${reason.message}`)
      return
    }
    await this.#tell(engine, told)
  }
}
