/**
 * Object storage as others see it: buckets of a tenant, objects by path, signed addresses, and the changes of both.
 *
 * How a change is kept. The content of an object is placed in a store of contents first, under an id that is never used
 * again and that a document says nobody refers to yet. One commit then holds the record of the object (a document), the
 * change (an entry of the tenant's log `object_changes`) and the end of that document; for content that was replaced or
 * removed it holds such a document anew. After a crash at any place there is either all of it or none, and content that
 * nobody refers to is found by its document and taken away. Whoever hands changes on reads the log after a position
 * that it stores with its own work: it may see a change twice, and never misses one.
 *
 * OBJECT-1 an object is replaced, copied, moved or removed whole or not at all: readers see the old one or the new one
 * OBJECT-2 every change of an object is an entry of the tenant's log in the same commit, at positions 1, 2, 3 ...
 *   without gaps, in the order in which the changes took effect
 * OBJECT-3 content that no record refers to goes: what an upload left that broke off, what was replaced or removed
 * OBJECT-4 a removal that is refused removes nothing
 * OBJECT-5 a signed address opens one method on one path (of a form: on what begins with it) until its time is over,
 *   and nothing else; it never opens more than whoever signed it may do
 * OBJECT-6 the host holds a bounded part of a content, however large it is
 * OBJECT-7 no method and no address reaches an object of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FORBIDDEN` (the bucket does not let the caller,
 * or a hidden path without `all`), `CONFLICT` (a folder that is not empty, an object replaced while it was read),
 * `PRECONDITION` (another object is there than was expected), `TOO_LARGE`, `SUPERSEDED` (of rules alone), `STORE`,
 * `UNAVAILABLE` (the store of contents does not answer), `CLOSED`.
 */
import type { EffectOfTask } from '#services/shared/contract'
import type { Caller } from '#kernel'
import type { Write } from '#storage'
import type { METHODS } from './object-schema.ts'

/** bytes of one content */
export const MAX_OBJECT_BYTES = 5 * 1_073_741_824
/** bytes of a path in UTF-8 */
export const MAX_PATH_BYTES = 1_024
/** objects of one page */
export const DEFAULT_KEYS = 200
export const MAX_KEYS = 1_000
/** s: how long a signed address is good when nobody says, and at most */
export const DEFAULT_EXPIRY = 300
export const MAX_EXPIRY = 604_800
/** what is stored without a content type */
export const DEFAULT_CONTENT_TYPE = 'binary/octet-stream'

/** The objects of one tenant, for the other services of the host. */
export interface InternalObjects {
  /** With the rights of users. */
  as(caller: Caller): ObjectsApi
  /** With every right on every bucket. */
  readonly inside: ObjectsApi
  readonly changes: ObjectChanges
  /** Notifies of commits in this process, not of changes before a restart. Returns what unsubscribes. */
  onChanges(listener: () => void): () => void
  start(): Promise<void>
  stop(): Promise<void>
  /** Resolves when contents that nobody refers to have been looked for, and no change is after that. */
  settled(): Promise<void>
  gauges(): ObjectsGauges
}

export interface ObjectsGauges {
  /** contents on their way in */
  readonly uploads: number
  /** totals since the start */
  readonly put: number
  readonly removed: number
}

/**
 * The durable changes of one tenant, oldest first. One reader hands them on, and trims what it is done with: what is not
 * trimmed stays.
 */
export interface ObjectChanges {
  /** Those after a position; `limit` 1 to 10,000, default 1,000. */
  read(after: number, limit?: number): Promise<readonly ObjectChange[]>
  /** First and last position that are kept; `{ first: n + 1, last: n }` when none is. */
  bounds(): Promise<{ readonly first: number; readonly last: number }>
  /** Forgets changes up to and with a position. Positions are never used again. */
  trim(upTo: number): Promise<void>
}

/** A change that took effect. Those of hidden objects (`isHidden`) are among them. */
export interface ObjectChange {
  /** log position, from 1 without gaps */
  readonly position: number
  /** `put`: there is new content, or an object where none was; `delete`: it is gone */
  readonly event: 'put' | 'delete'
  /** the object as it is now; of a `delete`, as it was */
  readonly object: ObjectRecord
  /** epoch ms */
  readonly time: number
  /** of a change that rules made */
  readonly cause?: ObjectCause
}

/** What whoever hands changes on asks of the engine. */
export interface ObjectForwarding {
  /** Commits the writes whole with the inputs of the tasks that hear of the change; without such tasks the writes alone. */
  receive(change: ObjectChange, writes: readonly Write[]): Promise<unknown>
}

