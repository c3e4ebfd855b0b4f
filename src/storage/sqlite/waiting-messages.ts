/** Treats the messages of several blocks as one list, and tracks which messages are removed. */
import { bodyAt, distinctByTime, type MessageColumns } from './message-block.ts'

export class WaitingMessages {
  readonly #blocks: readonly MessageColumns[]
  /** index of the first message in each block, and the block of each message */
  readonly #starts: Uint32Array
  readonly #blockOf: Uint32Array
  readonly #times: Float64Array
  readonly #isRemoved: Uint8Array
  /** indexes ordered by stream and then by arrival, and the range of each stream */
  readonly #order: Uint32Array
  readonly #ofStream = new Map<number, { readonly start: number; end: number }>()

  /** `blocks`: in order of arrival. */
  constructor(blocks: readonly MessageColumns[]) {
    const count = blocks.reduce((sum, { times }) => sum + times.length, 0)
    this.#blocks = blocks
    this.#starts = new Uint32Array(blocks.length)
    this.#blockOf = new Uint32Array(count)
    this.#times = new Float64Array(count)
    this.#isRemoved = new Uint8Array(count)
    this.#order = new Uint32Array(count)
    const streams = new Float64Array(count)
    let start = 0
    for (const [block, columns] of blocks.entries()) {
      this.#starts[block] = start
      this.#times.set(columns.times, start)
      streams.set(columns.streams, start)
      this.#blockOf.fill(block, start, start + columns.times.length)
      start += columns.times.length
    }
    this.#sort(streams)
  }

  of(stream: number): readonly number[] {
    const { start, end } = this.#ofStream.get(stream) ?? { start: 0, end: 0 }
    return Array.from(this.#order.subarray(start, end)).filter((place) => this.#isRemoved[place] === 0)
  }

  /** Sorts messages by time, then by arrival, and drops repeated ones. */
  distinct(places: readonly number[]): readonly number[] {
    const times = this.#times
    const isPlain = places.every((place, i) => i === 0 || (times[places[i - 1] ?? 0] ?? 0) < (times[place] ?? 0))
    if (isPlain) return places
    const messages = places.map((place) => ({ place, time: this.timeOf(place), body: () => this.bodyOf(place) }))
    return distinctByTime(messages).map(({ place }) => place)
  }

  timeOf(place: number): number {
    return this.#times[place] ?? 0
  }

  bodyOf(place: number): string {
    const { columns, at } = this.at(place)
    return bodyAt(columns, at)
  }

  at(place: number): { readonly columns: MessageColumns; readonly at: number } {
    const block = this.#blockOf[place] ?? 0
    return { columns: this.#blocks[block] ?? NO_MESSAGES, at: place - (this.#starts[block] ?? 0) }
  }

  remove(places: readonly number[]): void {
    for (const place of places) this.#isRemoved[place] = 1
  }

  changed(): readonly number[] {
    const found = new Set<number>()
    for (let place = this.#isRemoved.indexOf(1); place >= 0; place = this.#isRemoved.indexOf(1, place + 1)) {
      found.add(this.#blockOf[place] ?? 0)
    }
    return [...found]
  }

  staying(): Uint32Array {
    return this.#order.filter((place) => this.#isRemoved[place] === 0)
  }

  stayingOf(block: number): readonly number[] {
    const start = this.#starts[block] ?? 0
    const places = Array.from({ length: this.#blocks[block]?.times.length ?? 0 }, (_, i) => start + i)
    return places.filter((place) => this.#isRemoved[place] === 0)
  }

  #sort(streams: Float64Array): void {
    const counts = new Map<number, number>()
    for (let i = 0; i < streams.length; i += 1) {
      const stream = streams[i] ?? 0
      counts.set(stream, (counts.get(stream) ?? 0) + 1)
    }
    let start = 0
    for (const [stream, count] of [...counts].sort(([one], [other]) => one - other)) {
      this.#ofStream.set(stream, { start, end: start })
      start += count
    }
    for (let place = 0; place < streams.length; place += 1) {
      const range = this.#ofStream.get(streams[place] ?? 0)
      if (range === undefined) continue
      this.#order[range.end] = place
      range.end += 1
    }
  }
}

const NO_MESSAGES: MessageColumns = {
  streams: new Float64Array(),
  times: new Float64Array(),
  expires: undefined,
  ends: new Uint32Array(),
  bodies: '',
}
