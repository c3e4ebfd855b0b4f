/** Serves the five S3 operations for uploads in parts through signed addresses. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bodyBytes, linkTo } from '#services/shared'
import { MAX_PARTS } from '../part-uploads.ts'
import { contentHref } from '../show.ts'
import { S3Error } from '../signing/s3-error.ts'
import type { AdmittedRequest, ContentAddress, ContentRouting } from './content-request.ts'
import { expectedByWrite } from './preconditions.ts'
import { arriving, checkedContent, describedBy, refuseUnread } from './take-content.ts'
import { xmlText } from './xml.ts'

const MAX_LIST = 4_194_304
const MAX_PAGE = 1_000

export type PartRequest =
  | { readonly kind: 'begin' }
  | { readonly kind: 'part'; readonly upload: string; readonly number: number }
  | { readonly kind: 'complete' | 'abort' | 'list'; readonly upload: string }

/** Undefined when the request is for the object itself. */
export function partRequest({ sent: { method, query } }: ContentAddress): PartRequest | undefined {
  const parameters = new URLSearchParams(query)
  const [begins, upload, number] = ['uploads', 'uploadId', 'partNumber'].map((name) => parameters.get(name))
  const count = [begins, upload, number].filter((one) => typeof one === 'string').length
  if (count === 0) return undefined
  if (method === 'POST' && count === 1 && begins === '') return { kind: 'begin' }
  if (typeof upload === 'string' && upload !== '') {
    if (method === 'PUT' && typeof number === 'string' && count === 2) {
      return { kind: 'part', upload, number: partNumber(number) }
    }
    const kind = { POST: 'complete', DELETE: 'abort', GET: 'list' }[method]
    if (kind !== undefined && count === 1) return { kind: kind as 'complete' | 'abort' | 'list', upload }
  }
  const ways = 'POST ?uploads, PUT ?partNumber&uploadId, and POST, DELETE and GET ?uploadId'
  throw new S3Error('NotImplemented', `For uploads in parts this host supports only ${ways}`)
}

export async function takePart(
  request: FastifyRequest,
  reply: FastifyReply,
  admitted: AdmittedRequest,
  { part, later }: { readonly part: PartRequest } & Pick<ContentRouting, 'later'>,
): Promise<FastifyReply> {
  const { api, alias, key, bucketName, sent } = admitted
  const { uploads } = api
  const named = { Bucket: bucketName, Key: key }
  const content = () => arriving(request.raw, later)
  switch (part.kind) {
    case 'begin': {
      const id = await uploads.begin(alias, key, describedBy(new Map(sent.headers)))
      return sendXml(reply, xmlText('InitiateMultipartUploadResult', { ...named, UploadId: id }))
    }
    case 'part': {
      const headers = refuseUnread(sent.headers)
      const { upload, number } = part
      const { etag } = await uploads.put(alias, key, upload, { number, content: checkedContent(headers, content()) })
      return reply.header('etag', `"${etag}"`).send()
    }
    case 'complete': {
      const parts = readParts((await bodyBytes(content(), MAX_LIST, undefined)).toString())
      const expect = expectedByWrite(request.headers)
      const { etag } = await uploads.complete(alias, key, part.upload, parts, { expect })
      const location = contentHref(linkTo(request, ''), bucketName, key)
      const text = xmlText('CompleteMultipartUploadResult', { Location: location, ...named, ETag: `"${etag}"` })
      return sendXml(reply.header('etag', `"${etag}"`), text)
    }
    case 'abort':
      await uploads.abort(alias, key, part.upload)
      return reply.code(204).send()
    case 'list':
      return sendXml(reply, await listOf(admitted, part.upload))
  }
}

async function listOf({ api, alias, key, bucketName, sent }: AdmittedRequest, upload: string): Promise<string> {
  const parameters = new URLSearchParams(sent.query)
  const limit = Math.min(wholeIn(parameters, 'max-parts', MAX_PAGE), MAX_PAGE)
  const after = wholeIn(parameters, 'part-number-marker', 0)
  const found = await api.uploads.list(alias, key, upload, { after, limit: limit + 1 })
  const parts = found.slice(0, limit)
  return xmlText(
    'ListPartsResult',
    {
      Bucket: bucketName,
      Key: key,
      UploadId: upload,
      PartNumberMarker: String(after),
      NextPartNumberMarker: String(parts.at(-1)?.number ?? after),
      MaxParts: String(limit),
      IsTruncated: String(found.length > limit),
    },
    'Part',
    parts.map(({ number, etag, size, modified }) => ({
      PartNumber: String(number),
      LastModified: new Date(modified).toISOString(),
      ETag: `"${etag}"`,
      Size: String(size),
    })),
  )
}

function wholeIn(parameters: URLSearchParams, name: string, otherwise: number): number {
  const text = parameters.get(name) ?? String(otherwise)
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new S3Error('InvalidArgument', `${name} is not a whole number`)
}

function partNumber(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= MAX_PARTS) return number
  throw new S3Error('InvalidArgument', `Part number must be an integer between 1 and ${MAX_PARTS}, inclusive`)
}

function readParts(text: string): readonly { readonly number: number; readonly etag: string }[] {
  if (!text.includes('<CompleteMultipartUpload')) throw malformed()
  const parts = text.split('<Part>').slice(1)
  if (parts.length > MAX_PARTS) throw malformed()
  return parts.map((part) => {
    const number = /<PartNumber>\s*(\d{1,5})\s*<\/PartNumber>/.exec(part)?.[1]
    const etag = /<ETag>\s*(?:"|&quot;|&#34;)?([^"&<\s]{1,100})(?:"|&quot;|&#34;)?\s*<\/ETag>/.exec(part)?.[1]
    if (number === undefined || etag === undefined) throw malformed()
    return { number: partNumber(number), etag }
  })
}

function malformed(): S3Error {
  const form = '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>..</ETag></Part>..'
  return new S3Error('MalformedXML', `The body is not a list of parts; send ${form}`)
}

function sendXml(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/xml').send(text)
}
