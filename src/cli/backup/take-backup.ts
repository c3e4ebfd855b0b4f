/** Takes a backup of a data folder while a host uses it: databases, objects and keys as of one instant. */
import type { Stats } from 'node:fs'
import { lstat, opendir, readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { AppError } from '#kernel'
import { copyDatabases, formOfFile } from '#storage'
import type { BackedUpFile, BackupFolder, Manifest } from './backup-folder.ts'

/** Largest file that is taken beside databases and objects: keys have a few bytes. */
const MAX_KEY_BYTES = 65_536

export interface BackupSource {
  readonly data: string
  /** the folder of objects */
  readonly blobs: string
}

export interface Taken {
  readonly name: string
  readonly files: number
  /** bytes of the files, and of the chunks that were new */
  readonly bytes: number
  readonly written: number
}

interface Taking {
  readonly folder: BackupFolder
  readonly previous: Manifest | undefined
  readonly progress: (share: number, text: string) => void
}

/**
 * Objects are read before and after the databases are copied: the backup has the objects that exist after it, and an
 * object that is replaced or deleted meanwhile as it was. Throws `STORE`.
 */
export async function takeBackup(
  source: BackupSource,
  { folder, previous, progress }: Taking,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<Taken> {
  const objects = new ObjectCopies(source.blobs, folder, previous)
  const temporary = await folder.temporary()
  try {
    await objects.copyAll((count) => progress(0, `${count} objects`))
    const { positions } = await copyDatabases(source.data, temporary, (share) => progress(share * 0.6, 'databases'))
    const present = await objects.list()
    const files: BackedUpFile[] = []
    let written = 0
    for (const [done, file] of (['series.db', 'state.db'] as const).entries()) {
      progress(0.6 + done * 0.15, file)
      const stored = await folder.store(file, join(temporary, file))
      files.push(stored.file)
      written += stored.written
    }
    for (const file of await keysIn(source.data)) {
      const stored = await folder.store(file, join(source.data, file))
      files.push(stored.file)
      written += stored.written
    }
    files.push(...(await objects.finish(present, (count) => progress(0.9, `${count} objects`))))
    const formats = { 'state.db': formOfFile('state.db').number, 'series.db': formOfFile('series.db').number }
    await folder.finish({ name, version, formats, positions, files })
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    return { name, files: files.length, bytes, written: written + objects.written }
  } finally {
    await folder.endTemporary()
  }
}

/** Keys and other small files of the host; databases, locks and folders are not among them. */
async function keysIn(data: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(data, { withFileTypes: true })) {
    if (!entry.isFile() || /\.db(?:-wal|-shm|-journal|\.new)?$/.test(entry.name)) continue
    if ((await lstat(join(data, entry.name))).size <= MAX_KEY_BYTES) found.push(entry.name)
  }
  return found.sort()
}

/** Copies of objects. An object is a file that is never changed in place, so its inode and time identify it. */
class ObjectCopies {
  readonly #root: string
  readonly #folder: BackupFolder
  /** by path, then by mark: objects of the previous backup, and those read in this one */
  readonly #known = new Map<string, BackedUpFile[]>()
  written = 0

  constructor(blobs: string, folder: BackupFolder, previous: Manifest | undefined) {
    this.#root = join(blobs, 'objects')
    this.#folder = folder
    for (const file of previous?.files ?? []) if (file.path.startsWith('blobs/')) this.#known.set(file.path, [file])
  }

  async copyAll(progress: (count: number) => void): Promise<void> {
    let count = 0
    for await (const { path, file, mark } of this.#walk()) {
      await this.#copy(path, file, mark)
      progress((count += 1))
    }
  }

  /** Returns the mark of each object that exists now, by path. */
  async list(): Promise<ReadonlyMap<string, string>> {
    const present = new Map<string, string>()
    for await (const { path, mark } of this.#walk()) present.set(path, mark)
    return present
  }

  /** Returns the objects of `present`, and reads new ones. */
  async finish(
    present: ReadonlyMap<string, string>,
    progress: (count: number) => void,
  ): Promise<readonly BackedUpFile[]> {
    const files: BackedUpFile[] = []
    for (const [path, mark] of present) {
      const same = this.#known.get(path)?.find((known) => known.mark === mark)
      const file = same ?? (await this.#copy(path, this.#fileOf(path), mark)) ?? this.#known.get(path)?.at(-1)
      if (file !== undefined) files.push(file)
      progress(files.length)
    }
    return files
  }

  async #copy(path: string, source: string, mark: string): Promise<BackedUpFile | undefined> {
    const known = this.#known.get(path) ?? []
    const same = known.find((one) => one.mark === mark)
    if (same !== undefined) return same
    try {
      const { file, written } = await this.#folder.store(path, source, mark)
      this.written += written
      this.#known.set(path, [...known, file])
      return file
    } catch (error) {
      // deleted meanwhile
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  }

  #fileOf(path: string): string {
    return join(this.#root, ...path.split('/').slice(1))
  }

  async *#walk(): AsyncIterable<{ readonly path: string; readonly file: string; readonly mark: string }> {
    try {
      for await (const entry of await opendir(this.#root, { recursive: true })) {
        if (!entry.isFile()) continue
        const file = join(entry.parentPath, entry.name)
        const stats = await statsOf(file)
        if (stats === undefined) continue
        const path = `blobs/${relative(this.#root, file).split(sep).join('/')}`
        yield { path, file, mark: `${stats.ino} ${stats.size} ${stats.mtimeMs}` }
      }
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
      throw error
    }
  }
}

async function statsOf(file: string): Promise<Stats | undefined> {
  try {
    return await lstat(file)
  } catch {
    return undefined
  }
}

/** Throws `USAGE` when one of the folders contains another. */
export function checkApart(backups: string, { data, blobs }: BackupSource): void {
  for (const [option, folder] of [
    ['--data', data],
    ['--blobs', blobs],
  ] as const) {
    const [inside, outside] = [relative(folder, backups), relative(backups, folder)]
    const isApart = (path: string): boolean => path === '..' || path.startsWith(`..${sep}`)
    if (isApart(inside) && isApart(outside)) continue
    throw new AppError(
      'USAGE',
      `${backups}: is within the folder of ${option} (${folder}), or contains it; use a folder apart from it, best on another disk`,
    )
  }
}
