/** Restores a backup into a new data folder, and verifies backups. */
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, messageOf } from '#kernel'
import { examineFile, formOfFile, type FileName } from '#storage'
import type { BackedUpFile, BackupFolder, Manifest } from './backup-folder.ts'
import type { BackupSource } from './take-backup.ts'

const DATABASES: readonly FileName[] = ['state.db', 'series.db']

/** Everything is checked before a file is written, and the data folder appears last, complete. Throws `STORE`. */
export async function restoreBackup(
  folder: BackupFolder,
  manifest: Manifest,
  target: BackupSource,
  progress: (share: number, text: string) => void,
): Promise<void> {
  const objects = join(target.blobs, 'objects')
  for (const [option, path] of [
    ['--data', target.data],
    ['--blobs', objects],
  ] as const) {
    if (existsSync(path) && readdirSync(path).length > 0) {
      throw new AppError('STORE', `${option}: ${path} is not empty; restore into a new folder`)
    }
  }
  checkFormats(manifest)
  const problems = await missingChunks(folder, manifest)
  if (problems.length > 0) throw new AppError('STORE', listed(`the backup ${manifest.name} is incomplete`, problems))
  await mkdir(dirname(target.data), { recursive: true })
  const draft = await mkdtemp(`${target.data}.restoring-`)
  try {
    const sum = manifest.files.reduce((bytes, { size }) => bytes + size, 0)
    let done = 0
    for (const file of manifest.files) {
      const path = placeOf(file, draft, join(draft, 'objects-of-backup'))
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await folder.extract(file, path)
      done += file.size
      progress(sum === 0 ? 1 : done / sum, file.path.startsWith('blobs/') ? 'objects' : file.path)
    }
    if (existsSync(join(draft, 'objects-of-backup'))) await moveObjects(join(draft, 'objects-of-backup'), draft, target)
    if (existsSync(target.data)) await rmdir(target.data)
    await rename(draft, target.data)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}

/** Moves restored objects to their place: within the new data folder, or to a folder of their own. */
async function moveObjects(from: string, draft: string, { data, blobs }: BackupSource): Promise<void> {
  const isInside = blobs.startsWith(join(data, '/'))
  const parent = isInside ? join(draft, blobs.slice(data.length)) : blobs
  await mkdir(parent, { recursive: true, mode: 0o700 })
  if (existsSync(join(parent, 'objects'))) await rmdir(join(parent, 'objects'))
  await rename(from, join(parent, 'objects'))
}

/** Returns all problems of a backup: of its chunks, and of the records in its databases. */
export async function verifyBackup(
  folder: BackupFolder,
  manifest: Manifest,
  progress: (share: number, text: string) => void,
): Promise<readonly string[]> {
  const problems: string[] = []
  const temporary = await folder.temporary()
  try {
    for (const [at, file] of manifest.files.entries()) {
      progress(at / manifest.files.length, file.path)
      const database = DATABASES.find((name) => name === file.path)
      try {
        if (database === undefined) for (const chunk of file.chunks) await folder.chunks.get(chunk)
        else {
          const path = join(temporary, database)
          await folder.extract(file, path)
          for (const { place, problem } of examineFile(path, database).damaged) problems.push(`${place}: ${problem}`)
        }
      } catch (error) {
        problems.push(`${file.path}: ${messageOf(error)}`)
      }
    }
  } finally {
    await folder.endTemporary()
  }
  return problems
}

function checkFormats({ name, formats, version }: Manifest): void {
  for (const file of DATABASES) {
    const [had, reads] = [formats[file], formOfFile(file).number]
    if (had === reads) continue
    const age = had !== undefined && had > reads ? 'a newer' : 'an older'
    throw new AppError(
      'STORE',
      `the backup ${name} was written by ${age} version of this program (${version}): its ${file} has format ${String(had)}, ` +
        `this one reads format ${reads}; restore it with that version`,
    )
  }
}

async function missingChunks(folder: BackupFolder, { files }: Manifest): Promise<readonly string[]> {
  const problems = DATABASES.flatMap((name) => (files.some(({ path }) => path === name) ? [] : [`${name} is missing`]))
  for (const { path, chunks } of files) {
    for (const chunk of chunks) {
      if (!(await folder.chunks.has(chunk))) problems.push(`${path} lacks chunk ${chunk}`)
    }
  }
  return problems
}

/** Throws `STORE` for a path that would leave the folder. */
function placeOf({ path }: BackedUpFile, data: string, objects: string): string {
  const parts = path.split('/')
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\0]/.test(part))
  const isObject = parts[0] === 'blobs' && parts.length > 1
  if (isPlain && isObject) return join(objects, ...parts.slice(1))
  if (isPlain && parts.length === 1) return join(data, path)
  throw new AppError('STORE', `the manifest contains the path "${path}", which is not valid; use another backup`)
}

const MAX_LISTED = 10

function listed(what: string, problems: readonly string[]): string {
  const more = problems.length > MAX_LISTED ? `; and ${problems.length - MAX_LISTED} more` : ''
  return `${what}: ${problems.slice(0, MAX_LISTED).join('; ')}${more}; use another backup`
}
