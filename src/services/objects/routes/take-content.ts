/** Receives contents sent with PUT. */
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
const EMPTY = 'd41d8cd98f00b204e9800998ecf8427e'
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
  checkDeclared(headers.get('content-length'), length)
  if (key.endsWith('/')) return takeFolder(reply, admitted, headers.get('content-length'))
  const { etag } = await api.put(alias, key, checkedContent(headers, arriving(request.raw, later)), {
    ...describedBy(headers),
    length,
    expect: expectedByWrite(request.headers),
  })
  return reply.header('etag', `"${etag}"`).send()
}

export function describedBy(
  headers: ReadonlyMap<string, string>,
): Required<Pick<PutOptions, 'contentType' | 'metadata'>> {
  const metadata: Record<string, string> = {}
  for (const [name, value] of headers) if (name.startsWith(META)) metadata[name.slice(META.length)] = value
  return { contentType: headers.get('content-type') ?? DEFAULT_CONTENT_TYPE, metadata }
}

/** Throws `NotImplemented`, naming the header, for unsupported encodings. Returns the headers by name. */
export function refuseUnread(sent: SentRequest['headers']): ReadonlyMap<string, string> {
  const headers = new Map(sent)
  const unread = UNREAD.find((name) => headers.has(name))
  if (unread !== undefined) throw new S3Error('NotImplemented', `The header ${unread} is not supported`)
  return headers
}

/** Creates a folder for an empty object whose path ends in a slash, as S3 clients expect. */
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

/** Parses the length limits, which are well-formed because they are signed. */
function lengthBounds(text: string | undefined): { readonly min: number; readonly max: number } {
  const [, min = '0', max = String(MAX_OBJECT_BYTES)] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []
  return { min: Number(min), max: Math.min(Number(max), MAX_OBJECT_BYTES) }
}

function checkDeclared(
  declared: string | undefined,
  { min, max }: { readonly min: number; readonly max: number },
): void {
  if (declared === undefined) return
  if (Number(declared) > max)
    throw new S3Error('EntityTooLarge', `Your proposed upload exceeds the maximum allowed size, ${max} bytes`)
  if (Number(declared) < min)
    throw new S3Error('EntityTooSmall', `Your proposed upload is smaller than the minimum allowed size, ${min} bytes`)
}
