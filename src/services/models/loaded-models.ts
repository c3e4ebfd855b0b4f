/** Caches the loaded models of a host, and evicts the least recently used. */
import { AppError } from '#kernel'
import type { ModelDriver, ModelPackage, OpenModel } from './driver.ts'
import type { RuntimeInfo } from './model-schema.ts'

const MAX_LOADED = 200

interface Entry {
  readonly tenant: string
  /** rejects with `CLOSED` when the tenant is closed while the model is loading */
  readonly loading: Promise<OpenModel>
  /** settles only when loading has ended */
  readonly whole: Promise<OpenModel>
  readonly giveUp: () => void
  uses: number
}

export class LoadedModels {
  readonly #drivers: readonly ModelDriver[]
  readonly #entries = new Map<string, Entry>()
  #isClosed = false

  constructor(drivers: readonly ModelDriver[]) {
    this.#drivers = drivers
  }

  get size(): number {
    return this.#entries.size
  }

  async use<T>(
    { tenant, digest }: Pick<ModelPackage, 'tenant' | 'digest'>,
    packageOf: () => Promise<ModelPackage>,
    work: (model: OpenModel) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw new AppError('CLOSED', 'the host is stopping')
    const key = `${tenant}/${digest}`
    const entry = this.#entries.get(key) ?? entryOf(tenant, this.#load(packageOf))
    // re-inserting the entry marks it as recently used
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.uses++
    try {
      return await work(await entry.loading)
    } catch (error) {
      // after a failed load, the next call tries again
      entry.loading.catch(() => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key)
      })
      throw error
    } finally {
      entry.uses--
      if (entry.uses === 0 && !this.#isClosed && this.#entries.get(key) !== entry) void closed(entry)
      this.#evict()
    }
  }

  /** Unloads a model after its last call. */
  drop({ tenant, digest }: Pick<ModelPackage, 'tenant' | 'digest'>): void {
    const key = `${tenant}/${digest}`
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    if (entry.uses === 0) void closed(entry)
  }

  closeOf(tenant: string): void {
    for (const [key, entry] of this.#entries) {
      if (entry.tenant !== tenant) continue
      this.#entries.delete(key)
      entry.giveUp()
      if (entry.uses === 0) void closed(entry)
    }
  }

  async runtimes(): Promise<readonly RuntimeInfo[]> {
    return (await Promise.all(this.#drivers.map((driver) => driver.runtimes()))).flat()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(this.#drivers.map((driver) => driver.close()))
    await Promise.all(entries.map(closed))
  }

  async refusal(model: ModelPackage): Promise<string | undefined> {
    const found = await this.#driverFor(model)
    return typeof found === 'string' ? found : undefined
  }

  async #driverFor(model: ModelPackage): Promise<ModelDriver | string> {
    const reasons: string[] = []
    for (const driver of this.#drivers) {
      const reason = await driver.refuses(model)
      if (reason === undefined) return driver
      reasons.push(`${driver.name}: ${reason}`)
    }
    return `no driver of this host runs this model of ${model.framework}: ${reasons.join('; ')}`
  }

  async #load(packageOf: () => Promise<ModelPackage>): Promise<OpenModel> {
    const model = await packageOf()
    const found = await this.#driverFor(model)
    if (typeof found === 'string') throw new AppError('UNSUPPORTED', found)
    return found.open(model)
  }

  #evict(): void {
    if (this.#entries.size <= MAX_LOADED) return
    for (const [key, entry] of this.#entries) {
      if (entry.uses > 0) continue
      this.#entries.delete(key)
      void closed(entry)
      return
    }
  }
}

function entryOf(tenant: string, whole: Promise<OpenModel>): Entry {
  let giveUp = (): void => undefined
  const ended = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(new AppError('CLOSED', 'the services of the tenant are stopping'))
  })
  return { tenant, loading: Promise.race([whole, ended]), whole, giveUp, uses: 0 }
}

async function closed(entry: Entry): Promise<void> {
  try {
    await (await entry.whole).close()
  } catch {
    // a failed load holds no resources, and its caller received the error
  }
}
