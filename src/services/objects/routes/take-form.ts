/** Receives contents from forms with a signed policy; the file must be the last field. */
import { Readable } from 'node:stream'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { linkTo } from '#services/shared'
import { DEFAULT_CONTENT_TYPE, type ObjectRecord } from '../contract.ts'
import { contentHref } from '../show.ts'
import { S3Error } from '../signing/s3-error.ts'
import { verifyForm } from '../signing/verify-form.ts'
import { denied, type ContentAddress, type ContentRouting } from './content-request.ts'
import { arriving, describedBy } from './take-content.ts'
import { xmlText } from './xml.ts'

/** maximum number of fields before the file, and of bytes per field */
const MAX_FIELDS = 100
const MAX_FIELD_BYTES = 20_480
/** ms within which the signature must arrive */
const MAX_BEFORE_FILE = 30_000
const ONE_FILE = "POST requires exactly one file, in the field 'file', as the last one of the form."

export async function takeForm(
  request: FastifyRequest,
  reply: FastifyReply,
  address: ContentAddress,
  routing: ContentRouting,
): Promise<FastifyReply> {
  const form = new IncomingForm(request.headers['content-type'])
  const source = Readable.from(arriving(request.raw, routing.later), { objectMode: false })
  source.once('error', (error) => form.fail(error)).pipe(form.parser)
  const cancel = routing.later(MAX_BEFORE_FILE, () =>
    form.fail(new S3Error('RequestTimeout', `The file did not begin within ${MAX_BEFORE_FILE} ms`)),
  )
  try {
    const { fields, file, fileName, fileType } = await form.file
    cancel()
    const record = await put(address, routing, { fields, fileName, fileType, content: form.content(file) })
    return await answer(request, reply, { fields, address, record })
  } finally {
    cancel()
    source.unpipe()
    form.parser.destroy()
    source.destroy()
  }
}

interface FormUpload {
  readonly fields: ReadonlyMap<string, string>
  readonly fileName: string
  readonly fileType: string
  readonly content: AsyncIterable<Uint8Array>
}

async function put(
  { tenant, alias, bucketName }: ContentAddress,
  { objectsOf, keys, now }: ContentRouting,
  { fields, fileName, fileType, content }: FormUpload,
): Promise<ObjectRecord> {
  const template = fields.get('key')
  if (template === undefined) throw new S3Error('InvalidArgument', "Bucket POST must contain a field named 'key'.")
  const key = template.replaceAll('${filename}', () => fileName)
  const grant = verifyForm(keys, { fields, bucket: bucketName, key }, now())
  if (grant.tenant !== tenant || grant.bucket !== alias || !grant.rights.includes('write')) throw denied()
  const { metadata } = describedBy(fields)
  const contentType = fields.get('content-type') || fileType || DEFAULT_CONTENT_TYPE
  const length = grant.length && { length: grant.length }
  return objectsOf(tenant).put(alias, key, content, { contentType, metadata, ...length })
}

interface TakenForm {
  readonly fields: ReadonlyMap<string, string>
  readonly address: ContentAddress
  readonly record: ObjectRecord
}

function answer(request: FastifyRequest, reply: FastifyReply, { fields, address, record }: TakenForm): FastifyReply {
  const etag = `"${record.etag}"`
  const { bucketName } = address
  const location = contentHref(linkTo(request, ''), bucketName, record.path)
  reply.header('etag', etag)
  const redirect = fields.get('success_action_redirect') ?? fields.get('redirect')
  if (redirect !== undefined && /^https?:\/\//i.test(redirect) && URL.canParse(redirect)) {
    const url = new URL(redirect)
    for (const [name, value] of Object.entries({ bucket: bucketName, key: record.path, etag }))
      url.searchParams.append(name, value)
    return reply.code(303).header('location', url.href).send()
  }
  reply.header('location', location)
  const status = fields.get('success_action_status')
  if (status === '201') {
    const body = xmlText('PostResponse', { Location: location, Bucket: bucketName, Key: record.path, ETag: etag })
    return reply.code(201).type('application/xml').send(body)
  }
  return reply.code(status === '200' ? 200 : 204).send()
}

