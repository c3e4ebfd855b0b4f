/** The resources service over fetch: the same contract, for tests and for other processes. */
import { type Ask, conditionOf, type Http, type Method, PAGED_MEDIA_TYPE, pathOf, typed } from '#services/shared/client'
import type {
  ConstraintApi,
  ListQuery,
  OperationApi,
  ResourceApi,
  ResourceEntity,
  ResourcesApi,
  TypeApi,
  Versioned,
} from './contract.ts'

const PAGED = { accept: PAGED_MEDIA_TYPE }
const SCHEMA = { accept: 'application/schema+json' }

/**
 * What the caller behind the credentials can do. Errors are the same AppErrors, as far as the wire tells them apart.
 * Types of answers are those of the contract; the client does not check them again.
 */
export function resourcesClient(http: Http): ResourcesApi {
  return {
    resources: resourceClient(http),
    types: typeClient(http),
    constraints: constraintClient(http),
    operations: operationClient(http),
  }
}

function resourceClient(http: Http): ResourceApi {
  const collection = '/api/resources'
  const list = <T>(path: string, query: ListQuery, headers: Record<string, string> = {}): Promise<T> =>
    typed(http.json('GET', path, { query, headers }))
  return {
    create: async (body) => created(await http.open('POST', collection, { body })),
    replace: (id, body, options) =>
      versioned(http, 'PUT', one(collection, id), { body, ...conditionOf(options?.ifVersion) }),
    patch: (id, body, options) =>
      versioned(http, 'PATCH', one(collection, id), { body, ...conditionOf(options?.ifVersion) }),
    remove: (id, { cascade = [], ...options } = {}) =>
      typed(http.json('DELETE', one(collection, id), { query: { cascade }, ...conditionOf(options?.ifVersion) })),
    get: (id, options) => versioned(http, 'GET', one(collection, id), { query: { ...options } }),
    list: (query) => list(collection, query),
    children: (id, query) => list(`${one(collection, id)}/children`, query),
    referrers: (id, query) => list(`${one(collection, id)}/referrers`, query),
    changes: (id, query) => list(`${one(collection, id)}/changes`, query, PAGED),
    commands: (id, query) => list(`${one(collection, id)}/commands`, query),
    explain: (id) => typed(http.json('GET', `${one(collection, id)}/explain`)),
  }
}

function typeClient(http: Http): TypeApi {
  const collection = '/api/resourcetypes'
  return {
    create: async (body) => created(await http.open('POST', collection, { body })),
    replace: (id, body, options) =>
      versioned(http, 'PUT', one(collection, id), { body, ...conditionOf(options?.ifVersion) }),
    patch: async (id, body, options) => {
      const answer = await http.open('PATCH', one(collection, id), { body, ...conditionOf(options?.ifVersion) })
      const isNew = answer.status === 201
      return { ...(isNew ? await created(answer) : await stored(answer)), created: isNew }
    },
    remove: (id, options) => typed(http.json('DELETE', one(collection, id), conditionOf(options?.ifVersion))),
    get: (id) => versioned(http, 'GET', one(collection, id)),
    list: (query) => typed(http.json('GET', collection, { query })),
    changes: (id, query) => typed(http.json('GET', `${one(collection, id)}/changes`, { query, headers: PAGED })),
    constraints: (id, form, query = {}) => {
      const headers = form === 'schema' ? SCHEMA : form === 'paged' ? PAGED : {}
      return http.json('GET', `${one(collection, id)}/constraints`, { query, headers })
    },
    revalidate: (id) => versioned(http, 'POST', `${one(collection, id)}/revalidate`),
  }
}

function constraintClient(http: Http): ConstraintApi {
  const collection = '/api/resourceconstraints'
  return {
    create: async (body) => (await created(await http.open('POST', collection, { body }))).value,
    replace: (id, body) => typed(http.json('PUT', one(collection, id), { body })),
    remove: (id) => typed(http.json('DELETE', one(collection, id))),
    get: (id) => typed(http.json('GET', one(collection, id))),
    schema: (id) => http.json('GET', one(collection, id), { headers: SCHEMA }),
    list: (query) => typed(http.json('GET', collection, { query, headers: PAGED })),
  }
}

function operationClient(http: Http): OperationApi {
  return {
    queue: (body) => typed(http.json('POST', '/api/batch', { body })),
    get: (id) => typed(http.json('GET', pathOf`/api/batch/${id}`)),
  }
}

function one(collection: string, id: string): string {
  return `${collection}/${encodeURIComponent(id)}`
}

async function versioned(http: Http, method: Method, path: string, ask: Ask = {}): Promise<Versioned<ResourceEntity>> {
  return stored(await http.open(method, path, ask))
}

async function stored(answer: Response): Promise<Versioned<ResourceEntity>> {
  return { value: (await answer.json()) as ResourceEntity, version: versionOf(answer) }
}

async function created(answer: Response): Promise<Versioned<ResourceEntity>> {
  const { entity } = (await answer.json()) as { readonly entity: ResourceEntity }
  return { value: entity, version: versionOf(answer) }
}

function versionOf(answer: Response): number {
  return Number(answer.headers.get('etag')?.replaceAll('"', '') ?? Number.NaN)
}
