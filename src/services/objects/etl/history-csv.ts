/** Writes the series of a resource as CSV that `import` and `simulate` read back unchanged. */
import { AppError, csvText, withoutFormula } from '#kernel'
import { ColumnLook, lookAt, typedName, type ValueType } from '#formats/recording'
import { SampleReader } from '#services/shared'
import type { SampleColumns, SampleValue, Series } from '#storage'

export interface History {
  readonly resource: string
  readonly metrics: readonly string[]
  readonly from: number
  readonly until: number
  /** prefixes texts that begin like formulas, which are then not read back unchanged */
  readonly isSafe?: boolean
}

const HELD = 100_000
const MAX_OF_ONE = 10_000
const PIECE = 65_536

/** Reads the series twice, because the first row needs the types of all columns; `STORE` when values changed. */
export async function* historyCsv(series: Series, history: History, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { resource, metrics, from, until, isSafe = false } = history
  const page = Math.max(100, Math.min(MAX_OF_ONE, Math.floor(HELD / Math.max(1, metrics.length))))
  const pagesOf = (metric: string): AsyncIterable<SampleColumns> => {
    const reader = new SampleReader(series, { most: Number.POSITIVE_INFINITY, page, signal })
    return reader.columns({ resources: [resource], metric, from, until })
  }
  const columns: Column[] = []
  for (const metric of metrics) columns.push(new Column(pagesOf(metric), await formOf(metric, pagesOf(metric))))
  yield* csvOf(resource, columns, isSafe ? (text) => csvText(withoutFormula(text)) : csvText)
}

async function* csvOf(
  resource: string,
  columns: readonly Column[],
  cellOfText: (text: string) => string,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const id = cellOfText(resource)
  let text = `${['resource', 'timestamp', ...columns.map(({ name }) => name)].map(cellOfText).join(',')}\n`
  for (const column of columns) await column.next()
  for (;;) {
    const time = Math.min(...columns.map((column) => column.time))
    if (time === Number.POSITIVE_INFINITY) break
    text += `${id},${new Date(time).toISOString()}`
    for (const column of columns) {
      text += ','
      if (column.time !== time) continue
      const { value } = column
      text += (typeof value === 'string' ? cellOfText : csvText)(column.textOf(value))
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

interface ColumnForm {
  readonly metric: string
  readonly type: ValueType
  readonly isNamed: boolean
}

/** Picks the plainest form in which a column reads back with the same values. */
async function formOf(metric: string, pages: AsyncIterable<SampleColumns>): Promise<ColumnForm> {
  const look = new ColumnLook()
  const kinds = new Set<string>()
  let hasEmpty = false
  for await (const { values } of pages) {
    for (const value of values) {
      kinds.add(typeof value)
      hasEmpty ||= value === ''
      look.take(lookAt(plainText(value)), 0)
    }
  }
  const [kind = 'number'] = kinds
  const type =
    kinds.size > 1 || hasEmpty ? 'json' : kind === 'string' ? 'text' : kind === 'boolean' ? 'boolean' : 'number'
  const isMistaken = typedName(metric).type !== undefined || metric === 'metric'
  return { metric, type, isNamed: isMistaken || look.type !== type }
}

const NOTHING: SampleColumns = { times: new Float64Array(), values: [] }

class Column {
  readonly #form: ColumnForm
  readonly #pages: AsyncIterator<SampleColumns>
  #page = NOTHING
  #index = 0

  constructor(pages: AsyncIterable<SampleColumns>, form: ColumnForm) {
    this.#pages = pages[Symbol.asyncIterator]()
    this.#form = form
  }

  get name(): string {
    const { metric, type, isNamed } = this.#form
    return isNamed ? `${metric}:${type}` : metric
  }

  textOf(value: SampleValue): string {
    const { metric, type, isNamed } = this.#form
    if (type === 'json') return typeof value === 'string' ? JSON.stringify(value) : plainText(value)
    const text = plainText(value)
    const isOther =
      typeof value !== (type === 'text' ? 'string' : type) ||
      (!isNamed && type === 'number' && lookAt(text).kind !== type)
    if (isOther || text === '') {
      throw new AppError('STORE', `${metric} has changed; it is written again`)
    }
    return text
  }

  get time(): number {
    return this.#page.times[this.#index] ?? Number.POSITIVE_INFINITY
  }

  get value(): SampleValue {
    return this.#page.values[this.#index] ?? ''
  }

  /** Moves to the next sample. Returns true when `next` must be awaited first. */
  advance(): boolean {
    this.#index++
    return this.#index >= this.#page.times.length
  }

  async next(): Promise<void> {
    do {
      const page = await this.#pages.next()
      this.#page = page.done === true ? NOTHING : page.value
      this.#index = 0
      if (page.done === true) return
    } while (this.#page.times.length === 0)
  }
}

function plainText(value: SampleValue): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
