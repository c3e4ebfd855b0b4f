/** Measures the files of a data folder: databases at each call, objects in the background. */
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** ms for which a sum over all objects is used again, since it visits each file */
const OBJECTS_MS = 600_000

export interface StoredBytesOptions {
  readonly data: string
  readonly blobs: string
  /** false: the databases are not files of this host */
  readonly hasDatabases: boolean
  readonly elapsed: () => number
}

/** Bytes on disk by store: `state`, `series` and `objects`; a store that was not measured yet is absent. */
export type BytesByStore = Readonly<Record<string, number>>

export class StoredBytes {
  readonly #options: StoredBytesOptions
  #objects: number | undefined
  #measuring: Promise<void> | undefined
  #measuredAt = Number.NEGATIVE_INFINITY

  constructor(options: StoredBytesOptions) {
    this.#options = options
  }

  async read(): Promise<BytesByStore> {
    const { data, hasDatabases, elapsed } = this.#options
    if (this.#measuring === undefined && elapsed() - this.#measuredAt >= OBJECTS_MS) this.#measure()
    const [state, series] = hasDatabases
      ? await Promise.all([fileBytes(data, 'state.db'), fileBytes(data, 'series.db')])
      : []
    return {
      ...(state !== undefined && { state }),
      ...(series !== undefined && { series }),
      ...(this.#objects !== undefined && { objects: this.#objects }),
    }
  }

  /** Resolves when the objects are measured. */
  async idle(): Promise<void> {
    await this.#measuring
  }

  #measure(): void {
    this.#measuredAt = this.#options.elapsed()
    this.#measuring = folderBytes(this.#options.blobs)
      .then((bytes) => void (this.#objects = bytes))
      .finally(() => (this.#measuring = undefined))
  }
}

/** Bytes of a database with its write-ahead log. */
async function fileBytes(folder: string, name: string): Promise<number> {
  const sizes = await Promise.all([name, `${name}-wal`].map((one) => sizeOf(join(folder, one))))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Files may appear and disappear meanwhile. */
async function folderBytes(path: string): Promise<number> {
  let bytes = 0
  const folders = [path]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await opendir(folder).catch(() => undefined)
    if (entries === undefined) continue
    for await (const entry of entries) {
      const inner = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(inner)
      else if (entry.isFile()) bytes += await sizeOf(inner)
    }
  }
  return bytes
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}
