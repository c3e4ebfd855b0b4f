/** Manages the stored queries of one tenant. */
import {
  AppError,
  type Caller,
  Issues,
  isStoreConflict,
  makeIssue,
  refuse,
  requireVersion,
  retryOnConflict,
  shown,
} from '#kernel'
import { type Collection, type Stored, walk } from '#storage'
import type { StoredQueryApi, StoredQueryPage, VersionedQuery } from '../contract.ts'
import type { QueryRecord } from './query-record.ts'
import { readFilter, type SearchFilter } from './search-filter.ts'
import { NamedStoredQuery, NewStoredQuery, QueryName } from './stored-body.ts'
import type { SearchParameters, StoredQuery } from './stored-schema.ts'

const DEFAULT_LIMIT = 10

export function storedQueryApi(
  collection: Collection<QueryRecord>,
  { user }: Caller,
  now: () => number,
): StoredQueryApi {
  const stored = async (name: string): Promise<Stored<QueryRecord>> => {
    const found = await collection.get(name)
    if (found === undefined) throw queryNotFound(name)
    return found
  }
  return {
    async create(body, ofPath) {
      const entity = entityOf(body, ofPath)
      const at = now()
      const record: QueryRecord = { ...entity, created: at, createdBy: user, modified: at, modifiedBy: user }
      try {
        return versioned({ value: record, version: await collection.put(entity.name, record, 'absent') })
      } catch (error) {
        if (isStoreConflict(error)) throw new AppError('CONFLICT', `Query '${entity.name}' already exists`)
        throw error
      }
    },
    async replace(name, body, options = {}) {
      const entity = entityOf(body, name)
      return retryOnConflict(async () => {
        const known = await collection.get(name)
        requireVersion(`Query '${name}'`, known?.version, options.ifVersion)
        const at = now()
        const { created = at, createdBy = user } = known?.value ?? {}
        const record: QueryRecord = { ...entity, created, createdBy, modified: at, modifiedBy: user }
        return versioned({ value: record, version: await collection.put(name, record, known?.version ?? 'absent') })
      })
    },
    get: async (name) => versioned(await stored(name)),
    async remove(name, options = {}) {
      await retryOnConflict(async () => {
        const { version } = await stored(name)
        requireVersion(`Query '${name}'`, version, options.ifVersion)
        await collection.delete(name, version)
      })
    },
    search: (parameters) => search(collection, parameters, { user, now: now() }),
  }
}

export function queryNotFound(name: string): AppError {
  return new AppError('NOT_FOUND', `Query '${name}' not found`)
}

function entityOf(body: unknown, ofPath: string | undefined): Pick<QueryRecord, 'name' | 'query' | 'meta'> {
  if (ofPath === undefined) {
    const { name, query, meta } = NewStoredQuery.read(body)
    return { name, query, meta: meta ?? {} }
  }
  const { name: own, query, meta } = NamedStoredQuery.read(body)
  if ((own ?? ofPath) !== ofPath) {
    const message = `${shown(own)} is not the name of the path, which is ${shown(ofPath)}`
    throw refuse('the stored query', [makeIssue('QUERY', '/name', message, 'omit it')])
  }
  return { name: QueryName.read(ofPath), query, meta: meta ?? {} }
}

function versioned({ value, version }: Pick<Stored<QueryRecord>, 'value' | 'version'>): VersionedQuery {
  return { value: shownQuery(value), version }
}

function shownQuery({ name, query, meta, created, createdBy, modified, modifiedBy }: QueryRecord): StoredQuery {
  return {
    name,
    query,
    meta,
    attrs: {
      created: new Date(created).toISOString(),
      created_by: `users/${createdBy}`,
      modified: new Date(modified).toISOString(),
      modified_by: `users/${modifiedBy}`,
    },
  }
}

async function search(
  collection: Collection<QueryRecord>,
  { q = '', limit = DEFAULT_LIMIT, offset = 0 }: SearchParameters,
  context: { readonly user: string; readonly now: number },
): Promise<StoredQueryPage> {
  const issues = new Issues('QUERY')
  const filter = readFilter(q, context, issues)
  issues.throwIfAny('the search')
  const { records, total } = await found(collection, filter, offset, limit)
  const queries = records.map((record) => {
    const { query: _query, ...listed } = shownQuery(record)
    return listed
  })
  return { queries, offset, limit, total }
}

interface Found {
  readonly records: readonly QueryRecord[]
  readonly total: number
}

async function found(
  collection: Collection<QueryRecord>,
  { where, test }: SearchFilter,
  offset: number,
  limit: number,
): Promise<Found> {
  if (test === undefined) {
    const [total, some] = await Promise.all([
      collection.count(where),
      limit === 0 ? [] : collection.find({ where, offset, limit }),
    ])
    return { records: some.map(({ value }) => value), total }
  }
  const records: QueryRecord[] = []
  let total = 0
  for await (const { value: record } of walk(collection, where)) {
    if (!test(record)) continue
    if (total >= offset && records.length < limit) records.push(record)
    total += 1
  }
  return { records, total }
}
