/** Stores contents in S3 under `<prefix><tenant>/<id>`, with one part of a large content in memory (OBJECT-6). */
import { createHash } from 'node:crypto'
import type * as Sdk from '@aws-sdk/client-s3'
import { AppError, messageOf } from '#kernel'
import type { ByteRange, ContentStore, ObjectStore, SharedContents, StoredContent } from '../contract.ts'
import { openedContent } from './opened-content.ts'

/** bytes per part; S3 requires at least 5 MiB and accepts 10,000 parts */
const PART = 8 * 1_048_576

export interface S3Location {
  readonly bucket: string
  /** prefix of all keys: empty, or ends with a slash */
  readonly prefix: string
  readonly region: string
  readonly endpoint?: string
}

/** Parses `s3://bucket/prefix?endpoint=...&region=...`. Throws `USAGE`. */
export function readS3Location(text: string): S3Location {
  const url = new URL(text)
  const endpoint = url.searchParams.get('endpoint') ?? undefined
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'endpoint' && name !== 'region')
  if (unknown !== undefined) throw new AppError('USAGE', `--objects: ${unknown} is unknown; use endpoint or region`)
  if (endpoint !== undefined && !/^https?:\/\//.test(endpoint)) {
    throw new AppError('USAGE', `--objects: the endpoint ${endpoint} is not an address; write http:// or https://`)
  }
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  return {
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: url.searchParams.get('region') ?? 'us-east-1',
    ...(endpoint !== undefined && { endpoint }),
  }
}

/** Credentials come from the environment or an AWS profile. Throws `USAGE` when the SDK package is missing. */
export async function openS3Contents(location: S3Location): Promise<SharedContents> {
  const sdk = await loadSdk()
  const { endpoint, region, bucket, prefix } = location
  const client = new sdk.S3Client({
    region,
    // compatible servers may not support newer checksums
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
  })
  const shown = { type: 's3', name: 's3', url: endpoint ?? `https://s3.${region}.amazonaws.com` }
  return {
    of: (tenant) => new S3Contents(sdk, client, shown, { Bucket: bucket, prefix: `${prefix}${tenant}/` }),
    close: () => client.destroy(),
  }
}

async function loadSdk(): Promise<typeof Sdk> {
  try {
    return await import('@aws-sdk/client-s3')
  } catch (error) {
    throw new AppError(
      'USAGE',
      '--objects s3:// needs a package that is not installed: npm install @aws-sdk/client-s3',
      {
        cause: error,
      },
    )
  }
}

interface Folder {
  readonly Bucket: string
  readonly prefix: string
}

class S3Contents implements ContentStore {
  readonly shown: ObjectStore
  readonly #sdk: typeof Sdk
  readonly #client: Sdk.S3Client
  readonly #folder: Folder

  constructor(sdk: typeof Sdk, client: Sdk.S3Client, shown: ObjectStore, folder: Folder) {
    this.#sdk = sdk
    this.#client = client
    this.shown = shown
    this.#folder = folder
  }

