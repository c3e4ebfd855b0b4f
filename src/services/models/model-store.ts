/** The hosted models of one tenant in its store: records by name, and the zips as objects of their own. */
import { AppError } from '../../kernel/errors.ts'
import type { Collection, Store, Stored } from '../../storage/contract.ts'
import { partsOf } from '../../web/body-bytes.ts'
import type { ModelContent } from './contract.ts'
import { type ModelRecord, type ModelState, MODELS } from './model-record.ts'

/** models of one tenant */
const MAX_MODELS = 1_000
/** How often a record is changed again when others change it too. */
const TRIES = 5

export class ModelStore {
  readonly #store: Store
  readonly #records: Collection<ModelRecord>

  constructor(store: Store) {
    this.#store = store
    this.#records = store.collection(MODELS)
  }

  async find(name: string): Promise<Stored<ModelRecord> | undefined> {
    return this.#records.get(name)
  }

  /** `NOT_FOUND` */
  async get(name: string): Promise<Stored<ModelRecord>> {
    const found = await this.find(name)
    if (found === undefined) throw new AppError('NOT_FOUND', 'Model does not exist')
    return found
  }

  /** By name. `text`: a part of it. */
  async list(text: string | undefined): Promise<readonly ModelRecord[]> {
    const where = text === undefined ? [] : [{ field: 'name', op: 'contains', value: text } as const]
    return (await this.#records.find({ where, limit: MAX_MODELS })).map(({ value }) => value)
  }

  /** Those that were being loaded when a host stopped, or that no driver took. */
  async unloaded(): Promise<readonly ModelRecord[]> {
    const where = [{ field: 'state', op: 'in', values: ['loading', 'unsupported'] }] as const
    return (await this.#records.find({ where, limit: MAX_MODELS })).map(({ value }) => value)
  }

  /** Keeps a zip and then its record; the zip of the former record goes. `CONFLICT`: another one was faster. */
  async put(record: ModelRecord, zip: Uint8Array, former: Stored<ModelRecord> | undefined): Promise<void> {
    if (former === undefined && (await this.#records.count()) >= MAX_MODELS) {
      throw new AppError('TOO_LARGE', `there are ${MAX_MODELS} models already; delete one first`)
    }
    await this.#store.blobs.put(pathOf(record), partsOf(zip), { contentType: 'application/zip' })
    try {
      await this.#records.put(record.name, record, former?.version ?? 'absent')
    } catch (error) {
      await this.#store.blobs.delete(pathOf(record))
      throw error
    }
    if (former !== undefined) await this.#store.blobs.delete(pathOf(former.value))
  }

  /** What became of loading it; of an upload that is still the one there is. */
  tell(record: ModelRecord, state: ModelState): Promise<void> {
    return this.#amend(record, { state })
  }

  /** Which version of the function registry it is; so too. */
  release(record: ModelRecord, release: string): Promise<void> {
    return this.#amend(record, { release })
  }

  async #amend({ name, upload }: ModelRecord, change: Partial<ModelRecord>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.find(name)
      // another upload came
      if (found?.value.upload !== upload) return
      try {
        return void (await this.#records.put(name, { ...found.value, ...change }, found.version))
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'CONFLICT' || attempt === TRIES) throw error
      }
    }
  }

  async remove(name: string): Promise<ModelRecord> {
    const { value, version } = await this.get(name)
    await this.#records.delete(name, version)
    await this.#store.blobs.delete(pathOf(value))
    return value
  }

  async content(record: ModelRecord): Promise<ModelContent> {
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

/** Uploads of one name never share an object. */
function pathOf({ name, upload }: ModelRecord): string {
  return `models/${name}/${upload}.zip`
}
