/** Exports write the result of a query, or the history of a resource, as a CSV file into the bucket `etl-export`. */
import { ColumnLook, lookAt, typedName, type ValueType } from '#formats/recording'
import type { JobContext, JobHandler } from '#jobs'
import { AppError, csvText, type Json, withoutFormula } from '#kernel'
import type { InternalBroker } from '#services/broker/contract'
import type { InternalQueries } from '#services/queries/contract'
import { MAX_TIME, SampleReader } from '#services/shared'
import type { SampleColumns, SampleValue, Series, Stored } from '#storage'
import type { Objects } from '../service.ts'
import { MAX_METRICS } from './transfer-schema.ts'
import { attempted, ATTEMPTS, type Transfer, transferRecords } from './transfer.ts'

/** What to export. Times are epoch ms. */
export type ExportSource = (
  | { readonly kind: 'query'; readonly query: Json }
  | { readonly kind: 'stored'; readonly name: string }
  | {
      readonly kind: 'history'
      readonly resource: string
      /** metrics to export; default: all */
      readonly metrics?: readonly string[]
      readonly from?: number
      readonly until?: number
    }
) & {
  /** prefixes texts that begin like formulas with an apostrophe; such files cannot be imported unchanged */
  readonly csv?: 'safe'
}

export interface ExportRecord extends Transfer {
  readonly request: ExportSource
  readonly user: string
  readonly size?: number
}

export const EXPORTS = transferRecords<ExportRecord>('object_exports')

export const EXPORT_JOB = 'objects.export'
export const EXPORT_BUCKET = 'etl-export'
const CSV = 'text/csv; charset=utf-8'
/** maximum number of concurrent exports on a host */
const CONCURRENCY = 2

export interface ExportJobsOptions {
  readonly objects: () => Objects
  readonly queries: () => InternalQueries | undefined
  readonly broker: () => InternalBroker | undefined
  readonly now: () => number
}

export function exportHandler(options: ExportJobsOptions): JobHandler {
  return {
    type: EXPORT_JOB,
    attempts: ATTEMPTS,
    concurrency: CONCURRENCY,
    run: async (context) => {
      const records = context.store.collection(EXPORTS)
      const { id } = context.job.data as { readonly id: string }
      let stored = await records.get(id)
      if (stored === undefined || stored.value.ended !== undefined) return { kind: 'completed' }
      const note = async (change: Partial<ExportRecord>, done: number): Promise<void> => {
        if (stored === undefined) return
        const value = { ...stored.value, ...change }
        await context.progress({ done, total: 1 }, [records.putting(id, value, stored.version)])
        stored = { id, value, version: stored.version + 1 }
      }
      const write = async (): Promise<{ readonly kind: 'completed' }> => {
        await note({ state: 'running', started: options.now() }, 0)
        const size = await writeFile(options, context, stored as Stored<ExportRecord>)
        await note({ state: 'completed', ended: options.now(), size }, 1)
        return { kind: 'completed' }
      }
      return attempted(context, write, {
        isFinal,
        fail: (error) => note({ state: 'failed', ended: options.now(), error }, 1),
      })
    },
  }
}

/** True for an error after which retrying cannot help, such as a rejected query. */
function isFinal(error: unknown): boolean {
  return error instanceof AppError && error.status < 500 && error.code !== 'RATE_LIMITED'
}

async function writeFile(
  options: ExportJobsOptions,
  context: JobContext,
  { value: { request, object, user } }: Stored<ExportRecord>,
): Promise<number> {
  const { tenant, signal } = context
  const content =
    request.kind === 'history'
      ? await historyOf(options, context, request)
      : encoded(await answerOf(options, tenant, user, request, signal))
  const put = { contentType: CSV }
  const { size } = await options.objects().inside.put(EXPORT_BUCKET, object, content, put)
  return size
}

async function historyOf(
  { broker }: ExportJobsOptions,
  { store, signal }: JobContext,
  { resource, metrics, from = -MAX_TIME, until = MAX_TIME, csv }: Extract<ExportSource, { kind: 'history' }>,
): Promise<AsyncIterable<Uint8Array>> {
  // waits until earlier posts are readable
  await broker()?.readable()
  const known = metrics ?? (await store.series.latest(resource)).map(({ metric }) => metric)
  if (known.length === 0) throw new AppError('NOT_FOUND', `the resource ${resource} has no series`)
  if (known.length > MAX_METRICS) {
    throw new AppError('TOO_LARGE', `${resource} has ${known.length} metrics; name at most ${MAX_METRICS} of them`)
  }
  return historyCsv(store.series, { resource, metrics: known, from, until, isSafe: csv === 'safe' }, signal)
}

async function answerOf(
  { queries }: ExportJobsOptions,
  tenant: string,
  user: string,
  request: Exclude<ExportSource, { kind: 'history' }>,
  signal: AbortSignal,
): Promise<AsyncIterable<string | Uint8Array>> {
  const service = queries()
  if (service === undefined) throw new AppError('CLOSED', 'this host does not serve queries')
  const source = request.kind === 'query' ? { query: request.query } : { stored: request.name }
  const { csv } = request
  const options = { format: 'csv', signal, action: 'POST /export', ...(csv && { csv }) } as const
  const opened = await service.as({ tenant, user }).open(source, options)
  return opened.parts
}

async function* encoded(parts: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const part of parts) yield typeof part === 'string' ? encoder.encode(part) : part
}

/** Writes the series of a resource as CSV that `import` and `simulate` read back unchanged. */
interface History {
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
async function* historyCsv(series: Series, history: History, signal: AbortSignal): AsyncGenerator<Uint8Array> {
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
