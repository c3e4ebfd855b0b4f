/**
 * The events of a tenant as readers get them: those of the log, in its order, whoever wrote them. What this process
 * commits is told from memory; when positions show that something is missing between, it is read from the log.
 */
import { AppError, type Feed, type Json } from '#kernel'
import { PARTITION } from './alarm-record.ts'
import type { TenantCollections } from './collections.ts'
import type { AlarmEvent, AlarmStreamOptions, StreamedAlarmEvent } from './contract.ts'

/** An event with its place in the log. Its text is made once, when somebody wants it. */
export class LiveEvent implements StreamedAlarmEvent {
  readonly position: number
  readonly event: AlarmEvent
  #text: string | undefined

  constructor(position: number, event: AlarmEvent) {
    this.position = position
    this.event = event
  }

  get id(): string {
    return String(this.position)
  }

  get text(): string {
    const { eventtype, eventtime, alarm, changes } = this.event
    return (this.#text ??= JSON.stringify({ eventtype, eventtime, alarm, ...(changes && { changes }) }))
  }
}

/** Events read from the log at once. */
const PORTION = 1000
/** Events that may wait for one reader. */
const MAX_WAITING = 10_000

export class EventTail {
  readonly #collections: TenantCollections
  readonly #feed: Feed<LiveEvent>
  readonly #failed: (error: unknown) => void
  #last: number
  #catching: Promise<void> | undefined
  #isBehind = false

  constructor(collections: TenantCollections, feed: Feed<LiveEvent>, last: number, failed: (error: unknown) => void) {
    this.#collections = collections
    this.#feed = feed
    this.#last = last
    this.#failed = failed
  }

  /** Begins after what is in the log now. */
  static async open(
    collections: TenantCollections,
    feed: Feed<LiveEvent>,
    failed: (error: unknown) => void,
  ): Promise<EventTail> {
    const { last } = await collections.events.bounds(PARTITION)
    return new EventTail(collections, feed, last, failed)
  }

  /** A commit of this process is durable; `last` is the position of the last of its events. */
  committed(last: number, events: readonly AlarmEvent[]): void {
    if (last <= this.#last) return
    if (this.#catching === undefined && last - events.length === this.#last) {
      for (const [i, event] of events.entries()) this.#tell(last - events.length + 1 + i, event)
    } else this.look()
  }

  /** Looks into the log for what other processes wrote, when somebody reads. */
  look(): void {
    this.#isBehind = true
    this.#catching ??= this.#catchUp().catch(this.#failed)
  }

  async idle(): Promise<void> {
    await this.#catching
  }

  async *read({ after, signal }: AlarmStreamOptions): AsyncGenerator<LiveEvent> {
    const topic = this.#collections.tenant
    const reader = this.#feed.read({ topic, signal, most: MAX_WAITING, overflow: 'end' })
    let seen = after === undefined ? this.#last : positionOf(after)
    try {
      for (const end = this.#last; seen < end && !signal.aborted;) {
        const portion = await readEvents(this.#collections, seen)
        if (portion.length === 0) break
        for (const told of portion) {
          if (told.position > end) break
          yield told
        }
        seen = Math.min(portion.at(-1)?.position ?? end, end)
      }
      // an id of another life is beyond the end: such a reader begins now
      for await (const { value } of reader) yield value
    } finally {
      await reader.return?.()
    }
  }

  #tell(position: number, event: AlarmEvent): void {
    this.#last = position
    this.#feed.publish(this.#collections.tenant, new LiveEvent(position, event))
  }

  async #catchUp(): Promise<void> {
    try {
      while (this.#isBehind) {
        this.#isBehind = false
        for (
          let portion: readonly LiveEvent[];
          (portion = await readEvents(this.#collections, this.#last)).length > 0;
        ) {
          for (const { position, event } of portion) this.#tell(position, event)
        }
      }
    } finally {
      this.#catching = undefined
    }
  }
}

/** Events after a position, oldest first, a portion of them. */
export async function readEvents(
  collections: TenantCollections,
  after: number,
  most = PORTION,
): Promise<readonly LiveEvent[]> {
  const entries = await collections.events.read(PARTITION, after, most)
  return entries.map(({ position, body }) => new LiveEvent(position, eventIn(collections.tenant, body)))
}

/** What `KeyDraft` wrote. */
function eventIn(tenant: string, body: Json): AlarmEvent {
  return { tenant, ...(body as unknown as Omit<AlarmEvent, 'tenant'>) }
}

function positionOf(id: string): number {
  if (/^\d{1,15}$/.test(id)) return Number(id)
  throw new AppError('VALIDATION', `"${id.slice(0, 40)}" is no id of an event; send back the last id that came`)
}
