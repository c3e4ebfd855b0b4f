/** Runs long reads on a worker thread. Each read uses one snapshot of its file. */
import { openReader, type Database } from './database.ts'
import { readBuckets, type BucketsRead } from './read-buckets.ts'
import { readDocuments, type DocumentsRead } from './read-documents.ts'
import { readLog, type LogRead } from './read-log.ts'
import { readApplied, readMessages, type AppliedRead, type MessagesRead } from './read-messages.ts'
import { readLatest, readRange, type LatestRead, type RangeRead } from './read-samples.ts'
import { serveThread } from './serve-thread.ts'

export interface ReaderFiles {
  readonly state: string
  readonly series: string
}

type SeriesRead = RangeRead | LatestRead | BucketsRead | MessagesRead | AppliedRead

export type StoreRead =
  | { readonly of: 'documents'; readonly read: DocumentsRead }
  | { readonly of: 'log'; readonly read: LogRead }
  | { readonly of: 'series'; readonly read: SeriesRead }
  | { readonly of: 'tenants' }

/** Cache per file; the operating system caches the rest. */
const CACHE_MB = 8
/** Length of columns from which transferring them is faster than copying. */
const WORTH_A_TRANSFER = 1_024

class Reader {
  readonly #state: Database
  readonly #series: Database

  constructor({ state, series }: ReaderFiles) {
    this.#state = openReader(state, CACHE_MB)
    this.#series = openReader(series, CACHE_MB)
  }

  handle(request: StoreRead): unknown {
    switch (request.of) {
      case 'documents':
        return this.#state.transaction(() => readDocuments(this.#state, request.read))
      case 'log':
        return this.#state.transaction(() => readLog(this.#state, request.read))
      case 'series':
        return this.#series.transaction(() => readSeries(this.#series, request.read))
      case 'tenants':
        return [this.#state, this.#series]
          .flatMap((db) => db.rows<[string]>('SELECT name FROM tenants'))
          .map(([name]) => name)
    }
  }

  /** Transfers columns of samples, since copying long ones takes longer than reading them. */
  transfer(answer: unknown): readonly ArrayBuffer[] {
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return []
    return Object.values(answer).flatMap((part: unknown) =>
      part instanceof Float64Array && part.buffer instanceof ArrayBuffer && part.length >= WORTH_A_TRANSFER
        ? part.buffer
        : [],
    )
  }

  close(): void {
    this.#state.close()
    this.#series.close()
  }
}

function readSeries(db: Database, read: SeriesRead): unknown {
  switch (read.kind) {
    case 'range':
      return readRange(db, read)
    case 'latest':
      return readLatest(db, read)
    case 'buckets':
      return readBuckets(db, read)
    case 'messages':
      return readMessages(db, read)
    case 'applied':
      return readApplied(db, read)
  }
}

serveThread<StoreRead, unknown>((data) => new Reader(data as ReaderFiles))