interface FormFile {
  readonly fields: ReadonlyMap<string, string>
  readonly file: BusboyFileStream
  readonly fileName: string
  readonly fileType: string
}

/** A form while it is received. A failure rejects whatever is pending: the file, or its content. */
class IncomingForm {
  readonly parser: BusboyInstance
  readonly file: Promise<FormFile>
  readonly #end: Promise<void>
  readonly #fields = new Map<string, string>()
  readonly #rejecting: ((error: Error) => void)[] = []
  #failure: Error | undefined
  #content: BusboyFileStream | undefined

  constructor(contentType: string | undefined) {
    const parser = parserOf(contentType)
    this.parser = parser
    this.file = this.#unlessFailed((resolve) =>
      parser.on('file', (_name, file, fileName, _encoding, fileType) => {
        file.on('error', () => this.fail(malformed('The file of your POST request is incomplete.')))
        if (this.#content !== undefined) {
          file.resume()
          return this.fail(malformed(ONE_FILE))
        }
        this.#content = file
        resolve({ fields: this.#fields, file, fileName: fileName ?? '', fileType })
      }),
    )
    this.#end = this.#unlessFailed((resolve) =>
      parser.once('finish', () => {
        if (this.#content === undefined) this.fail(malformed(ONE_FILE))
        resolve()
      }),
    )
    parser.on('field', (name, value, nameCut, valueCut) => this.#takeField(name, value, nameCut || valueCut))
    parser.on('fieldsLimit', () => this.fail(tooMuch()))
    parser.on('error', () =>
      this.fail(malformed('The body of your POST request is not well-formed multipart/form-data.')),
    )
  }

  readonly fail = (error: Error): void => {
    this.#failure ??= error
    for (const reject of this.#rejecting) reject(this.#failure)
    this.#content?.destroy(this.#failure)
  }

  /** Ends only when the form ends, so that fields after the file are rejected before anything is stored. */
  async *content(file: BusboyFileStream): AsyncIterable<Uint8Array> {
    try {
      for await (const piece of file) yield piece as Uint8Array
    } catch (error) {
      throw this.#failure ?? error
    }
    await this.#end
  }

  /** Runs `begin`, but rejects when the form fails. The promise need not be awaited. */
  #unlessFailed<T>(begin: (resolve: (value: T) => void) => unknown): Promise<T> {
    const promise = new Promise<T>((resolve, reject) => {
      this.#rejecting.push(reject)
      begin(resolve)
    })
    promise.catch(() => undefined)
    return promise
  }

  #takeField(name: string, value: string, isCut: boolean): void {
    const lower = name.toLowerCase()
    if (this.#content !== undefined) return this.fail(malformed("The field 'file' must be the last one of the form."))
    if (isCut) return this.fail(tooMuch())
    if (this.#fields.has(lower)) return this.fail(malformed(`The field ${lower.slice(0, 100)} occurs twice.`))
    this.#fields.set(lower, value)
  }
}

function parserOf(contentType = ''): BusboyInstance {
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    throw malformed('Bucket POST must be of the enclosure-type multipart/form-data.')
  }
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      isPartAFile: (name) => name?.toLowerCase() === 'file',
      limits: { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, fieldNameSize: 200, files: 2, headerPairs: 50 },
    })
  } catch {
    throw malformed('The content type of your POST request names no boundary.')
  }
}

function tooMuch(): S3Error {
  return new S3Error(
    'MaxPostPreDataLengthExceeded',
    'Your POST request fields preceding the upload file were too large.',
  )
}

function malformed(message: string): S3Error {
  return new S3Error('MalformedPOSTRequest', message)
}
