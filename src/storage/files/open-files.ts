/**
 * Opens a folder of objects: `objects/<tenant>/<path>`, and `temporary/` for unfinished files.
 * When processes share the folder, one serves each tenant, and each has its own subfolder of `temporary`.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobMedium } from '../blob-medium.ts'
import { DamageWatch } from '../damage.ts'
import { compareText } from '../order.ts'
import { checkTenant, closedError } from '../tenant.ts'
import { FileBlobs, type FileHost, type TenantFiles } from './file-blobs.ts'
import { storeError } from './file-errors.ts'
import { folderAt, makeFolderAt } from './folders.ts'
import { tenantName, tenantOf } from './object-name.ts'
import { PathList, pathsIn } from './path-list.ts'
import { KeyedMutex } from '#kernel'

export interface FilesOptions {
  readonly folder: string
  /** epoch ms; default: the machine's clock */
  readonly clock?: () => number
  /** watch that counts damage; default: a new one */
  readonly damage?: DamageWatch
  /** true when other processes use the folder for other tenants; default false */
  readonly isShared?: boolean
}

/** ms after which a process's temporary folder must be left over from a crash, since no write takes this long */
const REMAINS_MS = 86_400_000

export async function openFiles({
  folder,
  clock = Date.now,
  damage = new DamageWatch(),
  isShared = false,
}: FilesOptions): Promise<BlobMedium> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const base = await realpath(folder)
    const temporary = await makeFolderAt(base, ['temporary'])
    await sweep(temporary, isShared ? clock() - REMAINS_MS : Number.POSITIVE_INFINITY)
    const temporaryFolder = isShared ? await makeFolderAt(base, ['temporary', randomUUID()]) : temporary
    return new FileMedium(await makeFolderAt(base, ['objects']), temporaryFolder, { clock, damage, isShared })
  } catch (thrown) {
    throw storeError(`Opening the folder of objects ${folder}`, thrown)
  }
}

/** Deletes unfinished files after a crash, only those last changed `before` this time. */
async function sweep(temporary: string, before: number): Promise<void> {
  for (const name of await readdir(temporary)) {
    const path = join(temporary, name)
    const touched = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0
    if (touched < before) await rm(path, { recursive: true, force: true })
  }
}

class FileMedium implements BlobMedium, FileHost {
  readonly root: string
  readonly temporary: string
  readonly clock: () => number
  readonly damage: DamageWatch
  readonly #isShared: boolean
  readonly #tenants = new Map<string, TenantFiles>()
  readonly #running = new Set<Promise<unknown>>()
  #closed = false

  constructor(
    root: string,
    temporary: string,
    { clock, damage, isShared }: Required<Pick<FilesOptions, 'clock' | 'damage' | 'isShared'>>,
  ) {
    this.#isShared = isShared
    this.root = root
    this.temporary = temporary
    this.clock = clock
    this.damage = damage
  }

  tenant(id: string): FileBlobs {
    this.checkOpen()
    checkTenant(id)
    let files = this.#tenants.get(id)
    // another process may have served the tenant meanwhile, so cached lists may be stale
    if (files === undefined || this.#isShared) {
      files = { folder: tenantName(id), paths: new PathList(), mutex: new KeyedMutex() }
      this.#tenants.set(id, files)
    }
    return new FileBlobs(this, files)
  }

  async tenants(): Promise<readonly string[]> {
    return this.run(async () => {
      const found: string[] = []
      for (const name of await readdir(this.root)) {
        const tenant = tenantOf(name)
        if (tenant !== undefined && (await this.#hasObjects(name))) found.push(tenant)
      }
      return found.sort(compareText)
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#running)
    if (this.#isShared) await rm(this.temporary, { recursive: true, force: true })
  }

  checkOpen(): void {
    if (this.#closed) throw closedError()
  }

  async run<T>(act: () => Promise<T>): Promise<T> {
    this.checkOpen()
    const running = act()
    this.#running.add(running)
    try {
      return await running
    } catch (thrown) {
      this.damage.note(thrown)
      throw thrown
    } finally {
      this.#running.delete(running)
    }
  }

  async #hasObjects(name: string): Promise<boolean> {
    const folder = await folderAt(this.root, [name])
    if (folder === undefined) return false
    for await (const path of pathsIn(folder, [])) return path !== ''
    return false
  }
}
