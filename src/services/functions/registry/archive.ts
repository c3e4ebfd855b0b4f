/** Reads and writes tar archives of assets, plain or gzipped, with limits on bytes, files and paths. */
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { createTarDecoder, packTar, type ParsedTarEntry } from 'modern-tar'
import { AppError, FORBIDDEN_KEYS, messageOf } from '#kernel'
import { formEntries, partsOf } from '#services/shared'

export type Assets = ReadonlyMap<string, Uint8Array>

export const MAX_ASSETS = 1_000
export const MAX_BYTES = 52_428_800
/** maximum number of bytes of a form, which is read as a whole */
export const MAX_FORM = 5_242_880
const MAX_PATH = 200
const SEGMENT = /^[A-Za-z0-9_@+-][A-Za-z0-9._@+ -]*$/
const RESERVED: ReadonlySet<string> = new Set([
  'node_modules',
  'python_modules',
  'npm-shrinkwrap.json',
  '.npmrc',
  '.yarnrc',
  'pip.conf',
])
const GZIP = [0x1f, 0x8b] as const
const OTHER_PACKINGS: readonly (readonly [name: string, begin: readonly number[]])[] = [
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
]

export function pathProblem(path: string): string | undefined {
  if (path.length > MAX_PATH) return `a path has at most ${MAX_PATH} characters`
  const segments = path.split('/')
  const wrong = segments.find((one) => !SEGMENT.test(one) || one.endsWith(' ') || FORBIDDEN_KEYS.has(one))
  if (wrong !== undefined) return `"${wrong.slice(0, 40)}" cannot be part of a path; use letters, digits and . _ - + @`
  const reserved = segments.find((one) => RESERVED.has(one))
  return reserved === undefined ? undefined : `"${reserved}" is reserved for the build; remove it`
}

export function boundedAssets(assets: Assets): Assets {
  const size = [...assets.values()].reduce((sum, one) => sum + one.length, 0)
  if (size > MAX_BYTES) throw tooLarge()
  if (assets.size > MAX_ASSETS) throw tooMany()
  return assets
}

/** Reads an archive; of files with the same path, the last one wins. Throws `VALIDATION` or `TOO_LARGE`. */
export async function readArchive(bytes: Uint8Array): Promise<Assets> {
  const begins = (begin: readonly number[]) => begin.every((byte, at) => bytes[at] === byte)
  const packing = OTHER_PACKINGS.find(([, begin]) => begins(begin))
  if (packing !== undefined) {
    throw new AppError(
      'VALIDATION',
      `the archive is compressed with ${packing[0]}; send a tar, uncompressed or compressed with gzip`,
    )
  }
  const isGzip = begins(GZIP)
  const source = Readable.from(partsOf(bytes))
  const plain = isGzip ? source.pipe(bounded(createGunzip({ maxOutputLength: CHUNK * 64 }))) : source
  // the error of the web stream would hide the cause
  let damage: Error | undefined
  plain.on('error', (error) => (damage = error))
  const assets = new Map<string, Uint8Array>()
  let total = 0
  let entries = 0
  try {
    const tar = (Readable.toWeb(plain) as ReadableStream<Uint8Array>).pipeThrough(createTarDecoder({ strict: true }))
    for await (const { header, body } of tar as AsyncIterable<ParsedTarEntry> & ReadableStream<ParsedTarEntry>) {
      if (++entries > MAX_ASSETS * 2) throw tooMany()
      const path = header.name.replace(/^\.\//, '')
      if (header.type === 'directory' || path === '' || path === '.') {
        await body.cancel()
        continue
      }
      if (header.type !== 'file') throw refused(path, `is a ${header.type}, but only files and folders are accepted`)
      const problem = pathProblem(path)
      if (problem !== undefined) throw refused(path, problem)
      if (header.size > MAX_BYTES - total) throw tooLarge()
      const content = await contentOf(body, header.size)
      total += content.length
      assets.set(path, content)
      if (assets.size > MAX_ASSETS) throw tooMany()
    }
  } catch (error) {
    source.destroy()
    plain.destroy()
    const fault = damage ?? error
    if (fault instanceof AppError) throw fault
    const what = damage === undefined ? 'the archive cannot be read' : 'the gzip of the archive is damaged'
    throw new AppError('VALIDATION', `${what}: ${messageOf(fault)}`, { cause: fault })
  }
  if (assets.size === 0) throw new AppError('VALIDATION', 'the archive has no files')
  return assets
}

export async function readForm(type: string, bytes: Uint8Array): Promise<Assets> {
  const assets = new Map<string, Uint8Array>()
  for (const [name, value] of await formEntries(type, bytes)) {
    const path = (typeof value === 'string' || value.name === '' ? name : value.name).replace(/^\.\//, '')
    const problem = pathProblem(path)
    if (problem !== undefined) throw new AppError('VALIDATION', `the form has "${path.slice(0, 80)}": ${problem}`)
    assets.set(path, typeof value === 'string' ? bytesOf(value) : new Uint8Array(await value.arrayBuffer()))
  }
  if (assets.size === 0) throw new AppError('VALIDATION', 'the form has no files')
  return boundedAssets(assets)
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Writes a gzipped tar; equal assets produce equal bytes. */
export async function writeArchive(assets: Assets): Promise<Uint8Array> {
  const entries = [...assets].map(([name, data]) => ({
    header: { name, size: data.length, type: 'file' as const, mtime: new Date(0), mode: 0o644 },
    body: data,
  }))
  return zipped(await packTar(entries))
}

const zipped = promisify(gzip)
const CHUNK = 65_536

/** Stops reading early, to defend against gzip bombs. */
function bounded<T extends Readable>(stream: T): T {
  let size = 0
  stream.on('data', (piece: Uint8Array) => {
    size += piece.length
    if (size > MAX_BYTES * 2) stream.destroy(tooLarge())
  })
  // adding a data listener must not start the stream
  stream.pause()
  return stream
}

/** Copies piece by piece, so that the event loop is not blocked. */
async function contentOf(body: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array> {
  const content = new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
  let at = 0
  for await (const piece of body as AsyncIterable<Uint8Array> & ReadableStream<Uint8Array>) {
    if (at + piece.length > size) throw tooLarge()
    content.set(piece, at)
    at += piece.length
  }
  return content.subarray(0, at)
}

function refused(path: string, problem: string): AppError {
  return new AppError('VALIDATION', `the archive has "${path.slice(0, 80)}": ${problem}`)
}

function tooLarge(): AppError {
  return new AppError('TOO_LARGE', `the assets are larger than ${MAX_BYTES} bytes`)
}

function tooMany(): AppError {
  return new AppError('TOO_LARGE', `the archive has more than ${MAX_ASSETS} assets`)
}
