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
    return Array.from(this.#order.subarray(start, end)).filter((index) => this.#isRemoved[index] === 0)
  }

  /** Sorts messages by time, then by arrival, and drops repeated ones. */
  distinct(indexes: readonly number[]): readonly number[] {
    const times = this.#times
    const isPlain = indexes.every((index, i) => i === 0 || (times[indexes[i - 1] ?? 0] ?? 0) < (times[index] ?? 0))
    if (isPlain) return indexes
    const messages = indexes.map((index) => ({
      place: index,
      time: this.timeOf(index),
      body: () => this.bodyOf(index),
    }))
    return distinctByTime(messages).map(({ place: index }) => index)
  }

  timeOf(index: number): number {
    return this.#times[index] ?? 0
  }

  bodyOf(index: number): string {
    const { columns, at } = this.at(index)
    return bodyAt(columns, at)
  }

  at(index: number): { readonly columns: MessageColumns; readonly at: number } {
    const block = this.#blockOf[index] ?? 0
    return { columns: this.#blocks[block] ?? NO_MESSAGES, at: index - (this.#starts[block] ?? 0) }
  }

  remove(indexes: readonly number[]): void {
    for (const index of indexes) this.#isRemoved[index] = 1
  }

  changed(): readonly number[] {
    const found = new Set<number>()
    for (let index = this.#isRemoved.indexOf(1); index >= 0; index = this.#isRemoved.indexOf(1, index + 1)) {
      found.add(this.#blockOf[index] ?? 0)
    }
    return [...found]
  }

  staying(): Uint32Array {
    return this.#order.filter((index) => this.#isRemoved[index] === 0)
  }

  stayingOf(block: number): readonly number[] {
    const start = this.#starts[block] ?? 0
    const indexes = Array.from({ length: this.#blocks[block]?.times.length ?? 0 }, (_, i) => start + i)
    return indexes.filter((index) => this.#isRemoved[index] === 0)
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
    for (let index = 0; index < streams.length; index += 1) {
      const range = this.#ofStream.get(streams[index] ?? 0)
      if (range === undefined) continue
      this.#order[range.end] = index
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
