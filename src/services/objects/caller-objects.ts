/** The objects API, limited to the rights of one kind of caller. */
import { AppError, makeIssue, refuse, shown } from '#kernel'
import type { Condition } from '#storage'
import { requireRight } from './buckets.ts'
import {
  type BucketRight,
  type ByteRange,
  DEFAULT_EXPIRY,
  DEFAULT_KEYS,
  isHidden,
  type ListOptions,
  MAX_EXPIRY,
  MAX_KEYS,
  MAX_OBJECT_BYTES,
  type ObjectBucket,
  type ObjectFolder,
  type ObjectListing,
  type ObjectRecord,
  type ObjectsApi,
  type PutOptions,
  type Removed,
  type RemoveOptions,
  type SignedLink,
  type SignedMethod,
  type SignOptions,
  type UploadsApi,
} from './contract.ts'
import { afterAllOf, entryId, keyOf, type ObjectEntry, type ObjectTable, siblingIn } from './object-table.ts'
import { folderMark, hasHiddenPart, readObjectPath, readPath, readPrefix } from './paths.ts'
import { MAX_PARTS, PartUploads, type PartUploadsDependencies } from './part-uploads.ts'
import { removeObjects } from './remove-objects.ts'
import { shownEntry } from './show.ts'
import { attachment, LENGTH_PARAMETER, signedAddress, signedForm, signingTime } from './signing/sign-address.ts'
import type { SigningKeys } from './signing/signing-keys.ts'

/** maximum number of pages in a row that a listing skips because all their objects are hidden */
const MAX_PAGES = 20
/** Any region works: a signature is checked against the region in its credential. */
const REGION = 'us-east-1'
const FOLDER_TYPE = 'application/x-directory'
const RIGHTS = { GET: 'read', PUT: 'write', POST: 'write', DELETE: 'delete' } as const
const PATHS = { GET: readObjectPath, PUT: readPath, POST: readPrefix, DELETE: readPath } as const

export interface CallerObjectsDependencies extends Omit<PartUploadsDependencies, 'locate'> {
  readonly tenant: string
  readonly buckets: readonly ObjectBucket[]
  readonly keys: SigningKeys
  readonly origin: () => string
}

export class CallerObjects implements ObjectsApi {
  readonly uploads: UploadsApi
  readonly #dependencies: CallerObjectsDependencies

