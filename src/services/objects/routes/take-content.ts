/** Contents on their way in, by PUT. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DEFAULT_CONTENT_TYPE, MAX_OBJECT_BYTES, type PutOptions } from '../contract.ts'
import { S3Error } from '../signing/s3-error.ts'
import { LENGTH_PARAMETER } from '../signing/sign-address.ts'
import type { SentRequest } from '../signing/verify-address.ts'
import { arriving } from './arriving.ts'
import { checkedContent } from './checksums.ts'
import type { AdmittedRequest, ContentRouting } from './content-request.ts'
import { expectedByWrite } from './preconditions.ts'

const META = 'x-amz-meta-'
/** the MD5 of nothing */
const EMPTY = 'd41d8cd98f00b204e9800998ecf8427e'
/** Ways of sending that are read by nobody here, and would be stored as if they were the content. */
const UNREAD = ['x-amz-copy-source', 'x-amz-decoded-content-length']

export async function takeContent(
  request: FastifyRequest,
  reply: FastifyReply,
  admitted: AdmittedRequest,
  { later }: Pick<ContentRouting, 'later'>,
): Promise<FastifyReply> {
  const { api, alias, key, sent, grant } = admitted
  const headers = refuseUnread(sent.headers)
  const length = lengthBounds(grant?.parameters.get(LENGTH_PARAMETER))
  checkSaid(headers.get('content-length'), length)
  if (key.endsWith('/')) return takeFolder(reply, admitted, headers.get('content-length'))
  const { etag } = await api.put(alias, key, checkedContent(headers, arriving(request.raw, later)), {
    ...describedBy(headers),
    length,
    expect: expectedByWrite(request.headers),
  })
  return reply.header('etag', `"${etag}"`).send()
}

/** What the object is to be, as headers say it. */
export function describedBy(
  headers: ReadonlyMap<string, string>,
): Required<Pick<PutOptions, 'contentType' | 'metadata'>> {
  const metadata: Record<string, string> = {}
  for (const [name, value] of headers) if (name.startsWith(META)) metadata[name.slice(META.length)] = value
  return { contentType: headers.get('content-type') ?? DEFAULT_CONTENT_TYPE, metadata }
}

/** The headers by name. Throws an S3Error for a way of sending that is not read here. */
export function refuseUnread(sent: SentRequest['headers']): ReadonlyMap<string, string> {
  const headers = new Map(sent)
  const unread = UNREAD.find((name) => headers.has(name))
  if (unread !== undefined) throw new S3Error('NotImplemented', `The header ${unread} is not read here`)
  return headers
}

/** As clients of S3 make folders: an object without content whose path ends in a slash. */
async function takeFolder(
  reply: FastifyReply,
  { api, alias, key }: AdmittedRequest,
  length = '0',
): Promise<FastifyReply> {
  if (length !== '0')
    throw new S3Error('InvalidArgument', 'A path that ends in a slash is a folder, which has no content')
  await api.putFolder(alias, key, { all: true })
  return reply.header('etag', `"${EMPTY}"`).send()
}

/** Of a signed parameter, so nobody else wrote it. */
function lengthBounds(text: string | undefined): { readonly min: number; readonly max: number } {
  const [, min = '0', max = String(MAX_OBJECT_BYTES)] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []
  return { min: Number(min), max: Math.min(Number(max), MAX_OBJECT_BYTES) }
}

/** Nothing is read of what is known to be too much or too little. */
function checkSaid(said: string | undefined, { min, max }: { readonly min: number; readonly max: number }): void {
  if (said === undefined) return
  if (Number(said) > max)
    throw new S3Error('EntityTooLarge', `Your proposed upload exceeds the maximum allowed size, ${max} bytes`)
  if (Number(said) < min)
    throw new S3Error('EntityTooSmall', `Your proposed upload is smaller than the minimum allowed size, ${min} bytes`)
}
