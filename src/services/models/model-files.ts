/** Reads the files of a model that fit the framework's layout, with limits before and during decompression. */
import { createHash } from 'node:crypto'
import { type Entry, fromBufferPromise } from 'yauzl'
import { AppError, Issues, messageOf } from '#kernel'
import type { ModelRelease } from './contract.ts'
import type { PackageOfFiles } from './driver.ts'
import { belongs, type Framework, LAYOUTS } from './frameworks.ts'

/** maximum number of bytes of a zip */
export const MAX_ZIP = 52_428_800
/** maximum number of bytes of all files in a zip */
const MAX_UNPACKED = 209_715_200
const MAX_ENTRIES = 1_000

export async function readZip(framework: Framework, bytes: Uint8Array): Promise<ReadonlyMap<string, Uint8Array>> {
  if (bytes.length > MAX_ZIP) throw new AppError('TOO_LARGE', `the zip is larger than ${MAX_ZIP} bytes`)
  try {
    const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
    const entries = await listed(zip.eachEntry())
    checkLayout(framework, entries)
    const files = new Map<string, Uint8Array>()
    for (const entry of entries) {
      // a wrong CRC or an undeclared size makes the stream fail
      const stream = await zip.openReadStreamPromise(entry)
      files.set(entry.fileName, await contentOf(stream, entry))
    }
    return files
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('VALIDATION', `file: the zip cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

async function listed(all: AsyncIterable<Entry>): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  let count = 0
  let size = 0
  for await (const entry of all) {
    if (++count > MAX_ENTRIES) throw new AppError('TOO_LARGE', `the zip has more than ${MAX_ENTRIES} entries`)
    if (entry.fileName.endsWith('/')) continue
    size += entry.uncompressedSize
    if (size > MAX_UNPACKED) throw new AppError('TOO_LARGE', `the zip unpacks to more than ${MAX_UNPACKED} bytes`)
    entries.push(entry)
  }
  return entries
}

function checkLayout(framework: Framework, entries: readonly Entry[]): void {
  const { file, beside, meaning } = LAYOUTS[framework]
  const issues = new Issues('ZIP', 20)
  const seen = new Set<string>()
  const right =
    beside.length === 0 ? `it contains only ${file}` : `it contains ${file}, with ${beside.join(' and ')} next to it`
  for (const { fileName, externalFileAttributes, generalPurposeBitFlag } of entries) {
    const shown = fileName.slice(0, 100)
    if (seen.has(fileName)) issues.wrong('/file', `"${shown}" is in the zip twice`)
    seen.add(fileName)
    if ((generalPurposeBitFlag & 1) === 1) issues.wrong('/file', `"${shown}" is encrypted`)
    if (isLink(externalFileAttributes)) issues.wrong('/file', `"${shown}" is a link`)
    if (!belongs(framework, fileName))
      issues.wrong('/file', `"${shown}" does not belong to a model of ${framework}`, right)
  }
  if (!seen.has(file)) {
    issues.wrong('/file', `${file} is missing in the zip`, `put ${meaning} at its root and name the file ${file}`)
  }
  issues.throwIfAny('The upload')
}

function isLink(attributes: number): boolean {
  return ((attributes >>> 16) & 0xf000) === 0xa000
}

async function contentOf(stream: AsyncIterable<Uint8Array>, { uncompressedSize }: Entry): Promise<Uint8Array> {
  const content = new Uint8Array(uncompressedSize)
  let at = 0
  for await (const piece of stream) {
    content.set(piece, at)
    at += piece.length
  }
  return content.subarray(0, at)
}

/** Ignores files outside the framework's layout. Throws `VALIDATION` or `TOO_LARGE`. */
export function readFiles({
  framework,
  files,
}: Pick<ModelRelease, 'framework' | 'files'>): Pick<PackageOfFiles, 'framework' | 'digest' | 'files'> {
  const { file, meaning } = LAYOUTS[framework]
  const modelFiles = new Map([...files].filter(([path]) => belongs(framework, path)))
  if (!modelFiles.has(file))
    throw new AppError('VALIDATION', `${file} is missing; add ${meaning} and name the file ${file}`)
  const size = [...modelFiles.values()].reduce((sum, content) => sum + content.length, 0)
  if (size > MAX_UNPACKED) throw new AppError('TOO_LARGE', `the model has more than ${MAX_UNPACKED} bytes`)
  return { framework, digest: digestOf(framework, modelFiles), files: modelFiles }
}

export function digestOf(framework: string, files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash('sha256').update(framework)
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([path, content.length])).update(content)
  }
  return hash.digest('hex')
}
