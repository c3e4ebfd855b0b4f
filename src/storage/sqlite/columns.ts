/** Stores samples of one series, ordered by time, as columns for chunks, reads and compaction. */
import type { SampleValue } from '../series.ts'
import { NUMBER, TEXT, TRUTH } from './sample-block.ts'

export interface Columns {
  /** ascending and distinct */
  readonly times: Float64Array<ArrayBuffer>
  /** a number; 0 or 1 for a truth value; or the index of a text in `words` */
  readonly values: Float64Array<ArrayBuffer>
  /** `NUMBER`, `TRUTH` or `TEXT` per value; undefined when all are numbers */
  readonly kinds: Uint8Array<ArrayBuffer> | undefined
  readonly words: readonly string[]
  /** NaN for a sample that does not expire; undefined when none expires */
  readonly expires: Float64Array<ArrayBuffer> | undefined
}

export function valueAt({ values, kinds, words }: Columns, i: number): SampleValue {
  const value = values[i] ?? 0
  const kind = kinds?.[i] ?? NUMBER
  if (kind === NUMBER) return value
  return kind === TRUTH ? value === 1 : (words[value] ?? '')
}

export function expiryAt({ expires }: Columns, i: number): number | undefined {
  const expiry = expires?.[i] ?? Number.NaN
  return Number.isNaN(expiry) ? undefined : expiry
}

/** Returns the index of the first time that is not before the given one. */
export function indexFrom(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? Number.POSITIVE_INFINITY) < time) low = middle + 1
    else high = middle
  }
  return low
}

export function slice(columns: Columns, start: number, end: number): Columns {
  const { times, values, kinds, words, expires } = columns
  if (start === 0 && end >= times.length) return columns
  return {
    times: times.subarray(start, end),
    values: values.subarray(start, end),
    kinds: kinds?.subarray(start, end),
    words,
    expires: expires?.subarray(start, end),
  }
}

export function between(columns: Columns, from: number, until: number): Columns {
  const { times } = columns
  return slice(columns, indexFrom(times, from), indexFrom(times, until + 1))
}

/** Merges two sets of samples by time; at equal times the newer set wins. */
export function merged(older: Columns, newer: Columns): Columns {
  if (newer.times.length === 0) return older
  if (older.times.length === 0) return newer
  const [a, b] = [older.times, newer.times]
  if ((a.at(-1) ?? 0) < (b[0] ?? 0)) return joinedColumns([older, newer])
  const builder = new ColumnsBuilder(a.length + b.length)
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const [one, other] = [a[i] ?? 0, b[j] ?? 0]
    if (one < other) builder.take(older, i++)
    else {
      if (one === other) i += 1
      builder.take(newer, j++)
    }
  }
  for (; i < a.length; i += 1) builder.take(older, i)
  for (; j < b.length; j += 1) builder.take(newer, j)
  return builder.columns()
}

export function joinedColumns(parts: readonly Columns[]): Columns {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const builder = new ColumnsBuilder(parts.reduce((sum, { times }) => sum + times.length, 0))
  for (const part of parts) builder.takeAll(part)
  return builder.columns()
}

/** Returns the same object when all match. */
export function filtered(columns: Columns, keeps: (index: number) => boolean): Columns {
  const { length } = columns.times
  let first = 0
  while (first < length && keeps(first)) first += 1
  if (first === length) return columns
  const builder = new ColumnsBuilder(length)
  for (let i = 0; i < length; i += 1) if (i < first || (i > first && keeps(i))) builder.take(columns, i)
  return builder.columns()
}

export function withOwnWords(columns: Columns): Columns {
  const builder = new ColumnsBuilder(columns.times.length)
  for (let i = 0; i < columns.times.length; i += 1) builder.take(columns, i)
  return builder.columns()
}

/** Returns the number of characters of the texts. */
export function charactersOf({ words }: Columns): number {
  return words.reduce((sum, { length }) => sum + length, 0)
}

export function living(columns: Columns, now: number): Columns {
  const { expires } = columns
  // comparisons with NaN are false, so such samples stay
  return expires === undefined ? columns : filtered(columns, (i) => !((expires[i] ?? Number.NaN) <= now))
}

