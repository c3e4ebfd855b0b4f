/** Produces rows of raw samples, by joining the series of all columns by time. */
import { SampleReader } from '#services/shared'
import type { SampleColumns } from '#storage'
import type { Cell } from '../interpolation/fill.ts'
import type { ExecutionOptions, RowBatch } from './row-batch.ts'

/** approximate number of samples in memory, across all columns */
const IN_MEMORY = 50_000
const LARGEST_PAGE = 10_000
const SMALLEST_PAGE = 200
/** maximum number of series whose next pages are read in parallel */
const MAX_READS = 4

/** Adds the number of samples in each column to `points`. */
export async function* rawRows(
  { series, line, columns, seenUntil, signal }: ExecutionOptions,
  points: number[],
): AsyncGenerator<RowBatch> {
  const until = Math.min(line.until - 1, seenUntil ?? Number.POSITIVE_INFINITY)
  const page = Math.min(Math.max(Math.floor(IN_MEMORY / columns.length), SMALLEST_PAGE), LARGEST_PAGE)
  const options = {
    most: Number.POSITIVE_INFINITY,
    page,
    ahead: columns.length <= MAX_READS,
    ...(signal && { signal }),
  }
  const cursors = columns.map(({ resources, metric }) => {
    const reader = new SampleReader(series, options)
    return new Cursor(reader.columns({ resources, metric, from: line.from, until }))
  })
  try {
    for (;;) {
      await nextPages(cursors, points)
      const open = cursors.filter((cursor) => !cursor.isDone)
      if (open.length === 0) return
      const [only] = open
      yield cursors.length === 1 && only !== undefined ? only.takeAll() : join(cursors)
    }
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()))
  }
}

async function nextPages(cursors: readonly Cursor[], points: number[]): Promise<void> {
  const lacking = [...cursors.entries()].filter(([, cursor]) => cursor.isDrained)
  const work = async (): Promise<void> => {
    for (let next = lacking.pop(); next !== undefined; next = lacking.pop()) {
      const [i, cursor] = next
      points[i] = (points[i] ?? 0) + (await cursor.load())
    }
  }
  await Promise.all(Array.from({ length: MAX_READS }, work))
}

const NOTHING: SampleColumns = { times: new Float64Array(), values: [] }

class Cursor {
  readonly #pages: AsyncGenerator<SampleColumns>
  #page = NOTHING
  #at = 0
  isDone = false

  constructor(pages: AsyncGenerator<SampleColumns>) {
    this.#pages = pages
  }

  get isDrained(): boolean {
    return !this.isDone && this.#at >= this.#page.times.length
  }

  get time(): number {
    return this.#page.times[this.#at] ?? Number.POSITIVE_INFINITY
  }

  get horizon(): number {
    return this.isDone ? Number.POSITIVE_INFINITY : (this.#page.times.at(-1) ?? Number.NEGATIVE_INFINITY)
  }

  async load(): Promise<number> {
    do {
      const next = await this.#pages.next()
      this.isDone = next.done === true
      this.#page = next.done === true ? NOTHING : next.value
      this.#at = 0
    } while (!this.isDone && this.#page.times.length === 0)
    return this.#page.times.length
  }

  take(time: number): Cell {
    if (this.#page.times[this.#at] !== time) return null
    this.#at += 1
    return this.#page.values[this.#at - 1] ?? null
  }

  takeAll(): RowBatch {
    const { times, values } = this.#page
    this.#page = NOTHING
    return { times, cells: [values] }
  }

  async close(): Promise<void> {
    await this.#pages.return(undefined)
  }
}

function join(cursors: readonly Cursor[]): RowBatch {
  const horizon = Math.min(...cursors.map((cursor) => cursor.horizon))
  const times: number[] = []
  const cells: Cell[][] = cursors.map(() => [])
  for (;;) {
    let time = Number.POSITIVE_INFINITY
    for (const cursor of cursors) time = Math.min(time, cursor.time)
    if (!(time <= horizon) || time === Number.POSITIVE_INFINITY) break
    times.push(time)
    for (const [i, cursor] of cursors.entries()) cells[i]?.push(cursor.take(time))
  }
  return { times: Float64Array.from(times), cells }
}
