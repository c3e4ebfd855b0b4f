/** Reads a function from a folder: the files to upload, and the manifest. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, messageOf } from '#kernel'
import {
  FUNCTION_TYPES,
  type FunctionType,
  type Manifest,
  MAX_ASSETS,
  MAX_BYTES,
  pathProblem,
  readManifest,
  TYPE_NAMES,
} from '#services/functions'

export interface FunctionFolder {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly type: FunctionType
  readonly manifest: Manifest
}

/** Folders of tools that may lie next to a function's files. */
const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', 'python_modules', '__pycache__'])

/** Reads the folder. Throws `NOT_FOUND`, `VALIDATION` with all problems of the manifest, or `TOO_LARGE`. */
export async function readFunctionFolder(folder: string): Promise<FunctionFolder> {
  const files = new Map<string, Uint8Array>()
  await readInto(files, folder, '')
  if (files.size === 0) throw new AppError('NOT_FOUND', `${folder}: the folder has no files`)
  const type = typeOf([...files.keys()])
  if (type === undefined) {
    const names = FUNCTION_TYPES.map((one) => TYPE_NAMES[one].manifestFile).join(', ')
    throw new AppError(
      'NOT_FOUND',
      `${folder}: the folder contains none of ${names}; "reflexarc functions init" writes one`,
    )
  }
  return { files, type, manifest: readManifest(type, files.get(TYPE_NAMES[type].manifestFile)) }
}

function typeOf(names: readonly string[]): FunctionType | undefined {
  return FUNCTION_TYPES.find((type) => names.includes(TYPE_NAMES[type].manifestFile))
}

export async function isFunctionFolder(path: string): Promise<boolean> {
  try {
    return typeOf(await readdir(path)) !== undefined
  } catch {
    return false
  }
}

async function readInto(files: Map<string, Uint8Array>, folder: string, below: string): Promise<void> {
  for (const entry of await entriesOf(join(folder, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.name.startsWith('.') || LEFT_OUT.has(entry.name)) continue
    if (entry.isDirectory()) {
      await readInto(files, folder, path)
      continue
    }
    if (!entry.isFile()) throw new AppError('VALIDATION', `${join(folder, path)}: only files and folders are uploaded`)
    const problem = pathProblem(path)
    if (problem !== undefined) throw new AppError('VALIDATION', `${join(folder, path)}: ${problem}`)
    files.set(path, new Uint8Array(await readFile(join(folder, path))))
    const size = [...files.values()].reduce((sum, { length }) => sum + length, 0)
    if (files.size > MAX_ASSETS || size > MAX_BYTES) {
      throw new AppError('TOO_LARGE', `${folder}: a function has at most ${MAX_ASSETS} files and ${MAX_BYTES} bytes`)
    }
  }
}

async function entriesOf(folder: string) {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw new AppError('NOT_FOUND', `${folder}: cannot be read: ${messageOf(error)}`)
  }
}
