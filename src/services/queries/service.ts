/** Runs the queries of a tenant on the series and documents in its store. */
import { type Caller, type Issue, refusedBy } from '#kernel'
import type { Collection, Store } from '#storage'
import type { OpenedResult, QueriesApi, InternalQueries, QuerySource, ResourceSelector } from './contract.ts'
import { QuerySlots } from './execution/query-slots.ts'
import { begin, openRun, resultOf, type Run } from './execution/run.ts'
import { readQuery } from './query/read-query.ts'
import { QUERIES, type QueryRecord } from './stored/query-record.ts'
import { queryNotFound, storedQueryApi } from './stored/stored-queries.ts'

export interface QueriesOptions {
  readonly store: Store
  readonly now: () => number
  readonly resources?: () => ResourceSelector | undefined
  readonly readable?: () => Promise<void>
  /** limits concurrent queries, shared by the host; default: a separate limit */
  readonly slots?: QuerySlots
}

export class Queries implements InternalQueries {
  readonly #options: QueriesOptions
  readonly #collection: Collection<QueryRecord>
  readonly #slots: QuerySlots
  #running = 0
  #executed = 0

  constructor(options: QueriesOptions) {
    this.#options = options
    this.#collection = options.store.collection(QUERIES)
    this.#slots = options.slots ?? new QuerySlots()
  }

  as(caller: Caller): QueriesApi {
    const { store, now, resources = () => undefined, readable = () => Promise.resolve() } = this.#options
    const { yielder } = this.#slots
    const collection = this.#collection
    const run = async (source: QuerySource, options: Parameters<QueriesApi['open']>[1] = {}): Promise<Run> => {
      const query = 'query' in source ? source.query : await storedQuery(collection, source.stored)
      return begin({ store, now, resources, readable, yielder }, query, options)
    }
    return {
      execute: (source, options) =>
        this.#counted(async () => resultOf(await run(source, options), options?.explain === true)),
      open: async (source, options) => {
        const { parts, ...rest } = await this.#counted(async () => openRun(await run(source, options), options ?? {}))
        return { ...rest, parts: this.#whileOpen(parts) }
      },
      stored: storedQueryApi(collection, caller, now),
    }
  }

  check(query: unknown): readonly Issue[] {
    return refusedBy(() => readQuery({ query, now: this.#options.now() }))
  }

  gauges(): ReturnType<InternalQueries['gauges']> {
    return { running: this.#running, executed: this.#executed }
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1
    this.#executed += 1
    try {
      return await this.#slots.run(work)
    } finally {
      this.#running -= 1
    }
  }

  async *#whileOpen(parts: OpenedResult['parts']): AsyncGenerator<string | Uint8Array> {
    this.#running += 1
    try {
      yield* parts
    } finally {
      this.#running -= 1
    }
  }
}

async function storedQuery(collection: Collection<QueryRecord>, name: string): Promise<unknown> {
  const found = await collection.get(name)
  if (found === undefined) throw queryNotFound(name)
  return found.value.query
}
