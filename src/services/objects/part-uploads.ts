/** Uploads in parts: each part is a content, claimed until the upload ends. */
import { AppError, retryOnConflict } from '#kernel'
import type { Stored } from '#storage'
import { boundedContent } from './bounded-content.ts'
import {
  MAX_OBJECT_BYTES,
  type ContentStore,
  type ObjectRecord,
  type PartPage,
  type UploadedPart,
  type UploadsApi,
} from './contract.ts'
import type { OrphanedContents } from './orphaned-contents.ts'
import type { ObjectTable, PartRecord, UploadRecord } from './object-table.ts'
import { checkPut, type ObjectWriter } from './object-writer.ts'
import { S3Error } from './signing/s3-error.ts'

export const UPLOAD_MS = 86_400_000
/** maximum number of open uploads per tenant */
export const MAX_UPLOADS = 1_000
export const MAX_PARTS = 10_000
const SLICE = 500
/** expired uploads deleted whenever another upload begins */
const OVER_AT_ONCE = 20

export interface PartUploadsDependencies {
  readonly table: ObjectTable
  readonly writer: ObjectWriter
  readonly contents: ContentStore
  readonly orphans: OrphanedContents
  readonly newId: () => string
  readonly now: () => number
  readonly locate: (bucket: string, path: string) => { readonly bucket: string; readonly path: string }
}

export class PartUploads implements UploadsApi {
  readonly #dependencies: PartUploadsDependencies

  constructor(dependencies: PartUploadsDependencies) {
    this.#dependencies = dependencies
  }

  async begin(...[bucket, path, options = {}]: Parameters<UploadsApi['begin']>): Promise<string> {
    checkPut(options)
    const { contentType, metadata } = options
    const { table, newId, locate } = this.#dependencies
    const location = locate(bucket, path)
    const { ms } = await table.store.now()
    const over = await table.uploads.find({ where: [{ field: 'until', op: 'lte', value: ms }], limit: OVER_AT_ONCE })
    for (const one of over) await this.#forget(one)
    if ((await table.uploads.count()) >= MAX_UPLOADS) {
      throw new AppError('TOO_LARGE', `${MAX_UPLOADS} uploads in parts are open; complete or abort some of them`)
    }
    const id = newId()
    const record: UploadRecord = {
      ...location,
      until: ms + UPLOAD_MS,
      ...(contentType !== undefined && { contentType }),
      ...(metadata !== undefined && { metadata }),
    }
    await table.uploads.put(id, record, 'absent')
    return id
  }

