/** Stored queries of one tenant: made, replaced, removed, shown and searched. */
import { AppError, type Caller, Issues, isStoreConflict, requireVersion, retryOnConflict } from '#kernel'
import { type Collection, type Stored, walk } from '#storage'
import type { SearchParameters, StoredQuery, StoredQueryApi, StoredQueryPage, VersionedQuery } from '../contract.ts'
import type { QueryRecord } from './query-record.ts'
import { readEntity } from './read-entity.ts'
import { readFilter, type SearchFilter } from './search-filter.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100
/** documents that are looked through at once */

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
      const { name, query, meta } = readEntity(body, ofPath)
      const at = now()
      const record: QueryRecord = { name, query, meta, created: at, createdBy: user, modified: at, modifiedBy: user }
      try {
        return { value: shownQuery(record), version: await collection.put(name, record, 'absent') }
      } catch (error) {
        if (isStoreConflict(error)) throw new AppError('CONFLICT', `Query '${name}' already exists`)
        throw error
      }
    },
    async replace(name, body, options = {}) {
      const { query, meta } = readEntity(body, name)
      return retryOnConflict(async () => {
        const known = await collection.get(name)
        requireVersion(`Query '${name}'`, known?.version, options.ifVersion)
        const at = now()
        const { created = at, createdBy = user } = known?.value ?? {}
        const record: QueryRecord = { name, query, meta, created, createdBy, modified: at, modifiedBy: user }
        const version = await collection.put(name, record, known?.version ?? 'absent')
        return { value: shownQuery(record), version }
      })
    },
    async get(name) {
      return versioned(await stored(name))
    },
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

function versioned({ value, version }: Stored<QueryRecord>): VersionedQuery {
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
  checkWhole(limit, '/limit', MAX_LIMIT, issues)
  checkWhole(offset, '/offset', Number.MAX_SAFE_INTEGER, issues)
  const filter = readFilter(q, context, issues)
  issues.throwIfAny('the search')
  const { records, total } = await found(collection, filter, offset, limit)
  const queries = records.map((record) => {
    const { query: _query, ...shown } = shownQuery(record)
    return shown
  })
  return { queries, offset, limit, total }
}

function checkWhole(value: number, path: string, most: number, issues: Issues): void {
  if (Number.isSafeInteger(value) && value >= 0 && value <= most) return
  const range = most === MAX_LIMIT ? `from 0 to ${most}` : 'of at least 0'
  issues.wrong(path, `${String(value)} is no whole number ${range}`)
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
