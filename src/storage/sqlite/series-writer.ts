/** Writes series.db, as the only thread that does, one transaction per batch, and folds samples in between. */
import { workInBackground } from '#platform'
import { ChunkCompactor } from './chunk-compactor.ts'
import { type Database, openWriter } from './database.ts'
import { MessageWriter } from './message-writer.ts'
import { openForm } from './file-form.ts'
import { countBlocks } from './sample-block.ts'
import { SeriesAppends } from './series-appends.ts'
import { SeriesCompactor } from './series-compactor.ts'
import type { AppendOperation, ExpireJob, RemoveJob, SeriesAnswer, SeriesOperation } from './series-jobs.ts'
import { SERIES_FORM } from './series-form.ts'
import { serveThread, type Trouble } from './serve-thread.ts'
import { notWritten } from './failure.ts'

export interface SeriesWriterData {
  readonly file: string
  /** number of unfolded samples that starts a fold; each slows down readers by about 20 ns */
  readonly foldAt: number
  readonly chunk: number
  /** number of messages kept in order of arrival, which readers of messages must search */
  readonly waiting: number
}

/** number of unfolded samples at which a pause starts a fold; a fold rewrites a page of each series */
const WORTH_A_PAUSE = 5_000
const PAUSE_MS = 100
const IDLE_MS = 30_000
/** number of unfolded blocks that starts a fold; each slows down readers by about a microsecond */
const MAX_BLOCKS = 1_000

class SeriesWriter {
  readonly #db: Database
  readonly #appends: SeriesAppends
  readonly #messages: MessageWriter
  readonly #fold: SeriesCompactor
  readonly #chunks: ChunkCompactor
  readonly #foldAt: number
  readonly #trouble: Trouble
  #arrived: ReturnType<typeof countBlocks>
  #idle: NodeJS.Timeout | undefined
  #next: NodeJS.Immediate | undefined

  constructor({ file, foldAt, chunk, waiting }: SeriesWriterData, trouble: Trouble) {
    this.#db = openWriter(file, { synchronous: 'NORMAL', cacheMb: 64, checkpointPages: 1_000 })
    openForm(this.#db, file, SERIES_FORM)
    this.#messages = new MessageWriter(this.#db, waiting)
    this.#appends = new SeriesAppends(this.#db, this.#messages)
    this.#chunks = new ChunkCompactor(this.#db, chunk)
    this.#fold = new SeriesCompactor(this.#db, this.#chunks)
    this.#foldAt = foldAt
    this.#trouble = trouble
    this.#arrived = countBlocks(this.#db)
    this.#plan()
  }

  handle(operations: readonly SeriesOperation[]): readonly SeriesAnswer[] {
    try {
      return this.#whole(operations)
    } catch (error) {
      // an operation is invalid, or the disk is full: retry one by one
      if (operations.length > 1) return operations.flatMap((operation) => this.handle([operation]))
      const failed = notWritten(error)
      return operations.flatMap((one) => (one.kind === 'append' ? one.appends.map(() => failed) : [failed]))
    } finally {
      this.#plan()
    }
  }

  close(): void {
    clearTimeout(this.#idle)
    clearImmediate(this.#next)
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#db.close()
  }

  #whole(operations: readonly SeriesOperation[]): readonly SeriesAnswer[] {
    const before = this.#arrived
    try {
      const all = () => {
        const answers = operations.flatMap((operation) => this.#do(operation))
        this.#messages.settle()
        return answers
      }
      const isSynced = operations.some((one) => one.kind !== 'expire' && one.synced)
      return isSynced ? this.#db.syncedTransaction(all) : this.#db.transaction(all)
    } catch (error) {
      // caches may be outdated
      this.#appends.forget()
      this.#messages.forget()
      this.#chunks.forget()
      this.#arrived = before
      throw error
    }
  }

  #do(operation: SeriesOperation): readonly SeriesAnswer[] {
    switch (operation.kind) {
      case 'append':
        this.#append(operation)
        return operation.appends.map(() => 0)
      case 'remove':
        this.#remove(operation)
        return [0]
      case 'expire':
        return [this.#expire(operation)]
    }
  }

  #append(operation: AppendOperation): void {
    const { blocks, samples } = this.#arrived
    const more = this.#appends.append(operation)
    if (more > 0) this.#arrived = { blocks: blocks + 1, samples: samples + more }
  }

  #foldAll(): void {
    if (this.#arrived.blocks === 0) return
    this.#fold.all()
    this.#arrived = NOTHING
  }

  #remove(job: RemoveJob): void {
    const { tenant, resource, from, until, metrics, samples, messages } = job
    if (samples) {
      this.#foldAll()
      const named = metrics === undefined ? 'TRUE' : 'metric IN (SELECT value FROM json_each(?))'
      const names = metrics === undefined ? [] : [JSON.stringify(metrics)]
      const keys = `SELECT key FROM series WHERE tenant = ? AND resource = ? AND ${named}`
      for (const [series] of this.#db.rows<[number]>(keys, tenant, resource, ...names)) {
        this.#chunks.remove(series, from, until)
      }
    }
    if (messages) this.#messages.remove(job)
  }

  #expire(job: ExpireJob): number {
    // an expiring sample may hide a folded sample, which must be deleted too
    this.#foldAll()
    const samples = this.#chunks.expire(job.tenant, job.now, job.limit)
    return samples + this.#messages.expire({ ...job, limit: Math.max(0, job.limit - samples) })
  }

  /** Continues a fold, begins one when there are enough unfolded samples, or restarts the idle timer. */
  #plan(): void {
    if (this.#next !== undefined) return
    const { blocks, samples } = this.#arrived
    if (this.#fold.active || samples >= this.#foldAt || blocks >= MAX_BLOCKS) {
      this.#next = setImmediate(() => this.#foldOn())
      return
    }
    clearTimeout(this.#idle)
    if (blocks > 0) this.#idle = setTimeout(() => this.#foldOn(), samples >= WORTH_A_PAUSE ? PAUSE_MS : IDLE_MS)
  }

  #foldOn(): void {
    this.#next = undefined
    clearTimeout(this.#idle)
    this.#idle = undefined
    try {
      this.#fold.step()
      if (!this.#fold.active) this.#arrived = countBlocks(this.#db)
      this.#plan()
    } catch (error) {
      // nothing is lost: the samples stay unfolded, and the next batch retries
      this.#trouble('samples could not be folded', error)
    }
  }
}

const NOTHING = { blocks: 0, samples: 0 }

workInBackground(5)
serveThread<readonly SeriesOperation[], readonly SeriesAnswer[]>(
  (data, trouble) => new SeriesWriter(data as SeriesWriterData, trouble),
)