  async put(...[bucket, path, id, { number, content }]: Parameters<UploadsApi['put']>): Promise<UploadedPart> {
    const { table, orphans, contents, now } = this.#dependencies
    const { value: upload } = await this.#upload(bucket, path, id)
    const others = (await this.#parts(id)).filter((part) => part.number !== number)
    const max = MAX_OBJECT_BYTES - others.reduce((sum, { size }) => sum + size, 0)
    const claim = await orphans.claim(upload.until)
    try {
      const bounded = boundedContent(content, { max })
      const { size, etag } = await contents.put(claim.id, bounded, { contentType: 'application/octet-stream' })
      const part = { number, size, etag, modified: now() }
      await retryOnConflict(async () => {
        // throws `NOT_FOUND` if the upload ended meanwhile
        const { version } = await this.#upload(bucket, path, id)
        const partId = `${id}/${number}`
        const before = await table.parts.get(partId)
        await table.store.commit([
          table.uploads.expecting(id, version),
          table.parts.putting(partId, { ...part, upload: id, content: claim.id }, before?.version ?? 'absent'),
          ...(before === undefined ? [] : [orphans.orphaning(before.value.content)]),
        ])
        if (before !== undefined) orphans.wake()
      })
      return part
    } catch (error) {
      await orphans.drop(claim)
      throw error
    }
  }

  /** Completes an upload. Parts that are not named are dropped. */
  async complete(
    ...[bucket, path, id, named, { expect } = {}]: Parameters<UploadsApi['complete']>
  ): Promise<ObjectRecord> {
    const { writer } = this.#dependencies
    const { value: upload } = await this.#upload(bucket, path, id)
    const parts = chosen(named, await this.#parts(id))
    const size = parts.reduce((sum, part) => sum + part.size, 0)
    if (size > MAX_OBJECT_BYTES)
      throw new S3Error('EntityTooLarge', `All parts have ${size} bytes, more than an object`)
    const { contentType, metadata } = upload
    const record = await writer.put(upload.bucket, upload.path, this.#joined(id, parts), {
      ...(contentType !== undefined && { contentType }),
      ...(metadata !== undefined && { metadata }),
      expect,
      length: { min: size, max: size },
    })
    await this.abort(bucket, path, id).catch((error: unknown) => {
      // another request completed the upload, or it expired
      if (!(error instanceof AppError)) throw error
    })
    return record
  }

  async abort(bucket: string, path: string, id: string): Promise<void> {
    await this.#forget(await this.#upload(bucket, path, id))
  }

  async list(bucket: string, path: string, id: string, { after, limit }: PartPage): Promise<readonly UploadedPart[]> {
    await this.#upload(bucket, path, id)
    const parts = await this.#parts(id)
    return parts.filter(({ number }) => number > after).slice(0, limit)
  }

  async *#joined(id: string, parts: readonly PartRecord[]): AsyncGenerator<Uint8Array, undefined> {
    const { contents } = this.#dependencies
    for (const { content } of parts) {
      const found = await contents.open(content)
      if (found === undefined) throw noUpload(id)
      yield* found
    }
    return undefined
  }

  async #upload(bucket: string, path: string, id: string): Promise<Stored<UploadRecord>> {
    const { table, locate } = this.#dependencies
    const location = locate(bucket, path)
    const [found, { ms }] = await Promise.all([table.uploads.get(id), table.store.now()])
    const isThere = found !== undefined && found.value.isOver !== true && found.value.until > ms
    if (!isThere || found.value.bucket !== location.bucket || found.value.path !== location.path) throw noUpload(id)
    return found
  }

  async #parts(upload: string): Promise<readonly PartRecord[]> {
    const where = [{ field: 'upload', op: 'eq', value: upload }] as const
    const found = await this.#dependencies.table.parts.find({ where, sort: [{ field: 'number' }], limit: MAX_PARTS })
    return found.map(({ value }) => value)
  }

  /** Deletes the parts, and then the upload record, which is needed to find them until then. */
  async #forget({ id, version, value }: Stored<UploadRecord>): Promise<void> {
    const { table, orphans } = this.#dependencies
    const over = value.isOver === true ? version : await table.uploads.put(id, { ...value, isOver: true }, version)
    for (;;) {
      const parts = await table.parts.find({ where: [{ field: 'upload', op: 'eq', value: id }], limit: SLICE })
      await table.store.commit([
        ...parts.flatMap((part) => [
          table.parts.deleting(part.id, part.version),
          orphans.orphaning(part.value.content),
        ]),
        ...(parts.length < SLICE ? [table.uploads.deleting(id, over)] : []),
      ])
      if (parts.length < SLICE) break
    }
    orphans.wake()
  }
}

function chosen(
  named: readonly Pick<UploadedPart, 'number' | 'etag'>[],
  parts: readonly PartRecord[],
): readonly PartRecord[] {
  if (named.length === 0) throw new S3Error('MalformedXML', 'Name at least one part')
  const byNumber = new Map(parts.map((part) => [part.number, part]))
  let last = 0
  return named.map(({ number, etag }) => {
    if (number <= last) throw new S3Error('InvalidPartOrder', 'The list of parts was not in ascending order.')
    last = number
    const part = byNumber.get(number)
    if (part?.etag === etag) return part
    throw new S3Error('InvalidPart', `Part ${number} does not exist, or has another ETag`)
  })
}

function noUpload(id: string): S3Error {
  return new S3Error(
    'NoSuchUpload',
    `The upload ${id.slice(0, 100)} does not exist: it was completed or aborted, or has expired`,
  )
}
