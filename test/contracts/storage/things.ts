/** The documents that the suites write: something of every field type. */
import type { Json } from '../../../src/kernel/json.ts'
import type { Collection, CollectionSpec, Store } from '../../../src/storage/contract.ts'

export interface Thing {
  readonly name?: string | undefined
  readonly status?: string | undefined
  readonly size?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly at?: { readonly lat: number; readonly lng: number } | undefined
  readonly extra?: Json | undefined
}

export const THINGS: CollectionSpec<Thing> = {
  name: 'things',
  version: 1,
  fields: {
    name: { type: 'text', of: (thing) => thing.name },
    status: { type: 'text', of: (thing) => thing.status },
    size: { type: 'number', of: (thing) => thing.size },
    tags: { type: 'texts', of: (thing) => thing.tags ?? [] },
    at: { type: 'place', of: (thing) => thing.at },
  },
  together: [
    ['status', 'size'],
    ['name', 'status', 'size'],
  ],
}

export interface Counter {
  readonly count: number
}

export const COUNTERS: CollectionSpec<Counter> = {
  name: 'counters',
  version: 1,
  fields: { count: { type: 'number', of: (counter) => counter.count } },
}

/** Documents that make the differences between media show: case, Unicode order, absent fields, the date line. */
export const SAMPLES: Readonly<Record<string, Thing>> = {
  a: { name: 'Boiler', status: 'on', size: 1, tags: ['hot', 'metal'], at: { lat: 52.5, lng: 13.4 } },
  b: { name: 'boiler two', status: 'off', size: -2.5, tags: ['cold'], at: { lat: -17, lng: 179 } },
  c: { name: 'ÄRGER', status: 'on', size: 2 ** 53 + 2, tags: [], at: { lat: -18, lng: -179 } },
  d: { name: 'ärger', size: 0, at: { lat: 0, lng: 0 } },
  e: {},
  f: { name: '50%_[x]?*\\', status: 'on', size: 10, tags: ['hot', 'hot'] },
  g: { name: 'ΟΔΟΣ', status: '', size: 9, at: { lat: 90, lng: 180 } },
  h: { name: '😀 smile', size: -0, tags: ['😀', 'metal'] },
  i: { name: '～ wave\nline two', size: 2 ** 53, at: { lat: -90, lng: -180 } },
}

export async function withSamples(store: Store): Promise<Collection<Thing>> {
  const things = store.collection(THINGS)
  await store.commit(Object.entries(SAMPLES).map(([id, thing]) => things.putting(id, thing)))
  return things
}
