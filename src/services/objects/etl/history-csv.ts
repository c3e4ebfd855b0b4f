/** The series of a resource as CSV that `import` and `simulate` read: a row for each time, a column for each metric. */
import { SampleReader } from '../../../series/sample-reader.ts'
import type { Sample, SampleValue, Series } from '../../../storage/contract.ts'

export interface History {
  readonly resource: string
  /** columns, in their order */
  readonly metrics: readonly string[]
  /** epoch ms, both included */
  readonly from: number
  readonly until: number
}

/** samples of all metrics that are held at once */
const HELD = 100_000
const MAX_OF_ONE = 10_000
/** characters of one piece */
const PIECE = 65_536

export async function* historyCsv(
  series: Series,
  { resource, metrics, from, until }: History,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const page = Math.max(100, Math.min(MAX_OF_ONE, Math.floor(HELD / Math.max(1, metrics.length))))
  const columns = metrics.map((metric) => {
    const reader = new SampleReader(series, { most: Number.POSITIVE_INFINITY, page, signal })
    return new Column(reader.slices({ resources: [resource], metric, from, until }))
  })
  const id = cellOf(resource)
  let text = `${['resource', 'timestamp', ...metrics].map(cellOf).join(',')}\n`
  for (const column of columns) await column.next()
  for (;;) {
    let time = Number.POSITIVE_INFINITY
    for (const { current } of columns) if (current !== undefined && current.time < time) time = current.time
    if (time === Number.POSITIVE_INFINITY) break
    text += `${id},${new Date(time).toISOString()}`
    for (const column of columns) {
      const { current } = column
      text += ','
      if (current?.time !== time) continue
      text += cellOf(current.value)
      if (column.advance()) await column.next()
    }
    text += '\n'
    if (text.length >= PIECE) {
      yield encoder.encode(text)
      text = ''
    }
  }
  yield encoder.encode(text)
}

/** The samples of one metric, one at a time. */
class Column {
  readonly #pages: AsyncIterator<readonly Sample[]>
  #page: readonly Sample[] = []
  #place = 0

  constructor(pages: AsyncIterable<readonly Sample[]>) {
    this.#pages = pages[Symbol.asyncIterator]()
  }

  get current(): Sample | undefined {
    return this.#page[this.#place]
  }

  /** True when the next one has to be waited for. */
  advance(): boolean {
    this.#place++
    return this.#place >= this.#page.length
  }

  async next(): Promise<void> {
    do {
      const page = await this.#pages.next()
      this.#page = page.done === true ? [] : page.value
      this.#place = 0
      if (page.done === true) return
    } while (this.#page.length === 0)
  }
}

/** By RFC 4180. */
function cellOf(value: SampleValue): string {
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
