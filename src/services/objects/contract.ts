/**
 * Object storage: buckets of a tenant, objects by path, signed addresses, and the changes of objects.
 *
 * A content is placed first, under a new id and with a document that marks it as orphaned. One commit then holds the
 * record of the object, its change (an entry of the log `object_changes`) and the end of that document; a replaced or
 * removed content becomes an orphan in the same commit. A crash leaves all of it or nothing, and the sweep deletes
 * orphans. A reader of the log stores its position with its own work: it may see a change twice, and never misses one.
 *
 * OBJECT-1 replacing, copying, moving and removing an object are atomic: readers see the old object or the new one
 * OBJECT-2 every change of an object is an entry of the tenant's log in the same commit, at positions 1, 2, 3 ...
 *   without gaps, in commit order
 * OBJECT-3 orphaned contents are deleted: those of aborted uploads, and replaced and removed ones
 * OBJECT-4 a rejected removal removes nothing
 * OBJECT-5 a signed address permits one method on one path (a form: on paths with its prefix) until it expires, and
 *   never more than its signer's rights
 * OBJECT-6 the host buffers a bounded part of a content
 * OBJECT-7 no method and no address reaches an object of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FORBIDDEN` (a missing right, or a hidden path
 * without `all`), `CONFLICT` (a folder that is not empty, an object replaced while it was read), `PRECONDITION`,
 * `TOO_LARGE`, `SUPERSEDED` (of rules alone), `STORE`, `UNAVAILABLE` (the store of contents does not answer), `CLOSED`.
 */
import type { EffectOfTask } from '#services/shared/contract'
import type { Write } from '#storage'
import type { METHODS } from './object-schema.ts'

/** bytes of one content */
export const MAX_OBJECT_BYTES = 5 * 1_073_741_824
/** bytes of a path in UTF-8 */
export const MAX_PATH_BYTES = 1_024
export const DEFAULT_KEYS = 200
export const MAX_KEYS = 1_000
/** s that a signed address is valid by default, and at most */
export const DEFAULT_EXPIRY = 300
export const MAX_EXPIRY = 604_800
/** type of contents that are put without one */
export const DEFAULT_CONTENT_TYPE = 'binary/octet-stream'

/** Durable changes, oldest first, until their one reader trims them. */
export interface ObjectChanges {
  /** `limit`: 1 to 10,000, default 1,000 */
  read(after: number, limit?: number): Promise<readonly ObjectChange[]>
  /** First and last position in the log; `{ first: n + 1, last: n }` when it is empty. */
  bounds(): Promise<{ readonly first: number; readonly last: number }>
  /** Drops changes up to and including a position; positions are not reused. */
  trim(upTo: number): Promise<void>
}

/** A committed change, of hidden objects too. */
export interface ObjectChange {
  /** log position, from 1 without gaps */
  readonly position: number
  /** `put`: created or replaced */
  readonly event: 'put' | 'delete'
  readonly object: ObjectRecord
  readonly time: number
  readonly cause?: ObjectCause
}

/** The engine, as the reader of changes sees it. */
export interface ObjectForwarding {
  /** Commits the writes together with the inputs of the tasks that sense the change. */
  receive(change: ObjectChange, writes: readonly Write[]): Promise<unknown>
}

/** The rule that made a change. */
export interface ObjectCause extends EffectOfTask {
  readonly node: string
  readonly trigger?: string
  /** rules in the chain */
  readonly hops: number
  /** identifies everything that one external input caused */
  readonly root?: string
}

export type BucketRight = 'read' | 'write' | 'delete'

export interface ObjectBucket {
  /** in paths: `assets` */
  readonly alias: string
  /** unique on the host; signed addresses begin with it */
  readonly name: string
  readonly store: ObjectStore
  readonly rights: readonly BucketRight[]
  /** readable without a signature */
  readonly isPublic: boolean
  readonly hasSubscriptions: boolean
}

export interface ObjectStore {
  readonly type: string
  readonly name: string
  readonly url: string
}

export interface ObjectRecord {
  readonly bucket: string
  /** names joined by slashes; case and Unicode form are significant */
  readonly path: string
  readonly etag: string
  readonly size: number
  readonly contentType: string
  readonly modified: number
  readonly metadata?: Readonly<Record<string, string>>
  /** id in the store of contents; changes with the content */
  readonly content: string
}

/** Exists while an object is below it, be it the hidden `.folder` alone. */
export interface ObjectFolder {
  readonly bucket: string
  readonly path: string
  readonly isFolder: true
}

export interface ObjectListing {
  readonly entries: readonly (ObjectRecord | ObjectFolder)[]
  /** `startAfter` of the next page */
  readonly next?: string
}

export interface ListOptions {
  /** default: what is behind the next slash after the prefix is one folder */
  readonly recursive?: boolean | undefined
  /** default 200; above 1,000 it is 1,000 */
  readonly maxKeys?: number | undefined
  /** exclusive */
  readonly startAfter?: string | undefined
  readonly all?: boolean | undefined
}

export interface ByteRange {
  /** bytes, inclusive */
  readonly from: number
  readonly until?: number
}

/** What a write expects to find; all members must hold. */
export interface WriteCondition {
  /** etags, one of which the object has; `*`: any */
  readonly match?: readonly string[] | undefined
  /** etags that it does not have; `*`: the object does not exist */
  readonly noneMatch?: readonly string[] | undefined
  /** epoch ms of a whole second */
  readonly unmodifiedSince?: number | undefined
}

