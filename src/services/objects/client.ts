/** Typed clients of object storage; contents are transferred through signed addresses. */
import { AppError } from '#kernel'
import { type Http, pathOf, typed } from '#services/shared/client'
import type { Decoded } from '#services/shared/contract'
import type { SignedMethod } from './contract.ts'
import type {
  BucketSchema,
  ListingSchema,
  ListQuery,
  ObjectAnswer,
  ObjectLink,
  ObjectLinks,
  SignQuery,
} from './object-schema.ts'
import type { ExportInfo, ImportInfo, TransferQuery } from './etl/transfer-schema.ts'
import type { Delivery, DeliveryState, Subscription, SubscriptionQuery } from './subscriptions/subscription-schema.ts'

const BASE = '/storage/v1'
const BUCKET = `${BASE}/bucket`

export interface BucketAnswer extends Decoded<typeof BucketSchema> {}
export interface ListingAnswer extends Decoded<typeof ListingSchema> {}

/** Paths have no leading slash; paths of folders end with a slash. */
export interface ObjectsClient {
  buckets(): Promise<readonly BucketAnswer[]>
  bucket(bucket: string): Promise<BucketAnswer>
  list(bucket: string, prefix?: string, query?: ListQuery): Promise<ListingAnswer>
  stat(bucket: string, path: string): Promise<ObjectAnswer>
  sign(bucket: string, path: string, method: SignedMethod, query?: SignQuery): Promise<ObjectLink>
  get(bucket: string, path: string): Promise<Response>
  put(bucket: string, path: string, content: Uint8Array | string, contentType?: string): Promise<void>
  putFolder(bucket: string, path: string, query?: { readonly all?: boolean }): Promise<ObjectAnswer>
  copy(bucket: string, target: string, source: string, query?: { readonly move?: boolean }): Promise<ObjectAnswer>
  remove(
    bucket: string,
    path: string,
    query?: { readonly recursive?: boolean; readonly all?: boolean },
  ): Promise<number>
}

/** Errors are AppErrors, as precisely as the HTTP responses allow. */
export function objectsClient(http: Http, fetch: typeof globalThis.fetch = globalThis.fetch): ObjectsClient {
  const at = (bucket: string, path: string) => `${BUCKET}${pathOf`/${bucket}`}/${encodedPath(path)}`
  const sign: ObjectsClient['sign'] = async (bucket, path, method, query = {}) => {
    const { _links } = await typed<{ readonly _links: ObjectLinks }>(
      http.json('GET', at(bucket, path), { query: { ...query, sign: method } }),
    )
    return Object.values(_links)[0] ?? { href: '' }
  }
  return {
    buckets: async () => (await typed<{ readonly buckets: readonly BucketAnswer[] }>(http.json('GET', BUCKET))).buckets,
    bucket: (bucket) => typed(http.json('GET', `${BUCKET}${pathOf`/${bucket}`}`)),
    list: (bucket, prefix = '', query = {}) => typed(http.json('GET', at(bucket, prefix), { query: { ...query } })),
    stat: (bucket, path) => typed(http.json('GET', at(bucket, path), { query: { stat: true } })),
    sign,
    get: async (bucket, path) => {
      const { href } = await sign(bucket, path, 'GET')
      return accepted(await fetch(href))
    },
    put: async (bucket, path, content, contentType = 'application/octet-stream') => {
      const { href } = await sign(bucket, path, 'PUT')
      // fetch accepts a view of any buffer, contrary to its type
      const body = typeof content === 'string' ? content : (content as Uint8Array<ArrayBuffer>)
      await accepted(await fetch(href, { method: 'PUT', headers: { 'content-type': contentType }, body }))
    },
    putFolder: (bucket, path, query = {}) =>
      typed(http.json('PUT', at(bucket, `${path.replace(/\/$/, '')}/`), { query: { ...query } })),
    copy: (bucket, target, source, query = {}) =>
      typed(http.json('PUT', at(bucket, target), { query: { ...query, source } })),
    remove: async (bucket, path, query = {}) => {
      const answer = await typed<{ readonly removed_count?: number }>(
        http.json('DELETE', at(bucket, path), { query: { ...query } }),
      )
      return answer.removed_count ?? 1
    },
  }
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response
  const text = await response.text()
  const message = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? `${response.status} ${response.statusText}`
  const code = response.status === 404 ? 'NOT_FOUND' : response.status === 403 ? 'FORBIDDEN' : 'VALIDATION'
  throw new AppError(response.status >= 500 ? 'INTERNAL' : code, message)
}

export interface SubscriptionsClient {
  list(bucket: string, query?: SubscriptionQuery): Promise<readonly Subscription[]>
  get(bucket: string, id: string): Promise<Subscription>
  create(bucket: string, subscription: object): Promise<Subscription>
  put(bucket: string, id: string, subscription: object): Promise<Subscription>
  remove(bucket: string, id: string): Promise<void>
  removeAll(bucket: string, query?: SubscriptionQuery): Promise<void>
  deliveries(bucket: string, id: string, query?: { readonly state?: DeliveryState }): Promise<readonly Delivery[]>
  readonly transfers: TransfersClient
}

export interface TransfersClient {
  imports(query?: TransferQuery): Promise<readonly ImportInfo[]>
  import(id: string): Promise<ImportInfo>
  startExport(request: object): Promise<ExportInfo>
  export(id: string): Promise<ExportInfo>
}

export function subscriptionsClient(http: Http): SubscriptionsClient {
  const at = (bucket: string) => `${BASE}${pathOf`/subscription/${bucket}`}`
  const one = (bucket: string, id: string) => `${BASE}${pathOf`/subscription/${bucket}/${id}`}`
  const listed = async <T>(path: string, query: object, name: string): Promise<readonly T[]> =>
    (await typed<Readonly<Record<string, readonly T[]>>>(http.json('GET', path, { query: { ...query } })))[name] ?? []
  return {
    list: (bucket, query = {}) => listed(at(bucket), query, 'subscriptions'),
    get: (bucket, id) => typed(http.json('GET', one(bucket, id))),
    create: (bucket, body) => typed(http.json('POST', at(bucket), { body })),
    put: (bucket, id, body) => typed(http.json('PUT', one(bucket, id), { body })),
    remove: async (bucket, id) => void (await http.json('DELETE', one(bucket, id))),
    removeAll: async (bucket, query = {}) => void (await http.json('DELETE', at(bucket), { query: { ...query } })),
    deliveries: (bucket, id, query = {}) => listed(`${one(bucket, id)}/deliveries`, query, 'deliveries'),
    transfers: {
      imports: (query = {}) => listed(`${BASE}/import`, query, 'imports'),
      import: (id) => typed(http.json('GET', `${BASE}${pathOf`/import/${id}`}`)),
      startExport: (body) => typed(http.json('POST', `${BASE}/export`, { body })),
      export: (id) => typed(http.json('GET', `${BASE}${pathOf`/export/${id}`}`)),
    },
  }
}
