/** Stores contents as chunks whose names are the SHA-256 of their bytes, so that equal chunks are stored once. */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { AppError } from '#kernel'

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)

/** Bytes per chunk: 16 pages of a database, so that a changed page costs little in the next backup. */
export const CHUNK_BYTES = 65_536
const NAME = /^[0-9a-f]{64}$/

/** A folder of chunks. A chunk is complete once it has its name, and is never changed. */
export class Chunks {
  readonly #folder: string
  readonly #made = new Set<string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Stores the chunk if it is new. Returns its name, and the bytes that were written for it. */
  async put(bytes: Uint8Array): Promise<{ readonly name: string; readonly written: number }> {
    const name = createHash('sha256').update(bytes).digest('hex')
    const path = this.#path(name)
    if ((await sizeOf(path)) !== undefined) return { name, written: 0 }
    const packed = await compress(bytes, { level: 1 })
    const parent = name.slice(0, 2)
    if (!this.#made.has(parent)) await mkdir(join(this.#folder, parent), { recursive: true, mode: 0o700 })
    this.#made.add(parent)
    const draft = `${path}.new`
    const handle = await open(draft, 'w', 0o600)
    try {
      await handle.writeFile(packed)
      await handle.datasync()
    } finally {
      await handle.close()
    }
    await rename(draft, path)
    return { name, written: packed.length }
  }

  /** Returns the bytes of a chunk. Throws `STORE` when it is missing or differs from its name. */
  async get(name: string): Promise<Uint8Array> {
    if (!NAME.test(name)) throw new AppError('STORE', `chunk "${name}": is not a valid name; the backup is damaged`)
    let bytes: Uint8Array
    try {
      bytes = await expand(await readFile(this.#path(name)), { maxOutputLength: CHUNK_BYTES })
    } catch (error) {
      throw new AppError('STORE', `chunk ${name}: is missing or damaged; use another backup`, { cause: error })
    }
    if (createHash('sha256').update(bytes).digest('hex') !== name) {
      throw new AppError('STORE', `chunk ${name}: contains other bytes than were written; use another backup`)
    }
    return bytes
  }

  async has(name: string): Promise<boolean> {
    return NAME.test(name) && (await sizeOf(this.#path(name))) !== undefined
  }

  /** Removes all chunks except the named ones, and drafts of interrupted backups. Returns their number and bytes. */
  async keepOnly(names: ReadonlySet<string>): Promise<{ readonly count: number; readonly bytes: number }> {
    let [count, bytes] = [0, 0]
    for (const parent of await namesIn(this.#folder)) {
      for (const name of await namesIn(join(this.#folder, parent))) {
        if (names.has(name)) continue
        const path = join(this.#folder, parent, name)
        bytes += (await sizeOf(path)) ?? 0
        count += 1
        await rm(path, { force: true })
      }
    }
    return { count, bytes }
  }

  #path(name: string): string {
    return join(this.#folder, name.slice(0, 2), name)
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch {
    return undefined
  }
}

export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch {
    return []
  }
}
