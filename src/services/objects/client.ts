/** Object storage over fetch: links and records as answers have them; contents go by signed addresses. */
import { AppError } from '#kernel'
import { type Http, pathOf, typed } from '#services/shared/client'
import type { SignedMethod } from './contract.ts'

export { subscriptionsClient, type SubscriptionsClient } from './client/subscriptions-client.ts'

const BASE = '/storage/v1/bucket'

export interface ObjectLink {
  readonly href: string
  /** GET unless said otherwise */
  readonly method?: string
  /** what must be sent with it */
  readonly headers?: Readonly<Record<string, string>>
  /** fields of a form, to which `file` comes last */
  readonly form_data?: Readonly<Record<string, string>>
}

export type ObjectLinks = Readonly<Record<string, ObjectLink>>

export interface BucketAnswer {
  readonly _links: ObjectLinks
  readonly alias: string
  readonly name: string
}

/** An object, or with `is_dir` a folder. */
export interface ObjectAnswer {
  readonly _links: ObjectLinks
  readonly name: string
  readonly etag: string
  /** bytes */
  readonly size: number
  readonly is_dir: boolean
  /** ISO 8601 */
  readonly last_modified?: string
  readonly content_type?: string
}

export interface ListingAnswer {
  readonly _links: ObjectLinks
  readonly objects: readonly ObjectAnswer[]
}

export interface ListQuery {
  readonly recursive?: boolean
  /** default 200, at most 1,000 */
  readonly max_keys?: number
  readonly start_after?: string
  /** hidden objects too */
  readonly all?: boolean
}

export interface SignQuery {
  readonly expiry_seconds?: number
  readonly expiry_hours?: number
  readonly expiry_days?: number
  readonly get_as_attachment?: boolean
  readonly content_type?: string
  /** of an upload in parts: `new` with POST, else its id */
  readonly upload?: string
  readonly part?: number
  readonly content_length_min?: number
  readonly content_length_max?: number
  readonly all?: boolean
}

/** What the caller behind the credentials can do. `path` has no slash at its start; a folder has one at its end. */
export interface ObjectsClient {
  buckets(): Promise<readonly BucketAnswer[]>
  bucket(bucket: string): Promise<BucketAnswer>
  list(bucket: string, prefix?: string, query?: ListQuery): Promise<ListingAnswer>
  /** Throws `NOT_FOUND`. */
  stat(bucket: string, path: string): Promise<ObjectAnswer>
  sign(bucket: string, path: string, method: SignedMethod, query?: SignQuery): Promise<ObjectLink>
  /** The answer whose body is the content; throws `NOT_FOUND`. */
  get(bucket: string, path: string): Promise<Response>
  put(bucket: string, path: string, content: Uint8Array | string, contentType?: string): Promise<void>
  putFolder(bucket: string, path: string, query?: { readonly all?: boolean }): Promise<ObjectAnswer>
  /** To `target`, in the same bucket. */
  copy(bucket: string, target: string, source: string, query?: { readonly move?: boolean }): Promise<ObjectAnswer>
  /** Gives how many objects are gone. */
  remove(
    bucket: string,
    path: string,
    query?: { readonly recursive?: boolean; readonly all?: boolean },
  ): Promise<number>
}

/** Errors are the same AppErrors, as far as the wire tells them apart. `fetch`: that which the client was given. */
export function objectsClient(http: Http, fetch: typeof globalThis.fetch = globalThis.fetch): ObjectsClient {
  const at = (bucket: string, path: string) => `${BASE}${pathOf`/${bucket}`}/${encodedPath(path)}`
  const sign: ObjectsClient['sign'] = async (bucket, path, method, query = {}) => {
    const { _links } = await typed<{ readonly _links: ObjectLinks }>(
      http.json('GET', at(bucket, path), { query: { ...query, sign: method } }),
    )
    return Object.values(_links)[0] ?? { href: '' }
  }
  return {
    buckets: async () => (await typed<{ readonly buckets: readonly BucketAnswer[] }>(http.json('GET', BASE))).buckets,
    bucket: (bucket) => typed(http.json('GET', `${BASE}${pathOf`/${bucket}`}`)),
    list: (bucket, prefix = '', query = {}) => typed(http.json('GET', at(bucket, prefix), { query: { ...query } })),
    stat: (bucket, path) => typed(http.json('GET', at(bucket, path), { query: { stat: true } })),
    sign,
    get: async (bucket, path) => {
      const { href } = await sign(bucket, path, 'GET')
      return accepted(await fetch(href))
    },
    put: async (bucket, path, content, contentType = 'application/octet-stream') => {
      const { href } = await sign(bucket, path, 'PUT')
      // bytes of a view may be of any buffer
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

/** Throws what a signed address answers; those speak XML. */
async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response
  const text = await response.text()
  const message = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? `${response.status} ${response.statusText}`
  const code = response.status === 404 ? 'NOT_FOUND' : response.status === 403 ? 'FORBIDDEN' : 'VALIDATION'
  throw new AppError(response.status >= 500 ? 'INTERNAL' : code, message)
}
