/** Imports files in the order in which they were stored; a restart continues after the last recorded batch. */
import { AppError } from '#kernel'
import type { JobContext, JobHandler, JobOutcome } from '#jobs'
import type { LineProblem } from '#formats/recording'
import type { Collection, Stored } from '#storage'
import type { InternalBroker } from '#services/broker/contract'
import type { ObjectRecord, ObjectsApi } from '../contract.ts'
import type { Objects } from '../service.ts'
import {
  type FoundColumns,
  type ImportBatch,
  importBatches,
  readingIn,
  readingOf,
  surveyFile,
} from './import-batches.ts'
import type { ImportInfo } from './transfer-schema.ts'
import { ATTEMPTS, attempted, type Transfer, transferInfo, transferRecords } from './transfer.ts'

export interface ImportRecord extends Transfer {
  readonly source: ObjectRecord
  readonly bytes?: number
  readonly line: number
  readonly messages: number
  readonly points: number
  /** number of rejected lines, and the first of these lines */
  readonly refusedCount: number
  readonly refused: readonly LineProblem[]
  readonly columns?: FoundColumns
}

export const IMPORTS = transferRecords<ImportRecord>('object_imports')

export const IMPORT_JOB = 'objects.import'
export const IMPORT_BUCKET = 'etl-import'
export const REPORT_SUFFIX = '.report.json'
export const MAX_REFUSED = 1_000
/** maximum number of batches written concurrently */
const WINDOW = 3
/** maximum number of concurrent imports on a host; imports of one tenant run one by one */
const CONCURRENCY = 2

export interface ImportJobsOptions {
  readonly objects: () => Objects
  readonly broker: () => InternalBroker | undefined
  readonly now: () => number
}

export function importHandler(options: ImportJobsOptions): JobHandler {
  return {
    type: IMPORT_JOB,
    attempts: ATTEMPTS,
    isSerial: true,
    concurrency: CONCURRENCY,
    run: async (context) => {
      const records = context.store.collection(IMPORTS)
      const { id } = context.job.data as { readonly id: string }
      const stored = await records.get(id)
      if (stored === undefined || stored.value.ended !== undefined) return { kind: 'completed' }
      const run = new ImportRun(options, context, records, stored)
      return attempted(context, () => run.run(), { isFinal, fail: (error) => run.end('failed', error) })
    },
  }
}

/** True when another attempt cannot succeed: the object is gone, or its metadata or gzip data is invalid. */
function isFinal(error: unknown): boolean {
  if (error instanceof AppError) return ['CONFLICT', 'NOT_FOUND', 'VALIDATION'].includes(error.code)
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}

class ImportRun {
  readonly #options: ImportJobsOptions
  readonly #context: JobContext
  readonly #records: Collection<ImportRecord>
  #stored: Stored<ImportRecord>
  #bytes = 0

  constructor(
    options: ImportJobsOptions,
    context: JobContext,
    records: Collection<ImportRecord>,
    stored: Stored<ImportRecord>,
  ) {
    this.#options = options
    this.#context = context
    this.#records = records
    this.#stored = stored
  }

