/** The query service put together: series and documents over storage, everything else injected. */
import { type Caller, type Issue, perTenant, refusedBy, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { Collection, Storage } from '#storage'
import type { OpenedResult, QueriesApi, OperatedQueries, QuerySource, Readiness, ResourceSelector } from './contract.ts'
import { QuerySlots } from './execution/query-slots.ts'
import { begin, openRun, resultOf, type Run } from './execution/run.ts'
import { readQuery } from './query/read-query.ts'
import { QUERIES, type QueryRecord } from './stored/query-record.ts'
import { queryNotFound, storedQueryApi } from './stored/stored-queries.ts'

/** ms: what comes meanwhile, as a post, takes some turns of the loop, and finds the work of one query in each */
const TURN_MS = 1

export interface QueriesOptions {
  readonly storage: Storage
  /** epoch ms */
  readonly now: () => number
  /** Neighbours are asked for when they are needed: they may be made later, or not at all. */
  readonly resources?: () => ResourceSelector | undefined
  readonly broker?: () => Readiness | undefined
}

export function createQueriesService(options: QueriesOptions): OperatedQueries {
  return new Service(options)
}

class Service implements OperatedQueries {
  readonly #options: QueriesOptions
  readonly #collection: (tenant: string) => Collection<QueryRecord>
  readonly #slots = new QuerySlots()
  readonly #yielder = new Yielder(machineTimers, TURN_MS)
  #running = 0
  #executed = 0

  constructor(options: QueriesOptions) {
    this.#options = options
    this.#collection = perTenant((tenant) => options.storage.tenant(tenant).collection(QUERIES))
  }

  as(caller: Caller): QueriesApi {
    const { tenant } = caller
    const { storage, now, resources = none, broker = none } = this.#options
    const collection = this.#collection(tenant)
    const run = async (source: QuerySource, options: Parameters<QueriesApi['open']>[1] = {}): Promise<Run> => {
      const query = 'query' in source ? source.query : await storedQuery(collection, source.stored)
      const store = storage.tenant(tenant)
      return begin({ tenant, store, now, resources, broker, yielder: this.#yielder }, query, options)
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

  gauges(): ReturnType<OperatedQueries['gauges']> {
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

function none(): undefined {
  return undefined
}
