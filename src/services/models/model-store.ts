/** Stores the models of one tenant: records by name, and zips as separate objects. */
import { AppError, retryOnConflict } from '#kernel'
import type { Collection, Store, Stored, Write } from '#storage'
import { partsOf } from '#services/shared'
import type { ModelContent } from './contract.ts'
import { type ModelRecord, type ModelState, MODELS } from './model-record.ts'

const MAX_MODELS = 1_000

export class ModelStore {
  readonly tenant: string
  readonly #store: Store
  readonly #records: Collection<ModelRecord>

  constructor(tenant: string, store: Store) {
    this.tenant = tenant
    this.#store = store
    this.#records = store.collection(MODELS)
  }

  async find(name: string): Promise<Stored<ModelRecord> | undefined> {
    return this.#records.get(name)
  }

  async get(name: string): Promise<Stored<ModelRecord>> {
    const found = await this.find(name)
    if (found === undefined) throw new AppError('NOT_FOUND', 'Model does not exist')
    return found
  }

  async list(text: string | undefined): Promise<readonly ModelRecord[]> {
    const where = text === undefined ? [] : [{ field: 'name', op: 'contains', value: text } as const]
    return (await this.#records.find({ where, limit: MAX_MODELS })).map(({ value }) => value)
  }

  /** Returns models that were loading when a host stopped, that no driver accepted, or whose server was unreachable. */
  async unloaded(): Promise<readonly ModelRecord[]> {
    const where = [{ field: 'state', op: 'in', values: ['loading', 'unsupported', 'away'] }] as const
    return (await this.#records.find({ where, limit: MAX_MODELS })).map(({ value }) => value)
  }

  /**
   * Stores the zip, if any, and then the record, and removes the previous zip. `conditions` are committed with the
   * record. Throws `CONFLICT` when another upload came first or a condition fails.
   */
  async put(
    record: ModelRecord,
    zip: Uint8Array | undefined,
    former: Stored<ModelRecord> | undefined,
    conditions: readonly Write[] = [],
  ): Promise<void> {
    if (former === undefined && (await this.#records.count()) >= MAX_MODELS) {
      throw new AppError('TOO_LARGE', `the tenant has the maximum of ${MAX_MODELS} models; delete one first`)
    }
    if (zip !== undefined) {
      await this.#store.blobs.put(pathOf(record), partsOf(zip), { contentType: 'application/zip' })
    }
    try {
      const put = this.#records.putting(record.name, record, former?.version ?? 'absent')
      await this.#store.commit([put, ...conditions])
    } catch (error) {
      await this.#dropZip(record)
      throw error
    }
    if (former !== undefined) await this.#dropZip(former.value)
  }

  async #dropZip(record: ModelRecord): Promise<void> {
    if (record.remote === undefined) await this.#store.blobs.delete(pathOf(record))
  }

  /** Stores the outcome of loading an upload. Returns false when the upload is no longer current. */
  async storeState({ name, upload }: ModelRecord, state: ModelState): Promise<boolean> {
    const changed = await this.change(name, (record) => (record.upload === upload ? { ...record, state } : undefined))
    return changed !== undefined
  }

  async change(
    name: string,
    change: (record: ModelRecord) => ModelRecord | undefined,
  ): Promise<ModelRecord | undefined> {
    return retryOnConflict(async () => {
      const found = await this.find(name)
      const changed = found && change(found.value)
      if (found === undefined || changed === undefined) return undefined
      await this.#records.put(name, changed, found.version)
      return changed
    })
  }

  /** Removes exactly the record that `isMeant` accepted last, not a later one. */
  async remove(
    name: string,
    isMeant: (record: ModelRecord) => boolean | Promise<boolean>,
  ): Promise<ModelRecord | undefined> {
    return retryOnConflict(async () => {
      const found = await this.find(name)
      if (found === undefined || !(await isMeant(found.value))) return undefined
      await this.#records.delete(name, found.version)
      await this.#dropZip(found.value)
      return found.value
    })
  }

  async content(record: ModelRecord): Promise<ModelContent> {
    if (record.remote !== undefined) {
      throw new AppError('NOT_FOUND', `Model is on the server ${record.remote.url}, not on this host`)
    }
    const found = await this.#store.blobs.get(pathOf(record))
    if (found === undefined) throw new AppError('NOT_FOUND', 'Model does not exist')
    return { size: found.info.size, content: found.content }
  }

  async zip(record: ModelRecord): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for await (const piece of (await this.content(record)).content) pieces.push(piece)
    return Buffer.concat(pieces)
  }
}

function pathOf({ name, upload }: ModelRecord): string {
  return `models/${name}/${upload}.zip`
}
