/**
 * One object as one file: its content, then what is known of it as JSON, the length of that JSON (4 bytes) and a mark
 * (8 bytes). One file is one truth: a rename replaces content and metadata together, and what has no mark at its end
 * is no object. The content stands at the beginning, so that ranges need no arithmetic.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { AppError } from '../../kernel/errors.ts'
import type { BlobInfo } from '../blobs.ts'
import type { CheckedPut } from '../check-blobs.ts'
import { codeOf } from './file-errors.ts'

const MARK = Buffer.from('reflexo1')
const END_BYTES = 4 + MARK.length
/** Most objects' JSON is within one read of the end. */
const FIRST_READ = 4_096
/** Metadata is bounded far below. */
const MAX_JSON = 65_536
/** bytes of one read of a stream; two of them are there at a time */
const CHUNK = 65_536

/** Writes an object from pieces, all of it durable. `modified` is asked for when the content is complete. */
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
  const length = Buffer.alloc(4)
  length.writeUInt32BE(json.length)
  await handle.writeFile(Buffer.concat([json, length, MARK]))
  await handle.sync()
  return { path, ...known }
}

/** Opens an object for reading; `undefined` when there is none. A symbolic link is not followed. */
export async function openObject(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}

/** What is known of an open object. `STORE` when the file is no whole object. */
export async function readInfo(handle: FileHandle, path: string): Promise<BlobInfo> {
  const { size } = await handle.stat()
  let tail = await readAt(handle, Math.max(0, size - FIRST_READ), size)
  const whole = tail.length < END_BYTES || !tail.subarray(-MARK.length).equals(MARK) ? 0 : jsonLength(tail) + END_BYTES
  if (whole === 0 || whole > size || whole > MAX_JSON) throw damaged(path)
  if (whole > tail.length) tail = await readAt(handle, size - whole, size)
  const info = parseInfo(tail.subarray(tail.length - whole, tail.length - END_BYTES).toString(), path)
  if (info === undefined || info.size !== size - whole) throw damaged(path)
  return info
}

/** Bytes from one place up to another, without the latter. */
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

/** The same in pieces, each read while the one before is used; closes the file at the end, and when its reader stops. */
export async function* streamAt(handle: FileHandle, from: number, to: number): AsyncIterable<Uint8Array> {
  const readPiece = (at: number) => {
    const piece = at < to ? readAt(handle, at, Math.min(at + CHUNK, to)) : undefined
    // nobody waits for it while the one before is used
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
  return tail.readUInt32BE(tail.length - END_BYTES)
}

function parseInfo(text: string, path: string): BlobInfo | undefined {
  try {
    // Written by writeObject and guarded by mark and size
    const known = JSON.parse(text) as Omit<BlobInfo, 'path'>
    return { ...known, path }
  } catch {
    return undefined
  }
}

function damaged(path: string): AppError {
  return new AppError('STORE', `The file of the object ${path} is damaged; put the object again, or restore the file`)
}