  async run(): Promise<JobOutcome> {
    const { signal } = this.#context
    const broker = this.#options.broker()
    if (broker === undefined) throw new AppError('CLOSED', 'this host does not serve the broker')
    const { source, line } = this.#stored.value
    const objects = this.#options.objects().inside
    const options = readingOf(readingIn(source.metadata))
    const surveyed = await surveyFile(await objects.read(source), options, () => signal.aborted)
    if (surveyed === undefined) return { kind: 'released' }
    const content = await objects.read(source)
    const { importing } = broker
    await importing.begin()
    await this.#note({ state: 'running', started: this.#stored.value.started ?? this.#options.now() })
    const { reading, columns, problems } = surveyed
    await this.#note({ columns })
    if (problems.length > 0) {
      await this.#note({ refusedCount: problems.length, refused: problems })
      await this.end('failed', problems.map(problemText).join('; '))
      return { kind: 'completed' }
    }
    const open: Promise<void>[] = []
    try {
      for await (const batch of importBatches(this.#counted(content), reading, { after: line })) {
        if (signal.aborted) return { kind: 'released' }
        const appended = batch.samples.length === 0 ? Promise.resolve() : importing.append(batch.samples)
        const taken = this.#take(batch, Promise.all([open.at(-1), appended]))
        // prevents an unhandled rejection; the promise is awaited below
        taken.catch(() => undefined)
        open.push(taken)
        if (open.length >= WINDOW) await open.shift()
        await this.#context.breathe()
      }
      await open.at(-1)
    } finally {
      await Promise.allSettled(open)
    }
    const { messages, refusedCount } = this.#stored.value
    await this.end('completed', messages + refusedCount === 0 ? 'it has no messages' : undefined)
    return { kind: 'completed' }
  }

  /** Ends the import. Every ended import gets a report, which is written first. */
  async end(state: 'completed' | 'failed', error?: string): Promise<void> {
    const record = { ...this.#stored.value, state, ended: this.#options.now(), ...(error !== undefined && { error }) }
    const unreported = await this.#report(record)
    await this.#note({ ...record, ...(unreported !== undefined && { error: unreported }) })
  }

  async #report(record: ImportRecord): Promise<string | undefined> {
    const text = `${JSON.stringify(reportOf(record), null, 2)}\n`
    const api = this.#options.objects().inside
    const options = { contentType: 'application/json' }
    try {
      await requireSame(api, record.source)
      await api.put(IMPORT_BUCKET, record.object + REPORT_SUFFIX, new TextEncoder().encode(text), options)
      return undefined
    } catch (error) {
      if (!(error instanceof AppError) || !NO_REPORT.has(error.code)) throw error
      return [record.error, `it has no report: ${error.message}`].filter((one) => one !== undefined).join('; ')
    }
  }

  /** Records a batch once its samples, and those of all earlier batches, are stored. */
  async #take({ samples, messages, refused, line }: ImportBatch, appended: Promise<unknown>): Promise<void> {
    await appended
    const before = this.#stored.value
    await this.#note({
      line,
      messages: before.messages + messages,
      points: before.points + samples.length,
      refusedCount: before.refusedCount + refused.length,
      refused: [...before.refused, ...refused.slice(0, MAX_REFUSED - before.refused.length)],
    })
  }

  async #note(change: Partial<ImportRecord>): Promise<void> {
    const { id, value: before, version } = this.#stored
    const value = { ...before, ...change, bytes: this.#bytes }
    const progress = { done: this.#bytes, total: before.source.size }
    await this.#context.progress(progress, [this.#records.putting(id, value, version)])
    this.#stored = { id, value, version: version + 1 }
  }

  async *#counted(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      this.#bytes += piece.length
      yield piece
    }
  }
}

/** Errors in writing a report that do not make the import fail. */
const NO_REPORT: ReadonlySet<string> = new Set(['VALIDATION', 'NOT_FOUND', 'CONFLICT'])

/** Throws `NOT_FOUND` or `CONFLICT` unless the object still has the imported content. */
async function requireSame(api: ObjectsApi, { bucket, path, content }: ObjectRecord): Promise<void> {
  const found = await api.stat(bucket, path)
  if ('content' in found && found.content === content) return
  throw new AppError('CONFLICT', `the object ${path} was replaced before its import ended`)
}

function problemText({ line, message, suggestion }: LineProblem): string {
  return `line ${line}: ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`
}

export function reportOf(record: ImportRecord): object {
  const { refusedCount, refused, columns, error } = record
  const { id: _id, created: _created, read: _read, reading: _reading, error: _error, ...shown } = importInfo('', record)
  return {
    ...shown,
    ...(refusedCount > refused.length && { named: refused.length }),
    lines: refused,
    ...columns,
    ...(error !== undefined && { error }),
  }
}

export function importInfo(id: string, record: ImportRecord): ImportInfo {
  const { source, messages, points, refusedCount, bytes = 0 } = record
  const { etag, size, metadata } = source
  const reading = readingIn(metadata)
  return {
    ...transferInfo(id, record),
    etag,
    size,
    read: bytes,
    messages,
    points,
    refused: refusedCount,
    ...(reading !== undefined && { reading: { ...reading } }),
  }
}
