/** Defines what the crash test writes, unit by unit, and the expected contents after the first n units. */
import type { Collection, CollectionSpec, Log, Store, Write } from '../../../src/storage/contract.ts'
import type { Series } from '../../../src/storage/series.ts'

export interface Unit {
  readonly n: number
  readonly tags: readonly string[]
}

export const UNITS: CollectionSpec<Unit> = {
  name: 'units',
  version: 1,
  fields: {
    n: { type: 'number', of: (unit) => unit.n },
    tags: { type: 'texts', of: (unit) => unit.tags },
  },
}

const KEYS = 7
const unit = (n: number): Unit => ({ n, tags: [`t${n % 3}`, `u${n % 5}`] })
const putKey = (n: number): string => `k${n % KEYS}`
const deletedKey = (n: number): string | undefined => (n % 4 === 0 ? `k${(n + 3) % KEYS}` : undefined)

export function unitWrites(units: Collection<Unit>, log: Log, n: number): readonly Write[] {
  const gone = deletedKey(n)
  return [
    units.putting('left', unit(n)),
    log.appending([n]),
    units.putting(putKey(n), unit(n)),
    ...(gone === undefined ? [] : [units.deleting(gone)]),
    units.putting('right', unit(n)),
  ]
}

/** Returns documents and their versions after units 1 to n. */
export function expectedUnits(n: number): ReadonlyMap<string, { readonly version: number; readonly value: Unit }> {
  const versions = new Map<string, number>()
  const there = new Map<string, { version: number; value: Unit }>()
  for (let i = 1; i <= n; i += 1) {
    for (const id of ['left', putKey(i), 'right']) {
      const version = (versions.get(id) ?? 0) + 1
      versions.set(id, version)
      there.set(id, { version, value: unit(i) })
    }
    const gone = deletedKey(i)
    if (gone !== undefined) there.delete(gone)
  }
  return there
}

export function seriesBatch(n: number): Parameters<Series['append']>[0] {
  return {
    samples: [
      { resource: 'r', metric: 'm', time: n, value: n },
      { resource: `r${n % 5}`, metric: 'last', time: 0, value: n },
    ],
    messages: [{ resource: 'r', stream: 'events', time: n, body: { n } }],
    applies: { log: 'inputs', position: n },
  }
}

/** Applies a unit from the log, as a projection does after a crash. */
export async function applyUnit(store: Store, n: number): Promise<void> {
  const [entry] = await store.log('inputs').read(n - 1, 1)
  if (entry?.body !== n) throw new Error(`position ${n} has ${JSON.stringify(entry?.body)}`)
  await store.series.append(seriesBatch(n))
}
