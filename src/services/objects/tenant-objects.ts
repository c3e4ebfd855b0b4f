/** What one caller does with the objects of its tenant. */
import { AppError, makeIssue, refuse, shown } from '#kernel'
import { requireRight } from './buckets.ts'
import {
  type BucketRight,
  type ByteRange,
  DEFAULT_EXPIRY,
  type ListOptions,
  MAX_EXPIRY,
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
import { listObjects } from './list-objects.ts'
import { entryId, type ObjectEntry } from './object-table.ts'
import { folderMark, hasHiddenPart, readObjectPath, readPath, readPrefix } from './paths.ts'
import { MAX_PARTS, PartUploads, type PartUploadsDependencies } from './part-uploads.ts'
import { removeObjects } from './remove-objects.ts'
import { shownEntry } from './show.ts'
import { attachment, LENGTH_PARAMETER, signedAddress, signingTime } from './signing/sign-address.ts'
import { signedForm } from './signing/sign-form.ts'
import type { SigningKeys } from './signing/signing-keys.ts'

/** Any would do: whoever checks takes the one that it was signed for. */
const REGION = 'us-east-1'
const FOLDER_TYPE = 'application/x-directory'
const RIGHTS = { GET: 'read', PUT: 'write', POST: 'write', DELETE: 'delete' } as const
const PATHS = { GET: readObjectPath, PUT: readPath, POST: readPrefix, DELETE: readPath } as const

export interface TenantDependencies extends Omit<PartUploadsDependencies, 'locate'> {
  /** as the caller has them */
  readonly buckets: readonly ObjectBucket[]
  readonly keys: SigningKeys
  /** where this host is reached */
  readonly origin: () => string
}

export class TenantObjects implements ObjectsApi {
  readonly uploads: UploadsApi
  readonly #dependencies: TenantDependencies

  constructor(dependencies: TenantDependencies) {
    this.#dependencies = dependencies
    this.uploads = new PartUploads({
      ...dependencies,
      locate: (bucket, path) => ({ bucket: this.#with(bucket, 'write').alias, path: readObjectPath(path) }),
    })
  }

  async buckets(store?: string): Promise<readonly ObjectBucket[]> {
    const { buckets, contents } = this.#dependencies
    if (store === undefined || store === contents.shown.name) return buckets
    throw new AppError('NOT_FOUND', `There is no store ${shown(store)}; there is ${contents.shown.name}`)
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
      `There is no ${read.endsWith('/') ? 'folder' : 'object'} ${read} in the bucket ${alias}`,
    )
  }

  async read(record: ObjectRecord, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    this.#with(record.bucket, 'read')
    const { contents, table } = this.#dependencies
    const found = await contents.open(table.tenant, record.content, range)
    if (found !== undefined) return found
    throw new AppError('CONFLICT', `The object ${record.path} was replaced or removed before it was read; look again`)
  }

  async put(
    bucket: string,
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options: PutOptions = {},
  ): Promise<ObjectRecord> {
    const { alias } = this.#with(bucket, 'write')
    return this.#dependencies.writer.put(this.#dependencies.table, alias, readObjectPath(path), content, options)
  }

  async putFolder(bucket: string, path: string, { all = false } = {}): Promise<ObjectFolder> {
    const { alias } = this.#with(bucket, 'write')
    const folder = `${readPath(path).replace(/\/$/, '')}/`
    refuseHiddenPath(folder, all)
    const mark = readPath(folderMark(folder))
    try {
      const { writer, table } = this.#dependencies
      await writer.put(table, alias, mark, new Uint8Array(), { contentType: FOLDER_TYPE, expect: { noneMatch: ['*'] } })
    } catch (error) {
      // it was there
      if (!(error instanceof AppError && error.code === 'PRECONDITION')) throw error
    }
    return { bucket: alias, path: folder, isFolder: true }
  }

  async copy(
    bucket: string,
    target: string,
    source: string,
    { move = false, cause }: Parameters<ObjectsApi['copy']>[3] = {},
  ): Promise<ObjectRecord> {
    const { alias } = this.#with(bucket, 'read', 'write', ...(move ? (['delete'] as const) : []))
    const { writer, table } = this.#dependencies
    const [to, from] = [readObjectPath(target), readObjectPath(source)]
    return move ? writer.move(table, alias, to, from, cause) : writer.copy(table, alias, to, from, cause)
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
      const message = `makes ${expiry} seconds with hours and days`
      const suggestion = `a signed address is good for 1 to ${MAX_EXPIRY} seconds, 7 days`
      throw refuse('the query', [makeIssue('QUERY', '/expiry_seconds', message, suggestion)])
    }
    const signed = upload === undefined ? PATHS[method](path) : readObjectPath(path)
    if (method !== 'GET') refuseHiddenPath(signed, all)
    const { keys, now, table, origin } = this.#dependencies
    const ms = now()
    const time = signingTime(ms)
    const key = {
      ...keys.of({ tenant: table.tenant, bucket: alias, rights }),
      date: time.slice(0, 8),
      region: REGION,
    }
    const order = { bucket: name, path: signed, time, key }
    const { contentType, contentLength, asAttachment = false, origin: at = origin() } = options
    const length = contentLength && lengthOf(contentLength)
    const ofUpload = contentType === undefined ? {} : { contentType }
    if (upload !== undefined) {
      const more = partParameters(method, upload, part)
      return { method, href: signedAddress({ ...order, method, origin: at, expiry, more }) }
    }
    switch (method) {
      case 'GET': {
        const more = asAttachment ? ([['response-content-disposition', attachment(signed)]] as const) : []
        return { method, href: signedAddress({ ...order, method, origin: at, expiry, more }) }
      }
      case 'DELETE':
        return { method, href: signedAddress({ ...order, method, origin: at, expiry }) }
      case 'PUT': {
        const more = length === undefined ? [] : ([[LENGTH_PARAMETER, length.join('-')]] as const)
        const href = signedAddress({ ...order, method, origin: at, expiry, ...ofUpload, more })
        return { method, href, ...(contentType !== undefined && { headers: { 'content-type': contentType } }) }
      }
      case 'POST': {
        const formData = signedForm({ ...order, until: ms + expiry * 1_000, ...ofUpload, ...(length && { length }) })
        return { method, href: `${at}/${encodeURIComponent(name)}/`, formData }
      }
    }
  }

  show(entry: ObjectEntry, origin = this.#dependencies.origin()): Readonly<Record<string, unknown>> {
    return shownEntry(entry, this.#bucket(entry.bucket), origin, true)
  }

  /** `NOT_FOUND` for what is no alias and no name. */
  #bucket(bucket: string): ObjectBucket {
    const found = this.#dependencies.buckets.find(({ alias, name }) => alias === bucket || name === bucket)
    if (found !== undefined) return found
    const known = this.#dependencies.buckets.map(({ alias }) => alias).join(', ')
    throw new AppError('NOT_FOUND', `There is no bucket ${shown(bucket)}; there are ${known}`)
  }

  #with(bucket: string, ...rights: readonly BucketRight[]): ObjectBucket {
    const found = this.#bucket(bucket)
    for (const right of rights) requireRight(found, right)
    return found
  }
}

