/** Receives contents sent with PUT. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { crc32 } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StartTimer } from '#kernel'
import { DEFAULT_CONTENT_TYPE, MAX_OBJECT_BYTES, type PutOptions } from '../contract.ts'
import { S3Error } from '../signing/s3-error.ts'
import { LENGTH_PARAMETER } from '../signing/sign-address.ts'
import type { SentRequest } from '../signing/verify-address.ts'
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

/** longest wait for the next piece, in ms */
const MAX_PAUSE = 30_000

/** Reads a streamed request body, with a timeout while no data arrives. */
export async function* arriving(body: IncomingMessage, later: StartTimer): AsyncIterable<Uint8Array> {
  let pieces = 0
  let seen = 0
  let isWaiting = true
  const look = (): void => {
    // only time spent waiting for the sender counts, not a slow consumer
    if (isWaiting && pieces === seen)
      return void body.destroy(new S3Error('RequestTimeout', `No data arrived for ${MAX_PAUSE} ms`))
    seen = pieces
    cancel = later(MAX_PAUSE, look)
  }
  let cancel = later(MAX_PAUSE, look)
  try {
    // keep the connection, so that an error response can still be sent
    for await (const piece of body.iterator({ destroyOnReturn: false })) {
      pieces += 1
      isWaiting = false
      // a stream without an encoding yields bytes
      yield piece as Uint8Array
      isWaiting = true
    }
  } finally {
    cancel()
  }
}

interface Checksum {
  update(piece: Uint8Array): void
  digest(): string
}

interface Expected {
  readonly header: string
  readonly wanted: string
  readonly made: Checksum
}

const PREFIX = 'x-amz-checksum-'
/** by header: length of the checksum in bytes, and its constructor */
const KINDS: ReadonlyMap<string, readonly [bytes: number, make: () => Checksum]> = new Map([
  ['content-md5', [16, () => hashed('md5')]],
  [`${PREFIX}sha1`, [20, () => hashed('sha1')]],
  [`${PREFIX}sha256`, [32, () => hashed('sha256')]],
  [`${PREFIX}crc32`, [4, () => summed((piece, sum) => crc32(piece, sum))]],
  [`${PREFIX}crc32c`, [4, () => summed(crc32c)]],
])
const COMPANIONS = new Set([`${PREFIX}type`, `${PREFIX}mode`, `${PREFIX}algorithm`])

/** Passes the pieces through, and throws `BadDigest` at the end on a mismatch. Throws at once for invalid headers. */
export function checkedContent(
  headers: ReadonlyMap<string, string>,
  content: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const all = [...headers].flatMap(([header, wanted]) => expectedBy(header, wanted))
  return all.length === 0 ? content : holding(all, content)
}

function expectedBy(header: string, wanted: string): readonly Expected[] {
  const kind = KINDS.get(header)
  if (kind === undefined) {
    if (!header.startsWith(PREFIX) || COMPANIONS.has(header)) return []
    throw new S3Error(
      'NotImplemented',
      `The header ${header} is not supported; send one of ${[...KINDS.keys()].join(', ')}`,
    )
  }
  const [bytes, make] = kind
  if (Buffer.from(wanted, 'base64').length !== bytes) {
    throw new S3Error('InvalidDigest', `The ${header} you specified is not valid: it is the base64 of ${bytes} bytes`)
  }
  return [{ header, wanted, made: make() }]
}

async function* holding(
  all: readonly Expected[],
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of content) {
    for (const { made } of all) made.update(piece)
    yield piece
  }
  for (const { header, wanted, made } of all) {
    const found = made.digest()
    if (found === wanted.trim()) continue
    throw new S3Error('BadDigest', `The ${header} you specified did not match what we received: it has ${found}`)
  }
}

function hashed(algorithm: string): Checksum {
  const hash = createHash(algorithm)
  return { update: (piece) => void hash.update(piece), digest: () => hash.digest('base64') }
}

function summed(add: (piece: Uint8Array, sum: number) => number): Checksum {
  let sum = 0
  return {
    update: (piece) => {
      sum = add(piece, sum)
    },
    digest: () => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(sum)
      return bytes.toString('base64')
    },
  }
}

const POLYNOMIAL = 0x82f63b78
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1
  return sum
})

function crc32c(piece: Uint8Array, before: number): number {
  let sum = ~before
  for (const byte of piece) sum = (sum >>> 8) ^ (TABLE[(sum ^ byte) & 0xff] ?? 0)
  return ~sum >>> 0
}
