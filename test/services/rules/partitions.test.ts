import { expect, it } from 'vitest'
import type { RulesApi } from '../../../src/services/rules/contract.ts'
import { acrossPartitions } from '../../../src/services/rules/partitions/rules-partition.ts'

const local = { rehearsals: { run: async () => 'here', remove: async () => 'here' } } as unknown as RulesApi

it.each([
  ['t1', 'here', []],
  ['t1-p1', 'there', [1]],
])('a rehearsal of the task or with the id %s runs and ends %s', async (id, place, places) => {
  const asked: unknown[] = []
  const partition = {
    number: 0,
    count: 2,
    ask: async (at: number) => {
      asked.push(at)
      return 'there'
    },
  }
  const { rehearsals } = acrossPartitions(local, { user: 'u' } as never, partition)
  expect(await rehearsals.run({ task: id, source: { from: '-1d' } })).toBe(place)
  expect(asked).toEqual(places)
  expect(await rehearsals.remove(id)).toBe(place)
  expect(asked).toEqual([...places, ...places])
})
