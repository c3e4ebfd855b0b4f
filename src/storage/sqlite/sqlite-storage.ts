/** An open data folder, with the stores of its tenants. */
import { randomUUID } from 'node:crypto'
import { type Json, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { BlobMedium } from '../blob-medium.ts'
import type { CheckedQuery } from '../check-query.ts'
import {
  type Access,
  checkedCollection,
  checkedLog,
  checkedSeries,
  type DocumentsMedium,
  type LogMedium,
} from '../checked-store.ts'
import type {
  Collection,
  CollectionSpec,
  Committed,
  Condition,
  Document,
  Log,
  LogEntry,
  Series,
  Storage,
  StorageStats,
  Store,
  Stored,
  StoreTime,
  Write,
} from '../contract.ts'
import { compareText } from '../order.ts'
import type { KnownField, KnownSpec } from '../spec.ts'
import { checkTenant, closedError } from '../tenant.ts'
import { type CollectionForm, documentsTable } from './collection-form.ts'
import type { StateCommits } from './declarations.ts'
import {
  checkDocument,
  type DocumentColumns,
  type DocumentRow,
  type DocumentsRead,
  type PageQuery,
} from './read-documents.ts'
import type { LogRows, StoreRead } from './reader.ts'
import { type Opened, type SeriesCommits, SqliteSeries } from './series.ts'
import type { StateCommit } from './state-commit.ts'

export interface SqliteDependencies extends Pick<
  Opened,
  'specs' | 'declarations' | 'gets' | 'readers' | 'counts' | 'damage' | 'clock'
> {
  readonly stateCommits: StateCommits
  readonly seriesCommits: SeriesCommits
  readonly stateCommit: StateCommit
  readonly blobs: BlobMedium
  readonly threads: readonly { close(): Promise<void> }[]
  readonly unlock: () => void
}

export class SqliteStorage implements Storage {
  readonly #parts: SqliteDependencies
  readonly #opened: Opened
  readonly #session = randomUUID()
  #closing: Promise<void> | undefined

  constructor(parts: SqliteDependencies) {
    this.#parts = parts
    const { stateCommit } = parts
    const refuseWhenClosed = (): void => {
      if (this.#closing !== undefined) throw closedError()
    }
    this.#opened = {
      ...parts,
      refuseWhenClosed,
      async commit(tenant, writes) {
        refuseWhenClosed()
        return stateCommit.commit(tenant, writes)
      },
      async trim(tenant, log, upTo) {
        refuseWhenClosed()
        return stateCommit.trim(tenant, log, upTo)
      },
    }
  }

  tenant(id: string): Store {
    checkTenant(id)
    return new SqliteStore(this.#opened, id, this.#parts.blobs, this.#session)
  }

  async tenants(): Promise<readonly string[]> {
    this.#opened.refuseWhenClosed()
    const { readers, blobs } = this.#parts
    const lists = await Promise.all([readers.read<readonly string[]>({ of: 'tenants' }), blobs.tenants()])
    return [...new Set(lists.flat())].sort(compareText)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  stats(): StorageStats {
    const state = this.#parts.stateCommits.figures()
    const series = this.#parts.seriesCommits.figures()
    return {
      queued: state.queued + series.queued,
      commits: state.commits + series.commits,
      lastCommitMs: (state.lastCommitAt >= series.lastCommitAt ? state : series).lastCommitMs,
    }
  }

  /** Closes writers last: readers may use files that closing a writer removes. */
  async #close(): Promise<void> {
    const { stateCommits, seriesCommits, blobs, readers, gets, threads, unlock } = this.#parts
    try {
      await Promise.all([stateCommits.close(), seriesCommits.close(), blobs.close()])
      await readers.close()
      gets.close()
      await Promise.all(threads.map((thread) => thread.close()))
    } finally {
      unlock()
    }
  }
}

class SqliteStore implements Store {
  readonly series: Series
  readonly #access: Access
  readonly #opened: Opened
  readonly #tenant: string
  readonly #blobs: BlobMedium
  readonly #session: string

  constructor(opened: Opened, tenant: string, blobs: BlobMedium, session: string) {
    this.#opened = opened
    this.#tenant = tenant
    this.#blobs = blobs
    this.#session = session
    this.#access = {
      run: async (work) => {
        opened.refuseWhenClosed()
        return work()
      },
      commit: (writes) => this.commit(writes),
    }
    this.series = checkedSeries(this.#access, opened.clock, new SqliteSeries(opened, tenant))
  }

  get blobs(): Store['blobs'] {
    return this.#blobs.tenant(this.#tenant)
  }

  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D> {
    const known = this.#opened.specs.know(spec)
    return checkedCollection(spec, known, this.#access, new SqliteDocuments<D>(this.#opened, this.#tenant, known))
  }

  log(name: string): Log {
    return checkedLog(name, this.#access, sqliteLog(this.#opened, this.#tenant, name))
  }

  commit(writes: readonly Write[]): Promise<Committed> {
    return this.#opened.commit(this.#tenant, writes)
  }

  /** Uses this process's clock, since one process owns the folder. */
  async now(): Promise<StoreTime> {
    this.#opened.refuseWhenClosed()
    return { ms: Math.floor(this.#opened.clock()), session: this.#session }
  }
}

type LogRead = Extract<StoreRead, { readonly of: 'log' }>['read']

/** Reads and trims a log of one tenant. */
function sqliteLog({ readers, trim }: Opened, tenant: string, log: string): LogMedium {
  const read = <Answer>(one: LogRead): Promise<Answer> => readers.read<Answer>({ of: 'log', read: one })
  return {
    async read(after, limit) {
      const { from, rows } = await read<LogRows>({ kind: 'entries', tenant, log, after, limit })
      const parsed = await new Yielder(machineTimers).map(rows, ([last, count, bodies]) =>
        (JSON.parse(bodies) as readonly Json[]).map((body, i): LogEntry => ({ position: last - count + 1 + i, body })),
      )
      return parsed
        .flat()
        .filter((entry) => entry.position >= from)
        .slice(0, limit)
    },
    bounds: () => read({ kind: 'bounds', tenant, log }),
    trim: (upTo) => trim(tenant, log, upTo),
  }
}

/** maximum number of documents read by id on this thread; a reader thread reads more */
const MAX_READ_HERE = 50

/** Reads a collection: by key on this thread, everything else on reader threads. */
class SqliteDocuments<D extends Document> implements DocumentsMedium<D> {
  readonly #opened: Opened
  readonly #tenant: string
  readonly #known: KnownSpec
  #getSql: string | undefined

  constructor(opened: Opened, tenant: string, known: KnownSpec) {
    this.#opened = opened
    this.#tenant = tenant
    this.#known = known
  }

  async get(id: string): Promise<Stored<D> | undefined> {
    const form = await this.#readable()
    const row = this.#opened.damage.watch(() => this.#row(form, id))
    return row === undefined ? undefined : storedOf<D>(row)
  }

  async getMany(ids: readonly string[]): Promise<readonly Stored<D>[]> {
    const form = await this.#readable()
    if (ids.length > MAX_READ_HERE) {
      return storedInTurns(await this.#read<DocumentColumns>({ kind: 'getMany', form, tenant: this.#tenant, ids }))
    }
    const { gets, damage } = this.#opened
    const rows = damage.watch(() => gets.transaction(() => ids.map((id) => this.#row(form, id))))
    return new Yielder(machineTimers).map(
      rows.filter((row) => row !== undefined),
      (row) => storedOf<D>(row),
    )
  }

  async find(query: CheckedQuery): Promise<readonly Stored<D>[]> {
    return storedInTurns(await this.#page<DocumentColumns>('find', query))
  }

  ids(query: CheckedQuery): Promise<readonly string[]> {
    return this.#page<readonly string[]>('ids', query)
  }

  async count(where: readonly Condition[]): Promise<number> {
    const form = await this.#readable()
    const read = { kind: 'count', form, tenant: this.#tenant, where } as const
    return this.#opened.counts.count(this.#tenant, this.#known, where, () => this.#read<number>(read))
  }

  async countBy({ name }: KnownField, where: readonly Condition[]): Promise<ReadonlyMap<string, number>> {
    const form = await this.#readable()
    const read = { kind: 'countBy', form, tenant: this.#tenant, field: name, where } as const
    return new Map(await this.#read<readonly (readonly [string, number])[]>(read))
  }

  #row(form: CollectionForm, id: string): DocumentRow | undefined {
    this.#getSql ??= `SELECT id, version, body, sum FROM ${documentsTable(form)} WHERE tenant = ? AND id = ? AND body IS NOT NULL`
    const row = this.#opened.gets.row<DocumentRow>(this.#getSql, this.#tenant, id)
    if (row !== undefined) checkDocument(form, this.#tenant, id, row)
    return row
  }

  async #page<Answer>(kind: 'find' | 'ids', { sort, ...checked }: CheckedQuery): Promise<Answer> {
    const named = sort.map(({ field, descending }) => ({ field: field === 'id' ? field : field.name, descending }))
    const page: PageQuery = { ...checked, sort: named }
    const form = await this.#readable()
    return this.#read<Answer>({ kind, form, tenant: this.#tenant, query: page })
  }

  #readable(): CollectionForm | Promise<CollectionForm> {
    return this.#opened.declarations.readable(this.#known)
  }

  #read<Answer>(read: DocumentsRead): Promise<Answer> {
    return this.#opened.readers.read<Answer>({ of: 'documents', read })
  }
}

function storedInTurns<D extends Document>({ ids, versions, bodies }: DocumentColumns): Promise<readonly Stored<D>[]> {
  return new Yielder(machineTimers).map(ids, (id, i) => storedOf<D>([id, versions[i] ?? 0, bodies[i] ?? '', 0]))
}

function storedOf<D extends Document>([id, version, body]: DocumentRow): Stored<D> {
  return { id, version, value: JSON.parse(body) as D }
}