export class ColumnsBuilder {
  #times: Float64Array<ArrayBuffer>
  #values: Float64Array<ArrayBuffer>
  #kinds: Uint8Array<ArrayBuffer> | undefined
  #expires: Float64Array<ArrayBuffer> | undefined
  readonly #words = new Map<string, number>()
  #count = 0

  /** `most`: expected number of samples; the builder grows beyond that */
  constructor(most = 16) {
    this.#times = new Float64Array(most)
    this.#values = new Float64Array(most)
  }

  get count(): number {
    return this.#count
  }

  take(from: Columns, index: number): void {
    this.put(
      from.times[index] ?? 0,
      from.kinds?.[index] ?? NUMBER,
      from.values[index] ?? 0,
      from.words,
      from.expires?.[index],
    )
  }

  takeAll(from: Columns): void {
    const { length } = from.times
    if (from.kinds !== undefined || from.expires !== undefined || this.#expires !== undefined) {
      for (let i = 0; i < length; i += 1) this.take(from, i)
      return
    }
    if (this.#count + length > this.#times.length) this.#grow(this.#count + length)
    this.#times.set(from.times, this.#count)
    this.#values.set(from.values, this.#count)
    this.#count += length
  }

  /** Adds a sample as stored in columns; a text is looked up in `words`. */
  put(time: number, kind: number, value: number, words: readonly string[], expires = Number.NaN): void {
    const i = this.#add(time, expires)
    // turns -0 into 0
    if (kind === NUMBER) this.#values[i] = value + 0
    else this.#other(i, kind, kind === TEXT ? this.#word(words[value] ?? '') : value)
  }

  /** Returns the columns; may be called only once. */
  columns(): Columns {
    const count = this.#count
    return {
      times: this.#times.subarray(0, count),
      values: this.#values.subarray(0, count),
      kinds: this.#kinds?.subarray(0, count),
      words: [...this.#words.keys()],
      expires: this.#expires?.subarray(0, count),
    }
  }

  #add(time: number, expires: number): number {
    const i = this.#count
    if (i === this.#times.length) this.#grow(i + 1)
    this.#count += 1
    this.#times[i] = time
    if (!Number.isNaN(expires)) this.#expires ??= new Float64Array(this.#times.length).fill(Number.NaN)
    if (this.#expires !== undefined) this.#expires[i] = expires
    return i
  }

  #grow(least: number): void {
    const size = Math.max(16, least, this.#count * 2)
    const grown = (column: Float64Array): Float64Array<ArrayBuffer> => {
      const larger = new Float64Array(size)
      larger.set(column)
      return larger
    }
    this.#times = grown(this.#times)
    this.#values = grown(this.#values)
    if (this.#expires !== undefined) this.#expires = grown(this.#expires)
    if (this.#kinds === undefined) return
    const kinds = new Uint8Array(size)
    kinds.set(this.#kinds)
    this.#kinds = kinds
  }

  #other(i: number, kind: number, value: number): void {
    this.#kinds ??= new Uint8Array(this.#times.length)
    this.#kinds[i] = kind
    this.#values[i] = value
  }

  #word(word: string): number {
    const known = this.#words.get(word)
    if (known !== undefined) return known
    const index = this.#words.size
    this.#words.set(word, index)
    return index
  }
}

/** Sorts samples by time; of samples with the same time, keeps the last. */
export function inOrder(columns: Columns): Columns {
  const { times } = columns
  let isOrdered = true
  for (let i = 1; i < times.length && isOrdered; i += 1) isOrdered = (times[i - 1] ?? 0) < (times[i] ?? 0)
  if (isOrdered) return columns
  const order = Uint32Array.from(times, (_, i) => i)
  order.sort((one, other) => (times[one] ?? 0) - (times[other] ?? 0) || one - other)
  const builder = new ColumnsBuilder(times.length)
  for (const [at, index] of order.entries()) {
    const next = order[at + 1]
    if (next === undefined || times[next] !== times[index]) builder.take(columns, index)
  }
  return builder.columns()
}

export const NO_SAMPLES: Columns = {
  times: new Float64Array(),
  values: new Float64Array(),
  kinds: undefined,
  words: [],
  expires: undefined,
}
