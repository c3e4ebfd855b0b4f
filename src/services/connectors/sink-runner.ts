/** Runs one sink: reads items from where it stopped, sends them, and stores how far the broker acknowledged them. */
import type { Collection } from '#storage'
import { ConnectionLoop, type Attempt } from './connection-loop.ts'
import { NO_PROGRESS, PROGRESS, type ProgressRecord } from './connector-records.ts'
import type { ConnectorStatus, SinkDocument } from './connector-schema.ts'
import type { SinkRecord } from './port.ts'
import type { Runner, RunnerOptions } from './runner.ts'
import { type Item, type ItemFeed, isSelected } from './sink-items.ts'

export class SinkRunner implements Runner {
  readonly #options: RunnerOptions<SinkDocument> & { readonly feed: () => ItemFeed }
  readonly #loop: ConnectionLoop
  readonly #records: Collection<ProgressRecord>
  #progress: ProgressRecord = NO_PROGRESS
  #lag: (() => number | undefined) | undefined

  constructor(options: RunnerOptions<SinkDocument> & { readonly feed: () => ItemFeed }) {
    this.#options = options
    this.#records = options.store.collection(PROGRESS)
    this.#loop = new ConnectionLoop({ ...options, attempt: (attempt) => this.#attempt(attempt) })
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  get status(): ConnectorStatus {
    const { position: _position, ...counts } = this.#progress
    const lag = this.#lag?.()
    return { ...this.#loop.status, ...(lag !== undefined && { lag }), ...counts }
  }

  /** The place in the feed up to which the broker has all items. */
  get place(): number {
    return placeOf(this.#progress)
  }

  async #attempt({ signal, connected, progressed }: Attempt): Promise<void> {
    const { id, opening, document } = this.#options
    this.#progress = (await this.#records.get(id))?.value ?? NO_PROGRESS
    const feed = this.#options.feed()
    this.#lag = () => feed.behind(this.place)
    const { connector, ...opened } = await opening(signal)
    const sink = await connector.openSink(opened)
    try {
      connected()
      while (!signal.aborted) {
        const portion = await feed.next(this.place, signal)
        if (portion === undefined) return
        if (portion.missed > 0) this.#loop.note(new Error(`${portion.missed} items were removed before they were sent`))
        const chosen = portion.items.filter((item) => isSelected(item, document.select))
        if (chosen.length > 0) await sink.send(chosen.map((item) => recordOf(item, document.topic)))
        const { read, accepted, rejected } = this.#progress
        const progress: ProgressRecord = {
          position: { [document.select.items]: portion.place },
          read: read + chosen.length,
          accepted: accepted + chosen.length,
          rejected: rejected + portion.missed,
        }
        await this.#records.put(id, progress)
        this.#progress = progress
        this.#options.counted('accepted', chosen.length)
        this.#options.counted('rejected', portion.missed)
        progressed()
      }
    } finally {
      await sink.close()
    }
  }
}

export function placeOf({ position }: ProgressRecord): number {
  const [place = 0] = Object.values(position)
  return Number(place)
}

function recordOf({ id, resource, type = '', rule = '', time, value }: Item, topic: string): SinkRecord {
  const places: Readonly<Record<string, string>> = { resource, type, rule }
  const named = topic.replaceAll(/\{(resource|type|rule)\}/g, (_, place: string) => places[place] ?? '')
  return { id, topic: named, resource, time, value }
}
