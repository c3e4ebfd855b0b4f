/** Streams the events of alarms from all writers, in log order. */
import { AppError, Feed } from '#kernel'
import type { AlarmCollections } from './collections.ts'
import type { AlarmEvent, AlarmStreamOptions, StreamedAlarmEvent } from './contract.ts'

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
    // what the engine needs is not for readers
    const { hops: _hops, root: _root, ...shown } = this.event
    return (this.#text ??= JSON.stringify(shown))
  }
}

const PORTION = 1000
const MAX_WAITING = 10_000

export class EventTail {
  readonly #collections: AlarmCollections
  readonly #feed = new Feed<LiveEvent>()
  readonly #failed: (error: unknown) => void
  #last = 0
  #catching: Promise<void> | undefined
  #isBehind = false
  #readers = 0

  constructor(collections: AlarmCollections, failed: (error: unknown) => void) {
    this.#collections = collections
    this.#failed = failed
  }

  async start(): Promise<void> {
    this.#last = (await this.#collections.events.bounds()).last
  }

  get last(): number {
    return this.#last
  }

  get readers(): number {
    return this.#readers
  }

  end(): void {
    this.#feed.end()
  }

  /** Call when a commit of this process is durable; `last` is the position of its last event. */
  committed(last: number, events: readonly AlarmEvent[]): void {
    if (last <= this.#last) return
    if (this.#catching === undefined && last - events.length === this.#last) {
      for (const [i, event] of events.entries()) this.#publish(last - events.length + 1 + i, event)
    } else this.look()
  }

  lookForReaders(): void {
    if (this.#feed.readers > 0) this.look()
  }

  look(): void {
    this.#isBehind = true
    this.#catching ??= this.#catchUp().catch(this.#failed)
  }

  async idle(): Promise<void> {
    await this.#catching
  }

  async *read({ after, signal }: AlarmStreamOptions): AsyncGenerator<LiveEvent> {
    const reader = this.#feed.read({ signal, most: MAX_WAITING, overflow: 'end' })
    this.#readers++
    try {
      let seen = after === undefined ? this.#last : positionOf(after)
      for (const end = this.#last; seen < end && !signal.aborted;) {
        const portion = await readEvents(this.#collections, seen)
        if (portion.length === 0) break
        for (const live of portion) {
          if (live.position > end) break
          yield live
        }
        seen = Math.min(portion.at(-1)?.position ?? end, end)
      }
      // an unknown id is beyond the end, so such a reader starts with new events
      for await (const { value } of reader) yield value
    } finally {
      this.#readers--
      await reader.return?.()
    }
  }

  #publish(position: number, event: AlarmEvent): void {
    this.#last = position
    this.#feed.publish('', new LiveEvent(position, event))
  }

  async #catchUp(): Promise<void> {
    try {
      while (this.#isBehind) {
        this.#isBehind = false
        for (
          let portion: readonly LiveEvent[];
          (portion = await readEvents(this.#collections, this.#last)).length > 0;
        ) {
          for (const { position, event } of portion) this.#publish(position, event)
        }
      }
    } finally {
      this.#catching = undefined
    }
  }
}

export async function readEvents(
  collections: AlarmCollections,
  after: number,
  most = PORTION,
): Promise<readonly LiveEvent[]> {
  const entries = await collections.events.read(after, most)
  // written by `KeyDraft`
  return entries.map(({ position, body }) => new LiveEvent(position, body as unknown as AlarmEvent))
}

function positionOf(id: string): number {
  if (/^\d{1,15}$/.test(id)) return Number(id)
  throw new AppError('VALIDATION', `"${id.slice(0, 40)}" is not an event id; send the last received id`)
}
