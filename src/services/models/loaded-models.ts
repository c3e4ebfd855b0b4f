/** The models of a host that are loaded: each once, those that were not asked for longest let go when there are many. */
import { AppError } from '#kernel'
import type { ModelDriver, ModelPackage, OpenModel } from './driver.ts'
import type { RuntimeInfo } from './model-schema.ts'

/** models of a host that are loaded at once */
const MAX_LOADED = 200

interface Entry {
  readonly tenant: string
  /** rejects with `CLOSED` when its tenant is closed meanwhile */
  readonly loading: Promise<OpenModel>
  /** ends only when it is loaded or cannot be */
  readonly whole: Promise<OpenModel>
  /** Calls wait for it no longer. */
  readonly giveUp: () => void
  /** calls that are open */
  uses: number
}

export class LoadedModels {
  readonly #drivers: readonly ModelDriver[]
  /** by tenant and digest, in the order of their last use */
  readonly #entries = new Map<string, Entry>()
  #isClosed = false

  /** The first driver that takes a model runs it. */
  constructor(drivers: readonly ModelDriver[]) {
    this.#drivers = drivers
  }

  get size(): number {
    return this.#entries.size
  }

  /** Does something with a model, which is loaded first when it is not there. */
  async use<T>(
    { tenant, digest }: Pick<ModelPackage, 'tenant' | 'digest'>,
    packageOf: () => Promise<ModelPackage>,
    work: (model: OpenModel) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw new AppError('CLOSED', 'the host is stopping')
    const key = `${tenant}/${digest}`
    const entry = this.#entries.get(key) ?? entryOf(tenant, this.#load(packageOf))
    // the last one used comes last
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.uses++
    try {
      return await work(await entry.loading)
    } catch (error) {
      // one that could not be loaded is tried again by the next call
      entry.loading.catch(() => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key)
      })
      throw error
    } finally {
      entry.uses--
      // one that was dropped is closed with its last call
      if (entry.uses === 0 && !this.#isClosed && this.#entries.get(key) !== entry) void closed(entry)
      this.#evict()
    }
  }

  /** Lets go of a model when its last call is over. */
  drop({ tenant, digest }: Pick<ModelPackage, 'tenant' | 'digest'>): void {
    const key = `${tenant}/${digest}`
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    if (entry.uses === 0) void closed(entry)
  }

  /** Lets go of all models of a tenant; what still loads is not waited for. */
  closeOf(tenant: string): void {
    for (const [key, entry] of this.#entries) {
      if (entry.tenant !== tenant) continue
      this.#entries.delete(key)
      entry.giveUp()
      if (entry.uses === 0) void closed(entry)
    }
  }

  /** What the drivers run models with. */
  async runtimes(): Promise<readonly RuntimeInfo[]> {
    return (await Promise.all(this.#drivers.map((driver) => driver.runtimes()))).flat()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    // whatever is still being loaded ends with its driver
    await Promise.all(this.#drivers.map((driver) => driver.close()))
    await Promise.all(entries.map(closed))
  }

  /** Why no driver runs a model; undefined: one does. */
  async refusal(model: ModelPackage): Promise<string | undefined> {
    const found = await this.#driverFor(model)
    return typeof found === 'string' ? found : undefined
  }

  /** The first one that takes it, or why none does. */
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
    giveUp = () => reject(new AppError('CLOSED', 'the services of the tenant stop'))
  })
  return { tenant, loading: Promise.race([whole, ended]), whole, giveUp, uses: 0 }
}

async function closed(entry: Entry): Promise<void> {
  try {
    await (await entry.whole).close()
  } catch {
    // what was never loaded holds nothing, and who loaded it was told
  }
}
