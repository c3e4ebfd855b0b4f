/** Hosts over one store, by hand: they join, look, write, die, freeze, wake and drain in any order. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SLOT_TABLE, SLOT_TABLES } from '../../../src/cluster/placement/cluster-records.ts'
import { ModelCluster } from './model-cluster.ts'

const TENANTS = ['acme', 'north', 'south', 'east']

type Act =
  | {
      readonly do: 'join' | 'look' | 'write' | 'crash' | 'freeze' | 'wake' | 'drain' | 'miss' | 'replace'
      readonly host: number
      readonly tenant: number
    }
  | { readonly do: 'pass' | 'set'; readonly ms: number }

const host = fc.nat(4)
const tenant = fc.nat(TENANTS.length - 1)
const acts = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('look' as const), host, tenant }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), host, tenant }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom('join', 'crash', 'freeze', 'wake', 'drain', 'miss', 'replace'),
        host,
        tenant,
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(4_000) }) },
    // the clock of the store is set, back too
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('set' as const), ms: fc.integer({ min: -9_000, max: 9_000 }) }),
    },
  ),
  { minLength: 5, maxLength: 60 },
)

// Holds PLACEMENT-1, PLACEMENT-2, PLACEMENT-3, FENCE-1, FENCE-3
it('whatever happens to hosts, one at a time writes to a tenant, and in the end each tenant has a host', async () => {
  await fc.assert(
    fc.asyncProperty(acts, fc.boolean(), async (history, isTelling) => {
      const cluster = new ModelCluster()
      cluster.isTelling = isTelling
      cluster.join(0)
      for (const act of history) await play(cluster, act)
      cluster.wakeAll()
      cluster.join(9)
      await cluster.passUntilGone()
      await cluster.lookAll(3)
      const live = cluster.idsOfLive()
      const table = await cluster.store.collection(SLOT_TABLES).get(SLOT_TABLE)
      expect(table?.value.owners.filter((owner) => !live.has(owner))).toEqual([])
      for (const name of TENANTS) {
        expect(await cluster.writeAnywhere(name)).toBe(true)
        await cluster.settle()
        checkLog(await cluster.written(name), cluster.acknowledged(name))
      }
    }),
  )
})

async function play(cluster: ModelCluster, act: Act): Promise<void> {
  switch (act.do) {
    case 'pass':
      cluster.pass(act.ms)
      break
    case 'set':
      cluster.setClock(act.ms)
      break
    case 'write':
      cluster.write(act.host, TENANTS[act.tenant] ?? '')
      break
    // a host stands still in the middle of a write, and others take over
    case 'replace':
      cluster.freeze(act.host)
      cluster.write(act.host, TENANTS[act.tenant] ?? '')
      await cluster.passUntilGone()
      await cluster.lookAll(2)
      await cluster.writeAnywhere(TENANTS[act.tenant] ?? '')
      break
    default:
      cluster[act.do](act.host)
  }
  await cluster.settle()
}

function checkLog(written: readonly { id: string; term: number; n: number }[], acknowledged: readonly number[]): void {
  const holders = new Map<number, string>()
  let term = 0
  for (const entry of written) {
    // terms only rise, and each is one host's
    expect(entry.term).toBeGreaterThanOrEqual(term)
    term = entry.term
    expect(holders.get(term) ?? entry.id).toBe(entry.id)
    holders.set(term, entry.id)
  }
  const counts = written.map(({ n }) => n)
  expect(new Set(counts).size).toBe(counts.length)
  expect(counts).toEqual(expect.arrayContaining([...acknowledged]))
}
