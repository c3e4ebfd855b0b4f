/** Converts errors of the file system to coded errors. */
import { AppError, messageOf } from '#kernel'

export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'allow this process to read and write there',
  EPERM: 'allow this process to read and write there',
  EROFS: 'it is mounted read-only; mount it for writing or choose another folder',
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the quota is used up; free some space',
  ENOTDIR: 'a file has the name of a folder; move it',
  EEXIST: 'a file has the name of a folder; move it',
  ELOOP: 'a symbolic link is in the place of an object; remove it',
  EMFILE: 'too many files are open; raise the limit of this process',
  ENFILE: 'too many files are open on this machine; close some',
}

export function storeError(doing: string, thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const advice = ADVICE[codeOf(thrown) ?? ''] ?? 'check the disk'
  return new AppError('STORE', `${doing} failed (${messageOf(thrown)}): ${advice}`, { cause: thrown })
}