function refuseHiddenPath(path: string, all: boolean): void {
  if (all || !hasHiddenPart(path)) return
  throw new AppError('FORBIDDEN', `The path ${shown(path)} has a hidden part; ask for all=true to write there`)
}

function lengthOf({
  min = 0,
  max = MAX_OBJECT_BYTES,
}: NonNullable<SignOptions['contentLength']>): readonly [number, number] {
  if (min <= max) return [min, max]
  throw new AppError('VALIDATION', `The least length ${min} is more than the most, ${max}`)
}

/** What an address for an upload in parts says. Throws `VALIDATION` for what no request of it is. */
function partParameters(
  method: SignedMethod,
  upload: string,
  part: number | undefined,
): readonly (readonly [name: string, value: string])[] {
  const isPart = method === 'PUT'
  const isNumber = Number.isInteger(part) && Number(part) >= 1 && Number(part) <= MAX_PARTS
  if ((upload === 'new' && method !== 'POST') || (isPart ? !isNumber : part !== undefined)) {
    const ways = 'POST with upload=new begins one; with its id PUT and part send one, POST, DELETE and GET take no part'
    throw new AppError('VALIDATION', `${method} with upload=${shown(upload)} is not a part of an upload: ${ways}`)
  }
  if (upload === 'new') return [['uploads', '']]
  return [...(isPart ? [['partNumber', String(part)] as const] : []), ['uploadId', upload]]
}
