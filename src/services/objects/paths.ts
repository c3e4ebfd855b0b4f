/** Parses and splits the paths of objects. */
import { AppError, shown } from '#kernel'
import { isHidden, MAX_PATH_BYTES } from './contract.ts'

/** Matches characters that XML or UTF-8 cannot represent. */
const UNUSABLE = /[\u0000-\u001f\u007f\p{Surrogate}]/u
const FOLDER_MARK = '.folder'

/** Removes leading slashes; the path of a folder ends in one slash. */
export function readPath(text: string): string {
  const path = tidied(text)
  check(path, path === '' ? 'is empty' : problemIn(path.endsWith('/') ? path.slice(0, -1) : path))
  return path
}

export function readObjectPath(text: string): string {
  const path = readPath(text)
  if (path.endsWith('/')) check(path, 'is the path of a folder; remove the slash at the end for an object')
  return path
}

/** Normalizes a prefix, which may be empty or end within a name. */
export function readPrefix(text: string): string {
  const prefix = tidied(text)
  const whole = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')))
  check(prefix, prefix === '' ? undefined : (unusableIn(prefix) ?? (whole === '' ? undefined : problemIn(whole))))
  return prefix
}

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/', path.length - 2) + 1)
}

export function foldersAround(path: string): readonly string[] {
  const folders: string[] = []
  for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
    folders.push(path.slice(0, at + 1))
  }
  return folders
}

/** Returns the path of the hidden object that keeps an otherwise empty folder in existence. */
export function folderMark(folder: string): string {
  return folder + FOLDER_MARK
}

export function isFolderMark(path: string): boolean {
  return path === FOLDER_MARK || path.endsWith(`/${FOLDER_MARK}`)
}

/** True for a hidden object other than the `.folder` mark; such objects block a removal. */
export function isHiddenObject(path: string): boolean {
  return isHidden(path) && !isFolderMark(path)
}

export function hasHiddenPart(path: string): boolean {
  return path.startsWith('.') || path.includes('/.')
}

function tidied(text: string): string {
  return text.replace(/^\/+/, '').replace(/\/+$/, '/')
}

function check(path: string, problem: string | undefined): void {
  if (problem !== undefined) throw new AppError('VALIDATION', `The path ${shown(path)} ${problem}`)
}

function problemIn(path: string): string | undefined {
  const unusable = unusableIn(path)
  if (unusable !== undefined) return unusable
  const odd = path.split('/').find((part) => part === '' || part === '.' || part === '..')
  if (odd === undefined) return undefined
  return odd === '' ? 'has two slashes in a row; write one' : `has a part "${odd}"; write the path without it`
}

function unusableIn(path: string): string | undefined {
  if (UNUSABLE.test(path)) return 'has a control character, or half of a surrogate pair'
  const bytes = Buffer.byteLength(path)
  return bytes > MAX_PATH_BYTES ? `has ${bytes} bytes, more than ${MAX_PATH_BYTES}` : undefined
}
