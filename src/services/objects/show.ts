/** Formats buckets and objects for responses, with the links that the caller may use. */
import { DEFAULT_EXPIRY, type BucketRight, type ObjectBucket, type SignedLink } from './contract.ts'
import { isFolder, type ObjectEntry } from './object-table.ts'
import { encodedPath, percentEncoded } from './signing/sigv4.ts'

export const BASE = '/storage/v1'

type Wire = Readonly<Record<string, unknown>>
export function bucketHref(origin: string, bucket: string, path?: string): string {
  return `${origin}${BASE}/bucket/${percentEncoded(bucket)}${path === undefined ? '' : `/${encodedPath(path)}`}`
}

export function signHref(origin: string, bucket: string, path: string, method: SignedLink['method']): string {
  return `${bucketHref(origin, bucket, path)}?sign=${method}&expiry_seconds=${DEFAULT_EXPIRY}`
}

/** `store`: the whole record in a list, otherwise only its name. */
export function shownBucket(bucket: ObjectBucket, origin: string, store: 'record' | 'name'): Wire {
  const { alias, name } = bucket
  return {
    _links: {
      self: { href: bucketHref(origin, alias) },
      list: { href: bucketHref(origin, alias, '') },
      ...permitted(bucket, 'write', { sign_post: { href: signHref(origin, alias, '', 'POST') } }),
      ...(bucket.hasSubscriptions && {
        subscriptions: { href: `${origin}${BASE}/subscription/${percentEncoded(alias)}` },
      }),
      store: { href: `s3://${name}` },
    },
    alias,
    name,
    store: store === 'record' ? bucket.store : bucket.store.name,
  }
}

/** `full`: includes the content type. */
export function shownEntry(entry: ObjectEntry, bucket: ObjectBucket, origin: string, full: boolean): Wire {
  const { alias, name } = bucket
  const about = {
    bucket: { _links: { self: { href: bucketHref(origin, alias) } }, alias, name },
    name: entry.path,
  }
  const remove = permitted(bucket, 'delete', {
    remove: { href: bucketHref(origin, alias, entry.path), method: 'DELETE' },
  })
  const self = { href: `${bucketHref(origin, alias, entry.path)}?stat=true` }
  const sign = (method: SignedLink['method']) => ({ href: signHref(origin, alias, entry.path, method) })
  if (isFolder(entry)) {
    const list = { href: bucketHref(origin, alias, entry.path) }
    const writing = permitted(bucket, 'write', { sign_post: sign('POST'), sign_put: sign('PUT') })
    return { _links: { self, list, ...writing, ...remove }, ...about, etag: '', size: 0, is_dir: true }
  }
  return {
    _links: {
      self,
      ...permitted(bucket, 'read', { sign_get: sign('GET') }),
      ...permitted(bucket, 'write', { sign_put: sign('PUT') }),
      ...(bucket.isPublic && { get: { href: contentHref(origin, name, entry.path) } }),
      ...remove,
    },
    ...about,
    last_modified: shownTime(entry.modified),
    etag: entry.etag,
    size: entry.size,
    ...(full && { content_type: entry.contentType }),
    is_dir: false,
  }
}

export function contentHref(origin: string, bucketName: string, path: string): string {
  return `${origin}/${percentEncoded(bucketName)}/${encodedPath(path)}`
}

export function shownTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+00:00`
}

function permitted<T extends object>(
  { rights }: ObjectBucket,
  right: BucketRight,
  links: T,
): T | Record<string, never> {
  return rights.includes(right) ? links : {}
}
