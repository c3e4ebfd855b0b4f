/** Creates the data folder of a host and the keys stored in it. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  rmdirSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { AppError, messageOf } from '#kernel'

const KEY_BYTES = 32

/** Minimum free bytes at start and in operation: nearly the size of a new store. */
const MIN_FREE = 4 * 1_048_576
/** Share of the disk that may be used without a warning */
const MAX_USED = 0.8

/** Creates the folder, accessible only to its owner, and checks that it is writable. Throws `STORE`. */
export function openDataFolder(path: string): void {
  try {
    makeFolder(path)
    rmdirSync(mkdtempSync(join(path, '.try-')))
  } catch (error) {
    throw unusable(path, error)
  }
  const trouble = spaceTrouble(path)
  if (trouble !== undefined) throw new AppError('STORE', `${trouble}, or set --data to another folder`)
}

export function spaceTrouble(path: string, stats: SpaceStats = diskStats): string | undefined {
  const found = stats(path)
  if (found === undefined || found.blocks === 0) return undefined
  const free = found.bavail * found.bsize
  if (free >= MIN_FREE) return undefined
  return `The disk of the data folder ${path} is full: ${Math.floor(free / 1024)} KiB are free, and ${MIN_FREE / 1024} KiB are required; free some space`
}

/** Returns a warning if more than four fifths of the disk are used. */
export function spaceWarning(path: string, stats: SpaceStats = diskStats): string | undefined {
  const { blocks = 0, bavail = 0, bsize = 0 } = stats(path) ?? {}
  if (blocks === 0 || bavail >= blocks * (1 - MAX_USED)) return undefined
  const used = Math.floor((1 - bavail / blocks) * 100)
  const free = Math.floor((bavail * bsize) / 1_048_576)
  return `the disk of the data folder ${path} is ${used} % full, ${free} MiB are free: shorten the retention rules (/retention/v1/rules), or use a larger disk; writes are rejected when it is full`
}

export type SpaceStats = (
  path: string,
) => { readonly blocks: number; readonly bavail: number; readonly bsize: number } | undefined

function diskStats(path: string): ReturnType<SpaceStats> {
  try {
    return statfsSync(path)
  } catch {
    return undefined
  }
}

export function ofFullDisk(error: unknown, path: string): unknown {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (/disk is full|no space left/i.test(cause.message)) return unusable(path, { code: 'ENOSPC' })
  }
  return error
}

/** Creates one folder level at a time: Node's recursive `mkdir` never returns in folders such as /proc. */
function makeFolder(path: string): void {
  if (isFolder(path)) return
  if (!existsSync(dirname(path))) makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // another process may have created the folder meanwhile
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

export function tokenKey(folder: string): Uint8Array {
  return secretKey(folder, 'token.key', 'its tokens then become invalid')
}

export function setTokenKey(folder: string, key: Uint8Array): void {
  const path = join(folder, 'token.key')
  try {
    const draft = `${path}.new`
    writeFileSync(draft, Buffer.from(key).toString('base64url'), { mode: 0o600, flush: true })
    renameSync(draft, path)
    syncNames(folder)
  } catch (error) {
    throw unusable(folder, error)
  }
}

/** Returns the key with the given name, created on first use. `loss`: what stops working when the key is replaced. */
export function secretKey(folder: string, name: string, loss: string): Uint8Array {
  const path = join(folder, name)
  try {
    if (!existsSync(path)) makeKey(folder, path)
    return readKey(path, loss)
  } catch (error) {
    throw error instanceof AppError ? error : unusable(folder, error)
  }
}

export function readKey(path: string, loss: string): Uint8Array {
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url')
  if (key.length >= KEY_BYTES) return key
  throw new AppError('STORE', `${path} is not a valid key; remove it, and the host creates another one (${loss})`)
}

export function randomKey(): Uint8Array {
  return randomBytes(KEY_BYTES)
}

/** Creates the key file atomically: it appears only when complete, and the first writer wins. */
function makeKey(folder: string, path: string): void {
  const drafts = mkdtempSync(join(folder, '.key-'))
  try {
    const draft = join(drafts, 'token.key')
    writeFileSync(draft, Buffer.from(randomKey()).toString('base64url'), { mode: 0o600, flush: true })
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(drafts, { recursive: true, force: true })
  }
  syncNames(folder)
}

function syncNames(folder: string): void {
  // Windows cannot open folders, and persists names without a sync
  if (process.platform === 'win32') return
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'this user is not allowed to write there'],
  ['EPERM', 'this user is not allowed to write there'],
  ['EROFS', 'its disk is read-only'],
  ['ENOENT', 'folders cannot be created there'],
  ['ENOTDIR', 'a part of the path is a file'],
  ['EEXIST', 'a file has that name'],
  ['ENOSPC', 'the disk is full'],
])

export function unusable(path: string, cause: unknown): AppError {
  const { code = '' } = cause as NodeJS.ErrnoException
  const reason = REASONS.get(code) ?? messageOf(cause)
  const remedy = `${code === 'ENOSPC' ? 'free some space, or ' : ''}set --data to another one`
  return new AppError('STORE', `The data folder ${path} cannot be used: ${reason}; ${remedy}`, {
    cause,
  })
}
