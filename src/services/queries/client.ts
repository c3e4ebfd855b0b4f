/** Typed client of the query service over fetch, with the same contract. */
import { AppError } from '#kernel'
import { type Ask, conditionOf, type Http, listOfHeader, type Method, pathOf, typed } from '#services/shared/client'
import type {
  ExecuteOptions,
  OpenOptions,
  QueriesApi,
  QueryMessage,
  QuerySource,
  StoredQueryApi,
  StoredQueryPage,
  VersionedQuery,
} from './contract.ts'

const ACCEPT = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
} as const

export function queriesClient(http: Http): QueriesApi {
  return {
    execute: (source, options = {}) => typed(http.json(...requestOf(source, options))),
    open: async (source, { format, csv, ...options }: OpenOptions = {}) => {
      const overrides = { ...options.overrides, ...(csv && { csv }) }
      const [method, path, ask] = requestOf(source, { ...options, overrides })
      const headers = format === undefined ? {} : { accept: ACCEPT[format] }
      const answer = await http.open(method, path, { ...ask, headers })
      return {
        type: answer.headers.get('content-type') ?? '',
        parts: partsOf(answer),
        messages: listOfHeader(answer.headers.get('query-messages')) as unknown as readonly QueryMessage[],
      }
    },
    stored: storedClient(http),
  }
}

function requestOf(source: QuerySource, options: ExecuteOptions): [Method, string, Ask] {
  const { overrides, signal, explain, now, resource } = options
  if (now !== undefined || resource !== undefined) {
    throw new AppError('VALIDATION', 'now and resource are only for rules; omit them, or override the query')
  }
  const ask: Ask = { query: { ...overrides, ...(explain === true && { explain }) }, ...(signal && { signal }) }
  if ('stored' in source) return ['GET', pathOf`/data/query/${source.stored}`, ask]
  return ['POST', '/data/query', { ...ask, body: source.query }]
}

async function* partsOf({ body }: Response): AsyncGenerator<Uint8Array> {
  // typed as any in Node's declarations
  if (body !== null) yield* body as AsyncIterable<Uint8Array>
}

function storedClient(http: Http): StoredQueryApi {
  const one = async (method: Method, path: string, ask: Ask = {}): Promise<VersionedQuery> => {
    const answer = await http.open(method, path, ask)
    const value = await typed<VersionedQuery['value']>(answer.json())
    return { value, version: Number(answer.headers.get('etag')?.replaceAll('"', '')) }
  }
  return {
    create: (body, name) => one('POST', name === undefined ? '/config/query' : pathOf`/config/query/${name}`, { body }),
    replace: (name, body, options = {}) =>
      one('PUT', pathOf`/config/query/${name}`, { body, ...conditionOf(options.ifVersion) }),
    get: (name) => one('GET', pathOf`/config/query/${name}`),
    remove: async (name, options = {}) => {
      await http.json('DELETE', pathOf`/config/query/${name}`, conditionOf(options.ifVersion))
    },
    search: ({ q, limit, offset }) =>
      typed<StoredQueryPage>(http.json('GET', '/config/query', { query: { q, limit, offset } })),
  }
}
