/**
 * Imports files into series, and exports series to files, as durable jobs.
 *
 * IMPORT-1 each line of a file is in series, or in the report with its problem, also after a crash
 * IMPORT-2 samples are not duplicated, and the counts of a report come from a single read of the file
 * IMPORT-3 memory use is independent of the size of the file
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `CLOSED`.
 */
import type { AddedJobs, JobQueue } from '#jobs'
import { AppError, type Caller, type Issue, makeIssue, refuse } from '#kernel'
import type { Collection, CollectionSpec, Condition, Store, Write } from '#storage'
import type { InternalQueries } from '#services/queries/contract'
import { DEFAULT_KEYS, MAX_KEYS, type ObjectChange } from '../contract.ts'
import type { SubscriptionRecord } from '../subscriptions/subscription-record.ts'
import { EXPORT_JOB, EXPORTS, type ExportRecord, type ExportSource } from './export-jobs.ts'
import { IMPORT_BUCKET, IMPORT_JOB, importInfo, IMPORTS, REPORT_SUFFIX, type ImportRecord } from './import-jobs.ts'
import { sweepTransfers, type Transfer, transferInfo } from './transfer.ts'
import { type ExportInfo, ExportRequest, type ImportInfo, type TransferQuery } from './transfer-schema.ts'

export interface TransfersOptions {
  readonly store: Store
  readonly queue: () => JobQueue
  readonly queries: () => InternalQueries | undefined
  readonly now: () => number
  readonly newId: () => string
}

const UPLOADS = 'upload/'

/** Built-in subscription of every tenant that starts an import for each stored file. */
export const IMPORT_SUBSCRIPTION: SubscriptionRecord = {
  id: 'import',
  title: 'Import of series',
  description: `imports CSV and NDJSON files under ${UPLOADS} into series`,
  bucket: IMPORT_BUCKET,
  since: 0,
  channel: {
    type: 'system',
    name: 'import',
    method: 'POST',
    expiry: { seconds: 300 },
    payload: { signed_links: [] },
    authentication: { method: 'NONE' },
  },
  filters: [{ prefix: UPLOADS, events: ['put'], queue: `objects:${IMPORT_BUCKET}:import:0` }],
}

export class Transfers {
  readonly #options: TransfersOptions

  constructor(options: TransfersOptions) {
    this.#options = options
  }

  /** Queues an import, at most once per content. */
  async take({ object }: ObjectChange): Promise<void> {
    if (object.path.endsWith(REPORT_SUFFIX)) return
    const { store, now, queue } = this.#options
    const records = store.collection(IMPORTS)
    if ((await records.get(object.content)) !== undefined) return
    const record: ImportRecord = {
      state: 'waiting',
      object: object.path,
      source: object,
      created: now(),
      line: 0,
      messages: 0,
      points: 0,
      refusedCount: 0,
      refused: [],
    }
    const added = await queue().adding({ type: IMPORT_JOB, data: { id: object.content } })
    await this.#add(added, [records.putting(object.content, record, 'absent')])
    await sweepTransfers(records, now())
  }

  as({ user }: Caller) {
    const { store, queries, now, newId, queue } = this.#options
    const imports = store.collection(IMPORTS)
    const exports = store.collection(EXPORTS)
    return {
      imports: async (query?: TransferQuery) =>
        (await newest(imports, query)).map(({ id, value }) => importInfo(id, value)),
      import: async (id: string): Promise<ImportInfo> => {
        const record = await found(imports, id, 'import')
        return { ...importInfo(id, record), lines: record.refused, ...record.columns }
      },
      exports: async (query?: TransferQuery) =>
        (await newest(exports, query)).map(({ id, value }) => exportInfo(id, value)),
      export: async (id: string) => exportInfo(id, await found(exports, id, 'export')),
      startExport: async (body: unknown) => {
        const sent = ExportRequest.read(body)
        const { query } = sent
        const wrong = query === undefined ? [] : (queries()?.check(query) ?? [])
        const issues = [...wrongTimes(sent), ...wrong.map(inQuery)]
        if (issues.length > 0) throw refuse('the export', issues)
        const request = sourceOf(sent)
        const [id, created] = [newId(), now()]
        const record: ExportRecord = {
          state: 'waiting',
          object: sent.object ?? `${nameOf(request)}-${new Date(created).toISOString().replace(/[:.]/g, '-')}.csv`,
          created,
          request,
          user,
        }
        const added = await queue().adding({ type: EXPORT_JOB, data: { id }, user })
        await this.#add(added, [exports.putting(id, record, 'absent')])
        await sweepTransfers(exports, created)
        return exportInfo(id, record)
      },
    }
  }

  async #add(added: AddedJobs, writes: readonly Write[]): Promise<void> {
    const { store, queue } = this.#options
    await store.commit([...writes, ...added.writes])
    queue().added(added)
  }
}

type Records<T extends Transfer> = Pick<Collection<T>, 'find' | 'get'> & { readonly spec: CollectionSpec<T> }

function newest<T extends Transfer>(
  records: Records<T>,
  { object, state, max_keys: maxKeys = DEFAULT_KEYS }: TransferQuery = {},
) {
  const where: Condition[] = [
    ...(object === undefined ? [] : [{ field: 'object', op: 'eq', value: object } as const]),
    ...(state === undefined ? [] : [{ field: 'state', op: 'eq', value: state } as const]),
  ]
  return records.find({ where, sort: [{ field: 'created', descending: true }], limit: Math.min(maxKeys, MAX_KEYS) })
}

async function found<T extends Transfer>(records: Records<T>, id: string, what: string): Promise<T> {
  const stored = await records.get(id)
  if (stored === undefined) throw new AppError('NOT_FOUND', `The ${what} ${id.slice(0, 100)} does not exist`)
  return stored.value
}

function exportInfo(id: string, record: ExportRecord): ExportInfo {
  const { request, size } = record
  return { ...transferInfo(id, record), request, ...(size !== undefined && { size }) }
}

function wrongTimes({ from, until }: ExportRequest): readonly Issue[] {
  if (from === undefined || until === undefined || until >= from) return []
  return [makeIssue('BODY', '/until', 'is before from', 'exchange them')]
}

function inQuery({ path, message, suggestion }: Issue): Issue {
  return makeIssue('BODY', `/query${path}`, message, suggestion)
}

function sourceOf({ query, stored, resource = '', metrics, from, until, csv }: ExportRequest): ExportSource {
  const safe = csv === 'safe' && { csv }
  if (query !== undefined) return { kind: 'query', query, ...safe }
  if (stored !== undefined) return { kind: 'stored', name: stored, ...safe }
  return {
    kind: 'history',
    resource,
    ...(metrics && { metrics: [...new Set(metrics)] }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
    ...safe,
  }
}

function nameOf(request: ExportSource): string {
  const name = request.kind === 'history' ? request.resource : request.kind === 'stored' ? request.name : 'query'
  return name.replace(/[^\w-]+/g, '-').slice(0, 100) || 'export'
}
