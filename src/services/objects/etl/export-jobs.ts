/** Exports write the result of a query, or the history of a resource, as a CSV file into the bucket `etl-export`. */
import { AppError, type Json } from '#kernel'
import type { JobContext, JobHandler } from '#jobs'
import type { Stored } from '#storage'
import type { InternalBroker } from '#services/broker/contract'
import { MAX_TIME } from '#services/shared'
import type { InternalQueries } from '#services/queries/contract'
import type { Objects } from '../service.ts'
import { historyCsv } from './history-csv.ts'
import { ATTEMPTS, attempted, type Transfer, transferRecords } from './transfer.ts'
import { MAX_METRICS } from './transfer-schema.ts'

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
/** most concurrent exports on a host */
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