  constructor(dependencies: CallerObjectsDependencies) {
    this.#dependencies = dependencies
    this.uploads = new PartUploads({
      ...dependencies,
      locate: (bucket, path) => ({ bucket: this.#with(bucket, 'write').alias, path: readObjectPath(path) }),
    })
  }

  async buckets(store?: string): Promise<readonly ObjectBucket[]> {
    const { buckets, contents } = this.#dependencies
    if (store === undefined || store === contents.shown.name) return buckets
    throw new AppError('NOT_FOUND', `The store ${shown(store)} does not exist; the only one is ${contents.shown.name}`)
  }

  async bucket(bucket: string, store?: string): Promise<ObjectBucket> {
    await this.buckets(store)
    return this.#bucket(bucket)
  }

  async list(bucket: string, prefix: string, options: ListOptions = {}): Promise<ObjectListing> {
    const { alias } = this.#with(bucket, 'read')
    return listObjects(this.#dependencies.table, alias, readPrefix(prefix), options)
  }

  async stat(bucket: string, path: string): Promise<ObjectEntry> {
    const { alias } = this.#with(bucket, 'read')
    const read = readPath(path)
    const found = await this.#dependencies.table.entries.get(entryId(alias, read))
    if (found !== undefined) return found.value
    throw new AppError(
      'NOT_FOUND',
      `The ${read.endsWith('/') ? 'folder' : 'object'} ${read} does not exist in the bucket ${alias}`,
    )
  }

  async read(record: ObjectRecord, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    this.#with(record.bucket, 'read')
    const found = await this.#dependencies.contents.open(record.content, range)
    if (found !== undefined) return found
    throw new AppError('CONFLICT', `The object ${record.path} was replaced or removed before it was read; retry`)
  }

  async put(
    bucket: string,
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options: PutOptions = {},
  ): Promise<ObjectRecord> {
    const { alias } = this.#with(bucket, 'write')
    return this.#dependencies.writer.put(alias, readObjectPath(path), content, options)
  }

  async putFolder(bucket: string, path: string, { all = false } = {}): Promise<ObjectFolder> {
    const { alias } = this.#with(bucket, 'write')
    const folder = `${readPath(path).replace(/\/$/, '')}/`
    refuseHiddenPath(folder, all)
    const mark = readPath(folderMark(folder))
    try {
      const options = { contentType: FOLDER_TYPE, expect: { noneMatch: ['*'] } }
      await this.#dependencies.writer.put(alias, mark, new Uint8Array(), options)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'PRECONDITION')) throw error
    }
    return { bucket: alias, path: folder, isFolder: true }
  }

  async copy(
    bucket: string,
    target: string,
    source: string,
    { move = false }: Parameters<ObjectsApi['copy']>[3] = {},
  ): Promise<ObjectRecord> {
    const { alias } = this.#with(bucket, 'read', 'write', ...(move ? (['delete'] as const) : []))
    const { writer } = this.#dependencies
    const [to, from] = [readObjectPath(target), readObjectPath(source)]
    return move ? writer.move(alias, to, from) : writer.copy(alias, to, from)
  }

  async remove(bucket: string, path: string, options: RemoveOptions = {}): Promise<Removed> {
    const { alias } = this.#with(bucket, 'delete')
    const read = options.recursive === true ? readPrefix(path) : readPath(path)
    const { table, writer } = this.#dependencies
    return removeObjects(table, writer, { ...options, bucket: alias, path: read })
  }

  async sign(bucket: string, path: string, options: SignOptions): Promise<SignedLink> {
    const { method, expiry = DEFAULT_EXPIRY, all = false, upload, part } = options
    const { alias, name, rights } = this.#with(bucket, upload === undefined ? RIGHTS[method] : 'write')
    if (!Number.isInteger(expiry) || expiry < 1 || expiry > MAX_EXPIRY) {
      const message = `is ${expiry} seconds in total with hours and days`
      const suggestion = `a signed URL is valid for 1 to ${MAX_EXPIRY} seconds (7 days)`
      throw refuse('the query', [makeIssue('QUERY', '/expiry_seconds', message, suggestion)])
    }
    const signed = upload === undefined ? PATHS[method](path) : readObjectPath(path)
    if (method !== 'GET') refuseHiddenPath(signed, all)
    const { tenant, keys, now, origin } = this.#dependencies
    const ms = now()
    const time = signingTime(ms)
    const key = {
      ...keys.of({ tenant, bucket: alias, rights }),
      date: time.slice(0, 8),
      region: REGION,
    }
    const { contentType, metadata = {}, contentLength, asAttachment = false, origin: at = origin() } = options
    const length = contentLength && lengthOf(contentLength)
    const order = { bucket: name, path: signed, time, key }
    const addressed = (
      more: readonly (readonly [string, string])[] = [],
      required: Readonly<Record<string, string>> = {},
    ) => ({
      method,
      href: signedAddress({ ...order, required, method, origin: at, expiry, more }),
    })
    if (upload !== undefined) return addressed(partParameters(method, upload, part))
    switch (method) {
      case 'GET':
        return addressed(asAttachment ? [['response-content-disposition', attachment(signed)]] : [])
      case 'DELETE':
        return addressed()
      case 'PUT': {
        const headers = {
          ...(contentType !== undefined && { 'content-type': contentType }),
          ...Object.fromEntries(
            Object.entries(metadata).map(([key, value]) => [`x-amz-meta-${key.toLowerCase()}`, value]),
          ),
        }
        const link = addressed(length && [[LENGTH_PARAMETER, length.join('-')]], headers)
        return { ...link, ...(Object.keys(headers).length > 0 && { headers }) }
      }
      case 'POST': {
        const formData = signedForm({ ...order, until: ms + expiry * 1_000, contentType, length })
        return { method, href: `${at}/${encodeURIComponent(name)}/`, formData }
      }
    }
  }

  show(entry: ObjectEntry, origin = this.#dependencies.origin()): Readonly<Record<string, unknown>> {
    return shownEntry(entry, this.#bucket(entry.bucket), origin, true)
  }

  #bucket(bucket: string): ObjectBucket {
    const found = this.#dependencies.buckets.find(({ alias, name }) => alias === bucket || name === bucket)
    if (found !== undefined) return found
    const known = this.#dependencies.buckets.map(({ alias }) => alias).join(', ')
    throw new AppError('NOT_FOUND', `The bucket ${shown(bucket)} does not exist; use one of ${known}`)
  }

  #with(bucket: string, ...rights: readonly BucketRight[]): ObjectBucket {
    const found = this.#bucket(bucket)
    for (const right of rights) requireRight(found, right)
    return found
  }
}

function refuseHiddenPath(path: string, all: boolean): void {
  if (all || !hasHiddenPart(path)) return
  throw new AppError('FORBIDDEN', `The path ${shown(path)} has a hidden part; set all=true to write there`)
}

function lengthOf({
  min = 0,
  max = MAX_OBJECT_BYTES,
}: NonNullable<SignOptions['contentLength']>): readonly [number, number] {
  if (min <= max) return [min, max]
  throw new AppError('VALIDATION', `The minimum length ${min} exceeds the maximum, ${max}`)
}

/** Query parameters of an address for an upload in parts. */
function partParameters(
  method: SignedMethod,
  upload: string,
  part: number | undefined,
): readonly (readonly [name: string, value: string])[] {
  const isPart = method === 'PUT'
  const isNumber = Number.isInteger(part) && Number(part) >= 1 && Number(part) <= MAX_PARTS
  if ((upload === 'new' && method !== 'POST') || (isPart ? !isNumber : part !== undefined)) {
    const ways =
      'POST with upload=new begins an upload; PUT needs its id and a part; POST, DELETE and GET need only its id'
    throw new AppError('VALIDATION', `${method} with upload=${shown(upload)} is not a valid step of an upload: ${ways}`)
  }
  if (upload === 'new') return [['uploads', '']]
  return [...(isPart ? [['partNumber', String(part)] as const] : []), ['uploadId', upload]]
}

/** Lists everything below a prefix, or the entries of one folder. `startAfter` need not exist. */
async function listObjects(
  table: ObjectTable,
  bucket: string,
  prefix: string,
  { recursive = false, maxKeys = DEFAULT_KEYS, startAfter = '', all = false }: ListOptions,
): Promise<ObjectListing> {
  const limit = Math.min(maxKeys, MAX_KEYS)
  const folder = recursive ? '' : prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const isBehindPrefix = startAfter !== '' && !isBefore(startAfter, prefix)
  if (isBehindPrefix && !startAfter.startsWith(folder)) return { entries: [] }
  const field = recursive ? 'key' : 'sibling'
  const indexOf = (path: string) =>
    recursive ? keyOf(bucket, path) : siblingIn(bucket, folder, path.slice(folder.length))
  const end = afterAllOf(indexOf(prefix))
  const entries: ObjectEntry[] = []
  let after: Condition = isBehindPrefix
    ? { field, op: 'gt', value: indexOf(startAfter) }
    : { field, op: 'gte', value: indexOf(prefix) }
  for (let pages = 1; ; pages++) {
    const wanted = limit + 1 - entries.length
    const found = await table.entries.find({
      where: [after, { field, op: 'lt', value: end }],
      sort: [{ field }],
      limit: wanted,
    })
    const last = found.at(-1)?.value
    for (const { value } of found) if (all || !isHidden(value.path)) entries.push(value)
    if (entries.length > limit) return { entries: entries.slice(0, limit), next: entries[limit - 1]?.path ?? '' }
    if (last === undefined || found.length < wanted) return { entries }
    if (pages === MAX_PAGES) return { entries, next: last.path }
    after = { field, op: 'gt', value: indexOf(last.path) }
  }
}

function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
}
