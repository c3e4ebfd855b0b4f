/** Stores the converters of one tenant, and finds those for a topic. */
import { AppError, LruCache } from '#kernel'
import type { Collection, CollectionSpec, Store } from '#storage'
import type { Converter } from './converter-schema.ts'
import { wildcardsOf } from './topics.ts'

const CONVERTERS: CollectionSpec<Converter> = {
  name: 'converters',
  version: 1,
  audited: true,
  fields: { topic: { type: 'text', of: ({ mqtt }) => mqtt?.topic } },
}

const MAX_CONVERTERS = 1_000
/** ms for which converters are cached; limited, since other hosts may change them */
const FRESH_MS = 5_000

export interface Fitting {
  readonly converter: Converter
  readonly wildcards: readonly string[]
}

export class Converters {
  readonly #records: Collection<Converter>
  readonly #now: () => number
  readonly #kept = new LruCache<string, { readonly at: number; readonly found: Promise<unknown> }>(MAX_CONVERTERS)

  constructor(store: Store, now: () => number) {
    this.#records = store.collection(CONVERTERS)
    this.#now = now
  }

  async get(name: string): Promise<Converter> {
    const found = await this.#records.get(name)
    if (found === undefined) throw new AppError('NOT_FOUND', `No converter '${name.slice(0, 200)}'`)
    return found.value
  }

  used(name: string): Promise<Converter> {
    return this.#fresh(`of ${name}`, () => this.get(name))
  }

  async all(): Promise<readonly Converter[]> {
    return (await this.#records.find({ limit: MAX_CONVERTERS })).map(({ value }) => value)
  }

  async put(converter: Converter): Promise<boolean> {
    const isNew = (await this.#records.get(converter.name)) === undefined
    if (isNew && (await this.#records.count()) >= MAX_CONVERTERS) {
      throw new AppError('TOO_LARGE', `the tenant has the maximum of ${MAX_CONVERTERS} converters; delete one first`)
    }
    await this.#records.put(converter.name, converter)
    this.#kept.clear()
    return isNew
  }

  async remove(name: string): Promise<Converter> {
    const converter = await this.get(name)
    await this.#records.delete(name)
    this.#kept.clear()
    return converter
  }

  async fitting(topic: string): Promise<readonly Fitting[]> {
    const where = [{ field: 'topic', op: 'exists', value: true }] as const
    const listening = await this.#fresh('with a topic', async () =>
      (await this.#records.find({ where, limit: MAX_CONVERTERS })).map(({ value }) => value),
    )
    return listening.flatMap((converter) => {
      const wildcards = wildcardsOf(converter.mqtt?.topic ?? '', topic)
      return wildcards === undefined ? [] : [{ converter, wildcards }]
    })
  }

  #fresh<Found>(key: string, read: () => Promise<Found>): Promise<Found> {
    const now = this.#now()
    const known = this.#kept.get(key)
    if (known !== undefined && now - known.at < FRESH_MS) return known.found as Promise<Found>
    const kept = { at: now, found: read() }
    this.#kept.set(key, kept)
    // after a failed read, the next payload tries again
    kept.found.catch(() => {
      if (this.#kept.peek(key) === kept) this.#kept.delete(key)
    })
    return kept.found
  }
}