  async put(
    id: string,
    content: AsyncIterable<Uint8Array>,
    { contentType }: { readonly contentType: string },
  ): Promise<StoredContent> {
    const hash = createHash('md5')
    const object = { ...this.#object(id), ContentType: contentType }
    const { CompleteMultipartUploadCommand, CreateMultipartUploadCommand, PutObjectCommand, UploadPartCommand } =
      this.#sdk
    const written: { readonly PartNumber: number; readonly ETag: string | undefined }[] = []
    const upload: { readonly Bucket: string; readonly Key: string; UploadId: string | undefined } = {
      ...this.#object(id),
      UploadId: undefined,
    }
    const add = async (part: Uint8Array): Promise<void> => {
      if (upload.UploadId === undefined) {
        const begun = await request('Writing', () => this.#client.send(new CreateMultipartUploadCommand(object)))
        upload.UploadId = begun.UploadId
      }
      const PartNumber = written.length + 1
      const command = new UploadPartCommand({ ...upload, Body: part, ContentLength: part.length, PartNumber })
      const { ETag } = await request('Writing', () => this.#client.send(command))
      written.push({ PartNumber, ETag })
    }
    let size = 0
    let last = new Uint8Array()
    // errors of the sender pass through unchanged
    for await (const part of inParts(content, PART, (piece) => hash.update(piece))) {
      if (size > 0) await add(last)
      size += part.length
      last = part
    }
    if (size > last.length) {
      await add(last)
      const whole = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: written } })
      await request('Writing', () => this.#client.send(whole))
    } else {
      const whole = new PutObjectCommand({ ...object, Body: last, ContentLength: last.length })
      await request('Writing', () => this.#client.send(whole))
    }
    return { size, etag: hash.digest('hex') }
  }

  async open(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { GetObjectCommand } = this.#sdk
    const bytes = range && `bytes=${range.from}-${range.until ?? ''}`
    const answer = await this.#unlessMissing('Reading', () =>
      this.#client.send(new GetObjectCommand({ ...this.#object(id), ...(bytes && { Range: bytes }) })),
    )
    // in Node, the body is a readable stream
    return answer && openedContent((answer.Body ?? noContent()) as AsyncIterable<Uint8Array>)
  }

  async copy(source: string, target: string): Promise<boolean> {
    const { CopyObjectCommand } = this.#sdk
    const { Bucket, Key } = this.#object(source)
    const from = [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/')
    const command = new CopyObjectCommand({ ...this.#object(target), CopySource: from })
    return (await this.#unlessMissing('Copying', () => this.#client.send(command))) !== undefined
  }

  /** Removes the content, and the parts of incomplete uploads. */
  async remove(id: string): Promise<void> {
    const { AbortMultipartUploadCommand, DeleteObjectCommand, ListMultipartUploadsCommand } = this.#sdk
    const object = this.#object(id)
    await this.#unlessMissing('Removing', () => this.#client.send(new DeleteObjectCommand(object)))
    const list = new ListMultipartUploadsCommand({ Bucket: object.Bucket, Prefix: object.Key })
    const { Uploads = [] } = await request('Removing', () => this.#client.send(list))
    for (const { Key, UploadId } of Uploads) {
      if (Key !== object.Key || UploadId === undefined) continue
      await request('Removing', () => this.#client.send(new AbortMultipartUploadCommand({ ...object, UploadId })))
    }
  }

  #object(id: string): { readonly Bucket: string; readonly Key: string } {
    const { Bucket, prefix } = this.#folder
    return { Bucket, Key: prefix + id }
  }

  async #unlessMissing<T>(doing: string, send: () => Promise<T>): Promise<T | undefined> {
    try {
      return await send()
    } catch (error) {
      if (error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound')) return undefined
      throw storeError(doing, error)
    }
  }
}

async function request<T>(doing: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    throw storeError(doing, error)
  }
}

/** Maps an error to `STORE` when the operator must fix the cause, otherwise to `UNAVAILABLE`. */
function storeError(doing: string, error: unknown): AppError {
  const { $metadata: { httpStatusCode = 0 } = {} } = (error ?? {}) as { $metadata?: { httpStatusCode?: number } }
  const code = httpStatusCode >= 400 && httpStatusCode < 500 ? 'STORE' : 'UNAVAILABLE'
  const message = `${doing} a content in S3 failed (${messageOf(error)}): check --objects, its credentials and the bucket`
  return new AppError(code, message, { cause: error })
}

async function* noContent(): AsyncIterable<Uint8Array> {}

async function* inParts(
  content: AsyncIterable<Uint8Array>,
  size: number,
  see: (piece: Uint8Array) => unknown,
): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  let pieces: Uint8Array[] = []
  let length = 0
  for await (let piece of content) {
    see(piece)
    while (length + piece.length >= size) {
      const rest = size - length
      yield Buffer.concat([...pieces, piece.subarray(0, rest)])
      piece = piece.subarray(rest)
      pieces = []
      length = 0
    }
    if (piece.length > 0) pieces.push(piece)
    length += piece.length
  }
  if (length > 0) yield Buffer.concat(pieces)
  return undefined
}