/** The rule behind a change. */
export interface ObjectCause extends EffectOfTask {
  readonly node: string
  readonly trigger?: string
  /** rules in a row that led to it */
  readonly hops: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
}

export type BucketRight = 'read' | 'write' | 'delete'

export interface ObjectBucket {
  /** as paths have it: `assets` */
  readonly alias: string
  /** unique among all tenants; what signed addresses begin with */
  readonly name: string
  readonly store: ObjectStore
  /** what the caller may do with its objects */
  readonly rights: readonly BucketRight[]
  /** whether anybody may read its objects without a signature */
  readonly isPublic: boolean
  /** whether there are subscriptions on it */
  readonly hasSubscriptions: boolean
}

/** Where contents are kept, as answers show it. */
export interface ObjectStore {
  readonly type: string
  readonly name: string
  readonly url: string
}

export interface ObjectRecord {
  /** alias of its bucket */
  readonly bucket: string
  /** names joined by slashes, as it was written: case and Unicode forms count */
  readonly path: string
  /** MD5 of the content in hex */
  readonly etag: string
  /** bytes */
  readonly size: number
  readonly contentType: string
  /** epoch ms */
  readonly modified: number
  /** names in lower case, as `x-amz-meta-` headers have them */
  readonly metadata?: Readonly<Record<string, string>>
  /** id of its content in the store of contents; another one whenever the content is */
  readonly content: string
}

/** What is on the way to objects: it exists while they do, or its hidden `.folder`. */
export interface ObjectFolder {
  readonly bucket: string
  /** ends in a slash */
  readonly path: string
  readonly isFolder: true
}

export interface ObjectListing {
  /** by path in byte order */
  readonly entries: readonly (ObjectRecord | ObjectFolder)[]
  /** as `startAfter` of the next page; absent on the last one */
  readonly next?: string
}

export interface ListOptions {
  /** without it, what is behind the next slash after the prefix is one folder */
  readonly recursive?: boolean | undefined
  /** default 200; above 1,000 it is 1,000 */
  readonly maxKeys?: number | undefined
  /** entries behind this path only */
  readonly startAfter?: string | undefined
  /** hidden objects too */
  readonly all?: boolean | undefined
}

export interface ByteRange {
  /** bytes, both included */
  readonly from: number
  readonly until?: number
}

/** What must be there for a write to count; all that is given must hold. */
export interface WriteCondition {
  /** the object has one of these etags; `*`: there is one */
  readonly match?: readonly string[] | undefined
  /** it has none of these; `*`: there is none */
  readonly noneMatch?: readonly string[] | undefined
  /** it was not changed after this, epoch ms of a whole second */
  readonly unmodifiedSince?: number | undefined
}

export interface PutOptions {
  readonly contentType?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** else `PRECONDITION` */
  readonly expect?: WriteCondition | undefined
  /** bytes that content must have, both included, else `TOO_LARGE` or `VALIDATION`; it is told as early as it is known */
  readonly length?: LengthBounds
  /** the rule behind it: the same effect again changes nothing, and one that comes late is `SUPERSEDED` */
  readonly cause?: ObjectCause
}

export interface LengthBounds {
  /** bytes, both included */
  readonly min?: number | undefined
  readonly max?: number | undefined
}

export interface RemoveOptions {
  /** everything that begins with the path */
  readonly recursive?: boolean | undefined
  /** with `recursive`: hidden objects too */
  readonly all?: boolean | undefined
  /** with `recursive`: at most so many objects, and `next` when there are more */
  readonly maxKeys?: number | undefined
  readonly startAfter?: string | undefined
}

export interface Removed {
  /** of objects, `.folder` left out, and of the folder that was named; the first 1,000 */
  readonly paths: readonly string[]
  /** how many there were */
  readonly count: number
  readonly next?: string
}

export type SignedMethod = (typeof METHODS)[number]

export interface SignOptions {
  readonly method: SignedMethod
  /**
   * An upload in parts. `new`: a POST begins it. Its id: a PUT with `part` sends a part, a POST completes it, a DELETE
   * aborts it, a GET lists its parts
   */
  readonly upload?: string | undefined
  /** 1 to 10,000 */
  readonly part?: number | undefined
  /** s, 1 to 604,800; default 300 */
  readonly expiry?: number
  /** of a GET: browsers save it under its name */
  readonly asAttachment?: boolean | undefined
  /** of an upload: what its content type must be */
  readonly contentType?: string | undefined
  /** of an upload */
  readonly contentLength?: LengthBounds
  /** a hidden path too */
  readonly all?: boolean | undefined
  /** what the address begins with, such as `https://host:8080`; default: where this host is reached */
  readonly origin?: string
}

