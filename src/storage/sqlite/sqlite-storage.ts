/** An open data folder, with the stores of its tenants. */
import { randomUUID } from 'node:crypto'
import type { BlobMedium } from '../blob-medium.ts'
import type {
  Collection,
  CollectionSpec,
  Committed,
  Document,
  Log,
  Series,
  Storage,
  StorageStats,
  Store,
  StoreTime,
  Write,
} from '../contract.ts'
import { compareText } from '../order.ts'
import { checkTenant, closedError } from '../tenant.ts'
import { type Access, checkedCollection, checkedLog, checkedSeries } from '../checked-store.ts'
import { SqliteDocuments } from './collection.ts'
import type { StateCommits } from './declarations.ts'
import { sqliteLog } from './log.ts'
import type { Opened, SeriesCommits } from './opened.ts'
import { SqliteSeries } from './series.ts'
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
      async trim(tenant, log, partition, upTo) {
        refuseWhenClosed()
        return stateCommit.trim(tenant, log, partition, upTo)
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
