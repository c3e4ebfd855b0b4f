/** The converters of one tenant as they are stored, and those among them that have a topic. */
import { AppError, LruCache } from '#kernel'
import type { Collection, CollectionSpec, Store } from '#storage'
import type { Converter } from './converter-schema.ts'
import { wildcardsOf } from './topics.ts'

const CONVERTERS: CollectionSpec<Converter> = {
  name: 'converters',
  version: 1,
  fields: { topic: { type: 'text', of: ({ mqtt }) => mqtt?.topic } },
}

/** converters of one tenant */
const MAX_CONVERTERS = 1_000
/** ms after which what another host may have written is read */
const FRESH_MS = 5_000

export interface Fitting {
  readonly converter: Converter
  readonly wildcards: readonly string[]
}

export class Converters {
  readonly #records: Collection<Converter>
  readonly #now: () => number
  /** those that payloads came for, as they were read */
  readonly #used = new LruCache<string, { readonly at: number; readonly converter: Converter }>(MAX_CONVERTERS)
  #changes = 0
  #listening: { readonly at: number; readonly all: Promise<readonly Converter[]> } | undefined

  constructor(store: Store, now: () => number) {
    this.#records = store.collection(CONVERTERS)
    this.#now = now
  }

  async get(name: string): Promise<Converter> {
    const found = await this.#records.get(name)
    if (found === undefined) throw new AppError('NOT_FOUND', `No converter '${name.slice(0, 200)}'`)
    return found.value
  }

  /** The same for payloads, of which many come for one converter: it is read again after a while. */
  async used(name: string): Promise<Converter> {
    const known = this.#used.get(name)
    const now = this.#now()
    if (known !== undefined && now - known.at < FRESH_MS) return known.converter
    const changes = this.#changes
    const converter = await this.get(name)
    // what was changed meanwhile may have been read as it was
    if (changes === this.#changes) this.#used.set(name, { at: now, converter })
    return converter
  }

  async all(): Promise<readonly Converter[]> {
    return (await this.#records.find({ limit: MAX_CONVERTERS })).map(({ value }) => value)
  }

  /** True when it was not there. */
  async put(converter: Converter): Promise<boolean> {
    const isNew = (await this.#records.get(converter.name)) === undefined
    if (isNew && (await this.#records.count()) >= MAX_CONVERTERS) {
      throw new AppError('TOO_LARGE', `there are ${MAX_CONVERTERS} converters already; delete one first`)
    }
    await this.#records.put(converter.name, converter)
    this.#changed()
    return isNew
  }

  async remove(name: string): Promise<Converter> {
    const converter = await this.get(name)
    await this.#records.delete(name)
    this.#changed()
    return converter
  }

  #changed(): void {
    this.#changes += 1
    this.#listening = undefined
    this.#used.clear()
  }

  /** Those whose topic it is, by name. */
  async fitting(topic: string): Promise<readonly Fitting[]> {
    return (await this.#listeners()).flatMap((converter) => {
      const wildcards = wildcardsOf(converter.mqtt?.topic ?? '', topic)
      return wildcards === undefined ? [] : [{ converter, wildcards }]
    })
  }

  #listeners(): Promise<readonly Converter[]> {
    const now = this.#now()
    if (this.#listening !== undefined && now - this.#listening.at < FRESH_MS) return this.#listening.all
    const read = async (): Promise<readonly Converter[]> => {
      const where = [{ field: 'topic', op: 'exists', value: true }] as const
      return (await this.#records.find({ where, limit: MAX_CONVERTERS })).map(({ value }) => value)
    }
    const all = read()
    const listening = { at: now, all }
    this.#listening = listening
    // what failed is read again by the next message
    all.catch(() => {
      if (this.#listening === listening) this.#listening = undefined
    })
    return all
  }
}
