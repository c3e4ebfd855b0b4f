/** Stores functions: records, tags, and assets as blobs named by their digest. */
import { createHash } from 'node:crypto'
import { AppError, KeyedMutex, retryOnConflict } from '#kernel'
import type { Collection, Store, Stored, Write } from '#storage'
import { CHANGES, FunctionIndex, type IndexChange, type Indexed } from './function-index.ts'
import { type AssetRecord, type FunctionId, FUNCTIONS, type FunctionRecord, recordId } from './function-record.ts'
import { type FunctionType, TYPE_NAMES } from './function-type.ts'
import type { Assets } from './registry/archive.ts'
import { partsOf } from '#services/shared'
import { TAGS, type TagRecord } from './registry/tags.ts'

const GOING: ReadonlySet<FunctionRecord['status']> = new Set(['undeploying', 'undeployed', 'registered'])

export class FunctionStore {
  readonly store: Store
  readonly #records: Collection<FunctionRecord>
  readonly #tags: Collection<TagRecord>
  readonly #index: FunctionIndex
  readonly #turns = new KeyedMutex()

  constructor(store: Store) {
    this.store = store
    this.#records = store.collection(FUNCTIONS)
    this.#tags = store.collection(TAGS)
    this.#index = new FunctionIndex(store)
  }

  /** Runs changes of the same name one after the other; retries after conflicts with other hosts and jobs. */
  inTurn<T>(type: FunctionType, name: string, change: () => Promise<T>): Promise<T> {
    return this.#turns.run(`${type}/${name}`, () => retryOnConflict(change))
  }

  indexed(): Promise<Indexed> {
    return this.#index.current()
  }

  async versions(type: FunctionType, name: string): Promise<readonly FunctionRecord[]> {
    return [...(await this.indexed()).versions(type, name)]
  }

  find(id: FunctionId): Promise<Stored<FunctionRecord> | undefined> {
    return this.#records.get(recordId(id))
  }

  async stored(id: FunctionId): Promise<Stored<FunctionRecord>> {
    const found = await this.find(id)
    if (found === undefined) throw noVersion(id)
    return found
  }

  async get(id: FunctionId): Promise<FunctionRecord> {
    return (await this.stored(id)).value
  }

  async whileThere(id: FunctionId): Promise<readonly Write[] | undefined> {
    const found = await this.find(id)
    if (found === undefined || GOING.has(found.value.status)) return undefined
    return [this.#records.expecting(recordId(id), found.version)]
  }

  putting(record: FunctionRecord, expect: number | 'absent' | 'any'): readonly Write[] {
    const id = recordId(record)
    return [this.#records.putting(id, record, expect), this.#announcing({ record: id })]
  }

  deleting(record: FunctionRecord, expect: number): readonly Write[] {
    const id = recordId(record)
    return [this.#records.deleting(id, expect), this.#announcing({ record: id })]
  }

  puttingTag(tag: TagRecord): readonly Write[] {
    return [this.#tags.putting(tag.name, tag), this.#announcing({ tag: tag.name })]
  }

  deletingTag(name: string): readonly Write[] {
    return [this.#tags.deleting(name), this.#announcing({ tag: name })]
  }

  /** Changes the current record, retrying after conflicts. `change` returns undefined to leave it as is. */
  async change(
    id: FunctionId,
    change: (record: FunctionRecord) => FunctionRecord | undefined,
    commit: (writes: readonly Write[]) => Promise<unknown> = (writes) => this.store.commit(writes),
  ): Promise<FunctionRecord | undefined> {
    return retryOnConflict(async () => {
      const found = await this.find(id)
      const changed = found && change(found.value)
      if (found === undefined || changed === undefined) return found?.value
      await commit(this.putting(changed, found.version))
      return changed
    })
  }

  async putAssets(assets: Assets, isDryRun = false): Promise<readonly AssetRecord[]> {
    const records: AssetRecord[] = []
    for (const path of [...assets.keys()].sort()) {
      const content = assets.get(path) ?? new Uint8Array()
      const sha256 = await digestOf(content)
      const blob = blobOf(sha256)
      if (!isDryRun && (await this.store.blobs.info(blob)) === undefined)
        await this.store.blobs.put(blob, partsOf(content))
      records.push({ path, size: content.length, sha256 })
    }
    return records
  }

  async assets(records: readonly AssetRecord[]): Promise<Assets> {
    const assets = new Map<string, Uint8Array>()
    for (const { path, sha256 } of records) assets.set(path, await this.#content(sha256, path))
    return assets
  }

  async dropAssets(records: readonly AssetRecord[]): Promise<void> {
    const left = new Set(records.map(({ sha256 }) => sha256))
    for (const { assets } of (await this.indexed()).all()) for (const { sha256 } of assets) left.delete(sha256)
    for (const sha256 of left) await this.store.blobs.delete(blobOf(sha256))
  }

  #announcing(change: IndexChange): Write {
    return this.store.log(CHANGES).appending([change])
  }

  async #content(sha256: string, path: string): Promise<Uint8Array> {
    const found = await this.store.blobs.get(blobOf(sha256))
    if (found === undefined) throw new AppError('NOT_FOUND', `the content of ${path} is no longer stored`)
    const pieces: Uint8Array[] = []
    for await (const piece of found.content) pieces.push(piece)
    return Buffer.concat(pieces)
  }
}

export function noVersion({ type, name, version }: FunctionId): AppError {
  return new AppError('NOT_FOUND', `No ${TYPE_NAMES[type].noun} '${name.slice(0, 100)}@${version.slice(0, 40)}'`)
}

export function noFunction(type: FunctionType, name: string): AppError {
  return new AppError('NOT_FOUND', `No ${TYPE_NAMES[type].noun} '${name.slice(0, 100)}'`)
}

async function digestOf(content: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of partsOf(content)) hash.update(part)
  return hash.digest('hex')
}

function blobOf(sha256: string): string {
  return `functions/${sha256}`
}
