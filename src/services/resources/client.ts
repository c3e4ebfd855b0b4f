/** A typed client of the resources service over fetch, with the same contract. */
import { conditionOf, type Http, PAGED_MEDIA_TYPE, pathOf, typed } from '#services/shared/client'
import type { ListQuery, ResourceEntity, ResourcesApi, TypeApi, Versioned } from './contract.ts'

const PAGED = { accept: PAGED_MEDIA_TYPE }
const SCHEMA = { accept: 'application/schema+json' }

export function resourcesClient(http: Http): ResourcesApi {
  const list =
    <T>(collection: string, part = '', headers: Record<string, string> = {}) =>
    (id: string, query: ListQuery): Promise<T> =>
      typed(http.json('GET', `${one(collection, id)}${part}`, { query, headers }))
  const [resources, types, constraints] = ['/api/resources', '/api/resourcetypes', '/api/resourceconstraints'] as const
  const { patch, ...documents } = documentClient(http, resources)
  return {
    resources: {
      ...documents,
      patch: async (id, body, options) => {
        const { created: _created, ...written } = await patch(id, body, options)
        return written
      },
      remove: (id, { cascade = [], ...options } = {}) =>
        typed(http.json('DELETE', one(resources, id), { query: { cascade }, ...conditionOf(options.ifVersion) })),
      get: async (id, options) => stored(await http.open('GET', one(resources, id), { query: { ...options } })),
      children: list(resources, '/children'),
      referrers: list(resources, '/referrers'),
      commands: list(resources, '/commands'),
      explain: (id) => typed(http.json('GET', `${one(resources, id)}/explain`)),
    },
    types: {
      ...documentClient(http, types),
      constraints: (id, form, query = {}) =>
        list(types, '/constraints', form === 'schema' ? SCHEMA : form === 'paged' ? PAGED : {})(id, query),
      revalidate: async (id) => stored(await http.open('POST', `${one(types, id)}/revalidate`)),
    },
    constraints: {
      create: async (body) => (await created(await http.open('POST', constraints, { body }))).value,
      replace: (id, body) => typed(http.json('PUT', one(constraints, id), { body })),
      remove: (id) => typed(http.json('DELETE', one(constraints, id))),
      get: (id) => typed(http.json('GET', one(constraints, id))),
      schema: (id) => http.json('GET', one(constraints, id), { headers: SCHEMA }),
      list: (query) => typed(http.json('GET', constraints, { query, headers: PAGED })),
    },
    operations: {
      queue: (body) => typed(http.json('POST', '/api/batch', { body })),
      get: (id) => typed(http.json('GET', pathOf`/api/batch/${id}`)),
    },
  }
}

function documentClient(http: Http, collection: string): Omit<TypeApi, 'constraints' | 'revalidate'> {
  return {
    create: async (body) => created(await http.open('POST', collection, { body })),
    replace: async (id, body, options) =>
      stored(await http.open('PUT', one(collection, id), { body, ...conditionOf(options?.ifVersion) })),
    patch: async (id, body, options) => {
      const answer = await http.open('PATCH', one(collection, id), { body, ...conditionOf(options?.ifVersion) })
      const isNew = answer.status === 201
      return { ...(isNew ? await created(answer) : await stored(answer)), created: isNew }
    },
    remove: (id, options) => typed(http.json('DELETE', one(collection, id), conditionOf(options?.ifVersion))),
    get: async (id) => stored(await http.open('GET', one(collection, id))),
    list: (query) => typed(http.json('GET', collection, { query })),
    changes: (id, query) => typed(http.json('GET', `${one(collection, id)}/changes`, { query, headers: PAGED })),
  }
}

function one(collection: string, id: string): string {
  return `${collection}/${encodeURIComponent(id)}`
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
