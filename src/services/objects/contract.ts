/**
 * Object storage: buckets of a tenant, objects by path, signed addresses, and the changes of objects.
 *
 * A content is stored first, under a new id and with a document that marks it as orphaned. One commit then writes the
 * record of the object and its change (an entry of the log `object_changes`), and deletes that document; a replaced or
 * removed content becomes an orphan in the same commit. After a crash, either all of this is stored or nothing, and the
 * sweep deletes orphans. A reader of the log stores its position together with its own work, so it may see a change
 * twice but never misses a change.
 *
 * OBJECT-1 replacing, copying, moving and removing an object are atomic: readers see the old object or the new one
 * OBJECT-2 every change of an object is an entry of the tenant's log in the same commit, at positions 1, 2, 3 ...
 *   without gaps, in commit order
 * OBJECT-3 orphaned contents are deleted: contents of aborted uploads, and contents that were replaced or removed
 * OBJECT-4 a rejected removal removes nothing
 * OBJECT-5 a signed address permits one method on one path (a form: on paths with its prefix) until it expires, and
 *   never more than its signer's rights
 * OBJECT-6 the host buffers only a limited part of a content
 * OBJECT-7 no method or address grants access to an object of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FORBIDDEN` (a missing right, or a hidden
 * path without `all`), `CONFLICT` (a folder that is not empty, an object replaced while it was read), `PRECONDITION`,
 * `TOO_LARGE`, `SUPERSEDED` (only for rules), `STORE`, `UNAVAILABLE` (the content store does not respond), `CLOSED`.
 */
import type { EffectOfTask } from '#services/shared/contract'
import type { Write } from '#storage'
import type { METHODS } from './object-schema.ts'

/** largest content in bytes */
export const MAX_OBJECT_BYTES = 5 * 1_073_741_824
/** longest path in bytes of UTF-8 */
export const MAX_PATH_BYTES = 1_024
export const DEFAULT_KEYS = 200
export const MAX_KEYS = 1_000
/** seconds for which a signed address is valid: default and maximum */
export const DEFAULT_EXPIRY = 300
export const MAX_EXPIRY = 604_800
/** type of contents that are stored without a type */
export const DEFAULT_CONTENT_TYPE = 'binary/octet-stream'

/** The log of committed changes, oldest first, kept until the single reader trims them. */
export interface ObjectChanges {
  /** `limit`: 1 to 10,000, default 1,000 */
  read(after: number, limit?: number): Promise<readonly ObjectChange[]>
  /** Returns the first and last position in the log; `{ first: n + 1, last: n }` when the log is empty. */
  bounds(): Promise<{ readonly first: number; readonly last: number }>
  /** Drops changes up to and including a position. Positions are never reused. */
  trim(upTo: number): Promise<void>
}

/** A committed change of an object, hidden objects included. */
export interface ObjectChange {
  /** log position, counted from 1 without gaps */
  readonly position: number
  /** `put`: created or replaced */
  readonly event: 'put' | 'delete'
  readonly object: ObjectRecord
  readonly time: number
  readonly cause?: ObjectCause
}

/** The part of the engine that the reader of changes uses. */
export interface ObjectForwarding {
  /** Commits the writes together with inputs for the tasks that watch the object. */
  receive(change: ObjectChange, writes: readonly Write[]): Promise<unknown>
}

/** The rule that made a change. */
export interface ObjectCause extends EffectOfTask {
  readonly node: string
  readonly trigger?: string
  /** number of rules in the chain so far */
  readonly hops: number
  /** id shared by everything that one external input caused */
  readonly root?: string
}

export type BucketRight = 'read' | 'write' | 'delete'

export interface ObjectBucket {
  /** name used in paths, such as `assets` */
  readonly alias: string
  /** name that is unique on the host, and that signed addresses begin with */
  readonly name: string
  readonly store: ObjectStore
  readonly rights: readonly BucketRight[]
  /** contents can be read without a signature */
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
  /** names joined by slashes; case and Unicode form matter */
  readonly path: string
  readonly etag: string
  readonly size: number
  readonly contentType: string
  readonly modified: number
  readonly metadata?: Readonly<Record<string, string>>
  /** id of the content in its store; a new content gets a new id */
  readonly content: string
}

/** A folder exists while an object is below it, even if only the hidden `.folder`. */
export interface ObjectFolder {
  readonly bucket: string
  readonly path: string
  readonly isFolder: true
}

export interface ObjectListing {
  readonly entries: readonly (ObjectRecord | ObjectFolder)[]
  /** pass as `startAfter` to get the next page */
  readonly next?: string
}

export interface ListOptions {
  /** list all levels; by default, everything below the next slash after the prefix is one folder */
  readonly recursive?: boolean | undefined
  /** maximum number of keys in a page; default 200, capped at 1,000 */
  readonly maxKeys?: number | undefined
  /** list the objects after this key */
  readonly startAfter?: string | undefined
  readonly all?: boolean | undefined
}

export interface ByteRange {
  /** bytes, inclusive */
  readonly from: number
  readonly until?: number
}

/** What must hold before a write; all given members are checked. */
export interface WriteCondition {
  /** the object must have one of these etags; `*`: the object must exist */
  readonly match?: readonly string[] | undefined
  /** the object must have none of these etags; `*`: the object must not exist */
  readonly noneMatch?: readonly string[] | undefined
  /** epoch ms of a whole second */
  readonly unmodifiedSince?: number | undefined
}

