/** Sends a content: whole, a range, or 304. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#kernel'
import type { ObjectRecord } from '../contract.ts'
import { HEADER_TEXT } from '../object-writer.ts'
import { S3Error } from '../signing/s3-error.ts'
import { type AdmittedRequest, requestedRecord } from './content-request.ts'
import { isOfKnown, refusedRead } from './preconditions.ts'

/** attempts to open an object that is replaced between look-up and opening */
const MAX_TRIES = 5
/** Keeps pages stored as objects from accessing the host's origin. */
const SANDBOX = 'sandbox allow-forms allow-modals allow-popups allow-scripts'
/** Headers that the parameters `response-...` of a signed address can set. */
const OVERRIDES = [
  'content-type',
  'content-language',
  'expires',
  'cache-control',
  'content-disposition',
  'content-encoding',
]

export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  admitted: AdmittedRequest,
): Promise<FastifyReply> {
  for (let tries = 1; ; tries++) {
    const record = await requestedRecord(admitted)
    const refused = refusedRead(request.headers, record)
    if (refused === 412)
      throw new S3Error('PreconditionFailed', 'At least one of the preconditions you specified did not hold.')
    describe(reply, record, admitted)
    if (refused === 304) return reply.code(304).send()
    const part = isOfKnown(request.headers['if-range'], record)
      ? readRange(request.headers.range, record.size)
      : undefined
    if (part === 'none') {
      reply.header('content-range', `bytes */${record.size}`)
      throw new S3Error('InvalidRange', 'The requested range is not satisfiable')
    }
    const isHead = request.method === 'HEAD'
    const content = isHead ? undefined : await opened(admitted, record, part, tries)
    if (!isHead && content === undefined) continue
    sized(reply, record.size, part)
    return reply.send(content && Readable.from(content, { objectMode: false, highWaterMark: 1 }))
  }
}

/** Opens the content; undefined when the object was replaced, so that the caller tries again. */
async function opened(
  { api }: AdmittedRequest,
  record: ObjectRecord,
  part: PartOfContent | undefined,
  tries: number,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  try {
    return await api.read(record, part)
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT' && tries < MAX_TRIES) return undefined
    throw error
  }
}

function describe(reply: FastifyReply, record: ObjectRecord, { grant }: AdmittedRequest): void {
  const { etag, modified, contentType, metadata = {} } = record
  reply.headers({
    etag: `"${etag}"`,
    'last-modified': new Date(modified).toUTCString(),
    'accept-ranges': 'bytes',
    'content-type': contentType,
    'x-content-type-options': 'nosniff',
    'content-security-policy': SANDBOX,
  })
  for (const [name, value] of Object.entries(metadata)) reply.header(`x-amz-meta-${name}`, value)
  for (const name of OVERRIDES) {
    const value = grant?.parameters.get(`response-${name}`)
    if (value === undefined) continue
    if (!HEADER_TEXT.test(value))
      throw new S3Error('InvalidArgument', `response-${name} has characters that no header may have`)
    reply.header(name, value)
  }
}

function sized(reply: FastifyReply, size: number, part: PartOfContent | undefined): void {
  if (part === undefined) reply.header('content-length', size)
  else {
    const { from, until } = part
    reply
      .code(206)
      .header('content-range', `bytes ${from}-${until}/${size}`)
      .header('content-length', until - from + 1)
  }
}

interface PartOfContent {
  readonly from: number
  readonly until: number
}

/** Undefined for an absent, invalid or multiple range: the whole is sent. `none`: a range beyond the end. */
function readRange(header: string | undefined, size: number): PartOfContent | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'none' : { from: size - length, until: size - 1 }
  }
  const from = Number(first)
  const until = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < from) return undefined
  return from >= size ? 'none' : { from, until }
}
