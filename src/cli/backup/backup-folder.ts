/**
 * A folder of backups: one manifest per backup, over chunks that all backups share.
 *
 * BACKUP-1 a manifest appears after all of its chunks are on the disk: an interrupted backup is never restored
 * BACKUP-2 a backup changes nothing of earlier ones; a backup is removed only beyond `--keep`
 */
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, messageOf } from '#kernel'
import { lockFolder } from '#storage/sqlite/folder-lock'
import { CHUNK_BYTES, Chunks, namesIn } from './chunks.ts'

/** Number of the format of backup folders. A folder with another number is rejected. */
const FORMAT = 1
const FORMAT_FILE = 'backup.json'

/** One file of a backup. */
export interface BackedUpFile {
  /** path in the data folder, or below `blobs/` for an object; with `/` on every system */
  readonly path: string
  readonly size: number
  /** identifies the state of the file on its disk, so that the next backup need not read it again */
  readonly mark?: string
  readonly chunks: readonly string[]
}

export interface Manifest {
  /** time of the backup, such as `20261130T182011Z`, which sorts by time */
  readonly name: string
  /** version of the program that wrote it */
  readonly version: string
  /** format number of each database file */
  readonly formats: Readonly<Record<string, number>>
  /** last entry of each log: later data is not contained */
  readonly positions: readonly { readonly tenant: string; readonly log: string; readonly last: number }[]
  readonly files: readonly BackedUpFile[]
}

export class BackupFolder {
  readonly #folder: string
  readonly #unlock: () => void
  readonly chunks: Chunks

  /** Opens a folder, and creates it if `create` is set. Throws `STORE` for another folder, or one that is in use. */
  static async open(folder: string, create: boolean): Promise<BackupFolder> {
    const format = join(folder, FORMAT_FILE)
    if (!existsSync(format)) {
      const isFree = !existsSync(folder) || readdirSync(folder).length === 0
      if (!isFree || !create) {
        throw new AppError(
          'STORE',
          `${folder}: does not contain backups; use a folder that reflexarc backup has written${create ? ', or an empty one' : ''}`,
        )
      }
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeSynced(format, JSON.stringify({ format: FORMAT, program: 'reflexarc' }))
    }
    const found = parsed(await readFile(format, 'utf8'), format) as { readonly format?: unknown }
    if (found.format !== FORMAT) {
      throw new AppError(
        'STORE',
        `${format}: has format ${String(found.format)}, this program uses format ${FORMAT}; use the version that wrote it`,
      )
    }
    return new BackupFolder(folder)
  }

  private constructor(folder: string) {
    this.#folder = folder
    this.#unlock = lockFolder(folder)
    this.chunks = new Chunks(join(folder, 'chunks'))
  }

  [Symbol.dispose](): void {
    this.#unlock()
  }

  /** A folder for temporary copies, which is empty at first. */
  async temporary(): Promise<string> {
    const path = join(this.#folder, 'temporary')
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { mode: 0o700 })
    return path
  }

  async endTemporary(): Promise<void> {
    await rm(join(this.#folder, 'temporary'), { recursive: true, force: true })
  }

  /** Returns the names of all backups, oldest first. */
  async names(): Promise<readonly string[]> {
    const files = await namesIn(join(this.#folder, 'manifests'))
    return files.flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : [])).sort()
  }

  /** Returns the backup with that name, or the newest. Throws `NOT_FOUND`, or `STORE` when its manifest is damaged. */
  async read(name?: string): Promise<Manifest> {
    const names = await this.names()
    const chosen = name ?? names.at(-1)
    if (chosen === undefined || !names.includes(chosen)) {
      const known =
        names.length === 0
          ? 'the folder does not contain a finished backup'
          : `use one of ${names.slice(-5).join(', ')}`
      throw new AppError(
        'NOT_FOUND',
        `${this.#folder}: the backup ${chosen ?? ''} does not exist; ${known}`.replace('backup  ', 'backup '),
      )
    }
    const path = this.#manifest(chosen)
    return parsed(await readFile(path, 'utf8'), path) as unknown as Manifest
  }

  /** Stores the manifest, and with it the backup. */
  async finish(manifest: Manifest): Promise<void> {
    await mkdir(join(this.#folder, 'manifests'), { recursive: true, mode: 0o700 })
    await writeSynced(this.#manifest(manifest.name), JSON.stringify(manifest))
  }

  /** Stores the content of a file. Returns it with the bytes that were written. */
  async store(
    path: string,
    source: string,
    mark?: string,
  ): Promise<{ readonly file: BackedUpFile; readonly written: number }> {
    const handle = await open(source, 'r')
    try {
      const chunks: string[] = []
      let [size, sum] = [0, 0]
      const buffer = Buffer.alloc(CHUNK_BYTES)
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, size)
        if (bytesRead === 0) break
        const { name, written } = await this.chunks.put(buffer.subarray(0, bytesRead))
        chunks.push(name)
        size += bytesRead
        sum += written
      }
      return { file: { path, size, ...(mark !== undefined && { mark }), chunks }, written: sum }
    } finally {
      await handle.close()
    }
  }

  /** Writes a file of a backup to `target`, which must not exist. Throws `STORE` when a chunk is damaged. */
  async extract({ path, size, chunks }: BackedUpFile, target: string): Promise<void> {
    const handle = await open(target, 'wx', 0o600)
    try {
      let written = 0
      for (const name of chunks) {
        const bytes = await this.chunks.get(name)
        await handle.writeFile(bytes)
        written += bytes.length
      }
      if (written !== size)
        throw new AppError('STORE', `${path}: has ${written} bytes instead of ${size}; use another backup`)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  /** Removes all but the newest backups, and chunks that none of the others uses. Returns the removed names. */
  async keep(count: number): Promise<readonly string[]> {
    const names = await this.names()
    const old = names.slice(0, Math.max(0, names.length - count))
    for (const name of old) await rm(this.#manifest(name))
    const used = new Set<string>()
    for (const name of await this.names()) {
      for (const { chunks } of (await this.read(name)).files) for (const chunk of chunks) used.add(chunk)
    }
    await this.chunks.keepOnly(used)
    return old
  }

  #manifest(name: string): string {
    return join(this.#folder, 'manifests', `${name}.json`)
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, path)
}

function parsed(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw new AppError('STORE', `${path}: is damaged (${messageOf(error)}); use another backup`, { cause: error })
  }
}