export interface PutOptions {
  readonly contentType?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** condition for the write; otherwise `PRECONDITION` */
  readonly expect?: WriteCondition | undefined
  /** size limits in bytes, checked as early as possible: `TOO_LARGE`, `VALIDATION` */
  readonly length?: LengthBounds
  /** the rule that caused the write: a repeated effect changes nothing, a late effect is `SUPERSEDED` */
  readonly cause?: ObjectCause
}

export interface LengthBounds {
  /** bytes, inclusive */
  readonly min?: number | undefined
  readonly max?: number | undefined
}

export interface RemoveOptions {
  /** remove everything with the prefix */
  readonly recursive?: boolean | undefined
  /** with `recursive`: remove hidden objects too */
  readonly all?: boolean | undefined
  /** with `recursive`: remove at most this many, and return `next` */
  readonly maxKeys?: number | undefined
  readonly startAfter?: string | undefined
}

export interface Removed {
  /** paths of removed objects (except `.folder`) and of the folder that was named; the first 1,000 */
  readonly paths: readonly string[]
  readonly count: number
  readonly next?: string
}

export type SignedMethod = (typeof METHODS)[number]

export interface SignOptions {
  readonly method: SignedMethod
  /** for an upload in parts: `new`, or the id of the upload */
  readonly upload?: string | undefined
  readonly part?: number | undefined
  /** seconds, 1 to 604,800; default 300 */
  readonly expiry?: number
  /** for a GET: makes browsers save the content as a file */
  readonly asAttachment?: boolean | undefined
  readonly contentType?: string | undefined
  /** for a PUT: the metadata that it must have */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly contentLength?: LengthBounds
  readonly all?: boolean | undefined
  /** origin of the address; default: that of this host */
  readonly origin?: string
}

export interface SignedLink {
  readonly href: string
  readonly method: SignedMethod
  /** headers to send with a PUT whose content type is fixed */
  readonly headers?: Readonly<Record<string, string>>
  /** fields to send with a POST; `file` must be the last field */
  readonly formData?: Readonly<Record<string, string>>
}

export interface UploadedPart {
  readonly number: number
  readonly size: number
  readonly etag: string
  readonly modified: number
}

export interface PartPage {
  /** list parts after this part number */
  readonly after: number
  readonly limit: number
}

/** Uploads in parts. Methods throw `NOT_FOUND` for an upload that was completed, aborted, or is older than a day. */
export interface UploadsApi {
  /** Begins an upload and returns its id. Throws `TOO_LARGE` beyond 1,000 open uploads. */
  begin(bucket: string, path: string, options?: Pick<PutOptions, 'contentType' | 'metadata'>): Promise<string>
  /** Stores a part, replacing any part with the same number. `number`: 1 to 10,000. */
  put(
    bucket: string,
    path: string,
    upload: string,
    part: { readonly number: number; readonly content: AsyncIterable<Uint8Array> },
  ): Promise<UploadedPart>
  /** Completes an upload. `parts` must be in ascending order. */
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

/** `bucket` is an alias or a name. Leading slashes of a path are ignored. */
export interface ObjectsApi {
  /** Throws `NOT_FOUND` for an unknown store. */
  buckets(store?: string): Promise<readonly ObjectBucket[]>
  bucket(bucket: string, store?: string): Promise<ObjectBucket>
  list(bucket: string, prefix: string, options?: ListOptions): Promise<ObjectListing>
  /** A path that ends with a slash is a folder. Throws `NOT_FOUND`. */
  stat(bucket: string, path: string): Promise<ObjectRecord | ObjectFolder>
  /** Reads a content. Throws `CONFLICT` when the object was replaced or removed meanwhile. */
  read(record: ObjectRecord, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
  /** Creates or replaces an object atomically. A failed transfer stores nothing. */
  put(
    bucket: string,
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: PutOptions,
  ): Promise<ObjectRecord>
  /** Creates the folder by creating `.folder` in it, unless that exists. */
  putFolder(bucket: string, path: string, options?: { readonly all?: boolean | undefined }): Promise<ObjectFolder>
  /** Copies an object within its bucket. `move`: removes the source in the same commit. */
  copy(
    bucket: string,
    target: string,
    source: string,
    options?: { readonly move?: boolean | undefined },
  ): Promise<ObjectRecord>
  remove(bucket: string, path: string, options?: RemoveOptions): Promise<Removed>
  readonly uploads: UploadsApi
  /** Signs an address. The path need not exist. */
  sign(bucket: string, path: string, options: SignOptions): Promise<SignedLink>
  /** Formats an entry for a response, with the links that the caller may use. */
  show(entry: ObjectRecord | ObjectFolder, origin?: string): Readonly<Record<string, unknown>>
}

/** True when the last name in the path begins with a dot. */
export function isHidden(path: string): boolean {
  return path.startsWith('.', path.lastIndexOf('/', path.length - 2) + 1)
}

/** Stores the contents of one tenant under ids that are never reused, as blobs or in S3. */
export interface ContentStore {
  readonly shown: ObjectStore
  /** Stores a content, durable once this resolves. After a failure, call `remove`. */
  put(id: string, content: AsyncIterable<Uint8Array>, options: { readonly contentType: string }): Promise<StoredContent>
  /** Opens a content, which stays readable even if removed meanwhile. */
  open(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Copies a content. Returns false when the source does not exist. */
  copy(source: string, target: string): Promise<boolean>
  /** Removes a content; idempotent. */
  remove(id: string): Promise<void>
}

/** A content store that all tenants of a host share. */
export interface SharedContents {
  of(tenant: string): ContentStore
  close(): void
}

export interface StoredContent {
  readonly size: number
  readonly etag: string
}
