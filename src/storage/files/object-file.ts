/** Stores one object as one file: content, JSON of metadata, its `crc32` (4 bytes), JSON's length (4), a mark (8). */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { AppError } from '#kernel'
import type { BlobInfo } from '../blobs.ts'
import type { CheckedPut } from '../check-blobs.ts'
import { damaged } from '../damage.ts'
import { codeOf } from './file-errors.ts'

/** The last character is the format number; files with another number are rejected. */
const MARK = Buffer.from('reflexo2')
const END_BYTES = 4 + 4 + MARK.length
/** Bytes of the first read at the end of a file, which usually include all of the JSON. */
const FIRST_READ = 4_096
/** Most bytes of JSON; metadata is limited to far less. */
const MAX_JSON = 65_536
/** bytes per read of a stream; two chunks are in memory at a time */
const CHUNK = 65_536

/** Writes an object from pieces, and syncs the file. `modified` is called when the content is complete. */
export async function writeObject(
  handle: FileHandle,
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { contentType, metadata, digest }: CheckedPut,
  modified: () => number,
): Promise<BlobInfo> {
  const hash = createHash(digest)
  let size = 0
  for await (const piece of pieces) {
    const written = handle.writeFile(piece)
    hash.update(piece)
    size += piece.length
    await written
  }
  const known = { size, etag: hash.digest('hex'), contentType, modified: modified(), metadata }
  const json = Buffer.from(JSON.stringify(known))
  const end = Buffer.alloc(8)
  end.writeUInt32BE(crc32(json))
  end.writeUInt32BE(json.length, 4)
  await handle.writeFile(Buffer.concat([json, end, MARK]))
  await handle.sync()
  return { path, ...known }
}

/** Opens an object for reading; undefined if it does not exist. Does not follow symbolic links. */
export async function openObject(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}

/** Reads the metadata of an open object. Throws `DAMAGED` for a damaged file, `STORE` for a file in another format. */
export async function readInfo(handle: FileHandle, path: string): Promise<BlobInfo> {
  const { size } = await handle.stat()
  let tail = await readAt(handle, Math.max(0, size - FIRST_READ), size)
  const mark = tail.subarray(-MARK.length)
  if (mark.subarray(0, -1).equals(MARK.subarray(0, -1)) && !mark.equals(MARK)) throw otherForm(path)
  const whole = tail.length < END_BYTES || !mark.equals(MARK) ? 0 : jsonLength(tail) + END_BYTES
  if (whole === 0 || whole > size || whole > MAX_JSON) throw damagedObject(path)
  if (whole > tail.length) tail = await readAt(handle, size - whole, size)
  const json = tail.subarray(tail.length - whole, tail.length - END_BYTES)
  const info = crc32(json) === tail.readUInt32BE(tail.length - END_BYTES) ? parseInfo(json.toString(), path) : undefined
  if (info === undefined || info.size !== size - whole) throw damagedObject(path)
  return info
}

/** Reads a range of bytes; `to` is excluded. */
export async function readAt(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, to - from))
  let filled = 0
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/** Streams a range, reading one piece ahead. Closes the file at the end, or when the reader stops. */
export async function* streamAt(handle: FileHandle, from: number, to: number): AsyncIterable<Uint8Array> {
  const readPiece = (at: number) => {
    const piece = at < to ? readAt(handle, at, Math.min(at + CHUNK, to)) : undefined
    // prevents an unhandled rejection; the piece is awaited later
    piece?.catch(() => undefined)
    return piece
  }
  let next: Promise<Buffer> | undefined
  try {
    next = readPiece(from)
    for (let at = from + CHUNK; next !== undefined; at += CHUNK) {
      const piece = await next
      next = readPiece(at)
      yield piece
    }
  } finally {
    await next?.catch(() => undefined)
    await handle.close()
  }
}

function jsonLength(tail: Buffer): number {
  return tail.readUInt32BE(tail.length - END_BYTES + 4)
}

function parseInfo(text: string, path: string): BlobInfo | undefined {
  try {
    // writeObject wrote this JSON, and mark and size were checked
    const known = JSON.parse(text) as Omit<BlobInfo, 'path'>
    return { ...known, path }
  } catch {
    return undefined
  }
}

/** Throws `DAMAGED` at the last piece, so that a damaged content never looks complete. */
export function contentCheck({ path, etag, size }: BlobInfo): (piece: Uint8Array) => void {
  const hash = createHash(etag.length === MD5_CHARACTERS ? 'md5' : 'sha256')
  let left = size
  return (piece) => {
    hash.update(piece)
    left -= piece.length
    if (left <= 0 && hash.digest('hex') !== etag) throw damagedObject(path)
  }
}

const MD5_CHARACTERS = 32

function damagedObject(path: string): AppError {
  return damaged(`The file of the object ${path}`)
}

function otherForm(path: string): AppError {
  const message = `The file of the object ${path} was written by another version of this program`
  return new AppError('STORE', `${message}; run that version, or upload the object again`)
}
