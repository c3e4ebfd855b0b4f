/** Caches the results of `prepare` for recent sets of properties of a node. */
import { LruCache } from '#kernel'
import type { Plug } from './plug.ts'

/** Cache size; a node that uses more sets in turn prepares at every call. */
const MOST = 8

/** Caches results for one node of one graph. Errors of `prepare` are not cached. */
export class RecentPrepares {
  readonly #prepare: NonNullable<Plug['prepare']>
  readonly #known = new LruCache<string, { readonly prepared: unknown }>(MOST)

  constructor(prepare: NonNullable<Plug['prepare']>) {
    this.#prepare = prepare
  }

  prepare(properties: Readonly<Record<string, unknown>>): unknown {
    const key = keyOf(properties)
    if (key === undefined) return this.#prepare(properties)
    const known = this.#known.get(key)
    if (known !== undefined) return known.prepared
    const prepared = this.#prepare(properties)
    this.#known.set(key, { prepared })
    return prepared
  }
}

/** Returns equal texts for equal values, including numbers that JSON lacks; undefined for values that are not JSON. */
function keyOf(properties: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return JSON.stringify(properties, (_, value: unknown) =>
      typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))
        ? { number: `${1 / value}${value}` }
        : value,
    )
  } catch {
    return undefined
  }
}