export interface PutOptions {
  readonly contentType?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** else `PRECONDITION` */
  readonly expect?: WriteCondition | undefined
  /** bytes, checked as early as they are known: `TOO_LARGE`, `VALIDATION` */
  readonly length?: LengthBounds
  /** of the rule: a repeated effect changes nothing, a late one is `SUPERSEDED` */
  readonly cause?: ObjectCause
}

export interface LengthBounds {
  /** bytes, inclusive */
  readonly min?: number | undefined
  readonly max?: number | undefined
}

export interface RemoveOptions {
  /** everything with the prefix */
  readonly recursive?: boolean | undefined
  /** with `recursive`: hidden objects too */
  readonly all?: boolean | undefined
  /** with `recursive`: at most this many, then `next` */
  readonly maxKeys?: number | undefined
  readonly startAfter?: string | undefined
}

export interface Removed {
  /** of objects without `.folder`, and of a named folder; the first 1,000 */
  readonly paths: readonly string[]
  readonly count: number
  readonly next?: string
}

export type SignedMethod = (typeof METHODS)[number]

export interface SignOptions {
  readonly method: SignedMethod
  /** an upload in parts: `new`, or the id of one */
  readonly upload?: string | undefined
  readonly part?: number | undefined
  /** s, 1 to 604,800; default 300 */
  readonly expiry?: number
  /** of a GET: browsers save it */
  readonly asAttachment?: boolean | undefined
  readonly contentType?: string | undefined
  readonly contentLength?: LengthBounds
  readonly all?: boolean | undefined
  /** default: the address of this host */
  readonly origin?: string
}

export interface SignedLink {
  readonly href: string
  readonly method: SignedMethod
  /** of a PUT with a fixed content type */
  readonly headers?: Readonly<Record<string, string>>
  /** of a POST; `file` is the last field */
  readonly formData?: Readonly<Record<string, string>>
}

export interface UploadedPart {
  readonly number: number
  readonly size: number
  readonly etag: string
  readonly modified: number
}

export interface PartPage {
  /** part number, exclusive */
  readonly after: number
  readonly limit: number
}

/** Uploads in parts. `NOT_FOUND` for one that was completed, aborted, or is a day old. */
export interface UploadsApi {
  /** `TOO_LARGE` beyond 1,000 open uploads. */
  begin(bucket: string, path: string, options?: Pick<PutOptions, 'contentType' | 'metadata'>): Promise<string>
  /** `number`: 1 to 10,000; replaces the part. */
  put(
    bucket: string,
    path: string,
    upload: string,
    part: { readonly number: number; readonly content: AsyncIterable<Uint8Array> },
  ): Promise<UploadedPart>
  /** `parts` in rising order. */
  complete(
    bucket: string,
    path: string,
    upload: string,
    parts: readonly Pick<UploadedPart, 'number' | 'etag'>[],
    options?: Pick<PutOptions, 'expect'>,
  ): Promise<ObjectRecord>
  abort(bucket: string, path: string, upload: string): Promise<void>
  list(bucket: string, path: string, upload: string, page: PartPage): Promise<readonly UploadedPart[]>
}

/** `bucket`: alias or name; leading slashes of a path are ignored. */
export interface ObjectsApi {
  /** `NOT_FOUND` for an unknown store. */
  buckets(store?: string): Promise<readonly ObjectBucket[]>
  bucket(bucket: string, store?: string): Promise<ObjectBucket>
  list(bucket: string, prefix: string, options?: ListOptions): Promise<ObjectListing>
  /** A path with a slash at its end is a folder. `NOT_FOUND` */
  stat(bucket: string, path: string): Promise<ObjectRecord | ObjectFolder>
  /** `CONFLICT` when the object was replaced or removed meanwhile. */
  read(record: ObjectRecord, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
  /** Replaces atomically; a content that fails leaves nothing. */
  put(
    bucket: string,
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: PutOptions,
  ): Promise<ObjectRecord>
  /** Creates `.folder` in it, unless it exists. */
  putFolder(bucket: string, path: string, options?: { readonly all?: boolean | undefined }): Promise<ObjectFolder>
  /** Within a bucket. `move`: removes the source in the same commit. */
  copy(
    bucket: string,
    target: string,
    source: string,
    options?: { readonly move?: boolean | undefined },
  ): Promise<ObjectRecord>
  remove(bucket: string, path: string, options?: RemoveOptions): Promise<Removed>
  readonly uploads: UploadsApi
  /** The path need not exist. */
  sign(bucket: string, path: string, options: SignOptions): Promise<SignedLink>
  /** An entry in answers, with links by the caller's rights. */
  show(entry: ObjectRecord | ObjectFolder, origin?: string): Readonly<Record<string, unknown>>
}

/** Whether its own name begins with a dot. */
export function isHidden(path: string): boolean {
  return path.startsWith('.', path.lastIndexOf('/', path.length - 2) + 1)
}

/** Contents of one tenant under ids that are never reused, in blobs of its store or in S3. */
export interface ContentStore {
  readonly shown: ObjectStore
  /** Durable when it resolves; `remove` cleans up after a failure. */
  put(id: string, content: AsyncIterable<Uint8Array>, options: { readonly contentType: string }): Promise<StoredContent>
  /** Stays readable when it is removed meanwhile. */
  open(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>
  /** False without the source. */
  copy(source: string, target: string): Promise<boolean>
  /** Idempotent. */
  remove(id: string): Promise<void>
}

/** A store of contents that all tenants of a host share. */
export interface SharedContents {
  of(tenant: string): ContentStore
  close(): void
}

export interface StoredContent {
  readonly size: number
  readonly etag: string
}
