/** Checks a content against the checksums that the client sent. */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { S3Error } from '../signing/s3-error.ts'

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
