/** What a node prepared of its last sets of properties, so that the same is not prepared again. */
import { LruCache } from '#kernel'
import type { Plug } from './plug.ts'

/** How many sets of properties are remembered; a node that goes through more prepares each time. */
const MOST = 8

/**
 * What a plug's `prepare` made of the properties of a node that change from call to call, by their values. Belongs to
 * one node of one graph; what `prepare` throws is thrown each time.
 */
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

/** Equal texts for equal values; undefined for what is no JSON. Numbers that JSON lacks have texts of their own. */
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