export interface SignedLink {
  readonly href: string
  readonly method: SignedMethod
  /** of a PUT whose content type is fixed: what must be sent */
  readonly headers?: Readonly<Record<string, string>>
  /** of a POST: fields of the form, to which `file` comes last */
  readonly formData?: Readonly<Record<string, string>>
}

/** A part of an upload. */
export interface UploadedPart {
  readonly number: number
  readonly size: number
  /** MD5 in hex */
  readonly etag: string
  /** epoch ms */
  readonly modified: number
}

export interface PartPage {
  /** those of higher numbers */
  readonly after: number
  readonly limit: number
}

/** An upload in parts, by the id that `begin` gave. `NOT_FOUND` when it was completed, aborted, or is a day old. */
export interface UploadsApi {
  /** `TOO_LARGE` when a tenant has 1,000 of them open. */
  begin(bucket: string, path: string, options?: Pick<PutOptions, 'contentType' | 'metadata'>): Promise<string>
  /** Replaces the part of that number, 1 to 10,000. */
  put(
    bucket: string,
    path: string,
    upload: string,
    part: { readonly number: number; readonly content: AsyncIterable<Uint8Array> },
  ): Promise<UploadedPart>
  /** Makes the object of these parts, named in rising order. */
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

/** `bucket` is an alias or a name; `path` is read as an address has it: slashes at its start do not count. */
export interface ObjectsApi {
  /** By alias. `NOT_FOUND` for a store that is not there. */
  buckets(store?: string): Promise<readonly ObjectBucket[]>
  bucket(bucket: string, store?: string): Promise<ObjectBucket>
  /** What begins with a path, which may be empty. */
  list(bucket: string, prefix: string, options?: ListOptions): Promise<ObjectListing>
  /** An object, or with a slash at the end a folder. `NOT_FOUND`. */
  stat(bucket: string, path: string): Promise<ObjectRecord | ObjectFolder>
  /** The content of a record: `CONFLICT` when the object was replaced or removed before it was opened. */
  read(record: ObjectRecord, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
  /** Replaces whole or not at all; content that ends early or fails leaves nothing. */
  put(
    bucket: string,
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: PutOptions,
  ): Promise<ObjectRecord>
  /** Makes `.folder` in it, unless it is there. */
  putFolder(bucket: string, path: string, options?: { readonly all?: boolean | undefined }): Promise<ObjectFolder>
  /** Within a bucket. `move`: the source is gone in the same commit. */
  copy(
    bucket: string,
    target: string,
    source: string,
    options?: { readonly move?: boolean | undefined },
  ): Promise<ObjectRecord>
  remove(bucket: string, path: string, options?: RemoveOptions): Promise<Removed>
  readonly uploads: UploadsApi
  /** Of a path that need not exist. */
  sign(bucket: string, path: string, options: SignOptions): Promise<SignedLink>
  /** An object or folder as answers have it, with the links that the caller may follow. */
  show(entry: ObjectRecord | ObjectFolder, origin?: string): Readonly<Record<string, unknown>>
}

/** Whether lists leave it out unless they are asked for all: its own name begins with a dot. */
export function isHidden(path: string): boolean {
  return path.startsWith('.', path.lastIndexOf('/', path.length - 2) + 1)
}

/**
 * Where contents are kept, under ids that are never used again: a folder of the host, or any store that speaks S3. What
 * is in it has no name of its own: objects, tenants' rights and changes are the service's.
 */
export interface ContentStore {
  readonly shown: ObjectStore
  /** Durable when it resolves. What is left of one that failed is taken away by `remove`. */
  put(id: string, content: AsyncIterable<Uint8Array>, options: { readonly contentType: string }): Promise<StoredContent>
  /** Undefined when there is none. It is open, and stays readable when it is removed meanwhile. */
  open(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>
  /** A content of its own with the same bytes; false when there is no source. */
  copy(source: string, target: string): Promise<boolean>
  /** Also what is not there. */
  remove(id: string): Promise<void>
}

/** A store of contents that all tenants of a host share. */
export interface SharedContents {
  of(tenant: string): ContentStore
  close(): void
}

export interface StoredContent {
  readonly size: number
  /** MD5 in hex */
  readonly etag: string
}
