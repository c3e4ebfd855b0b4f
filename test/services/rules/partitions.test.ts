import { expect, it } from 'vitest'
import type { RulesApi } from '../../../src/services/rules/contract.ts'
import { acrossPartitions } from '../../../src/services/rules/partitions/rules-partition.ts'
import { partitionOfTask } from '../../../src/cluster/index.ts'

it('a task is rehearsed in its own partition, which keeps its inputs', async () => {
  const local = { rehearsals: { run: async () => 'here' } } as unknown as RulesApi
  const asked: unknown[] = []
  const partition = {
    number: 0,
    count: 2,
    ask: async (at: number, question: unknown) => {
      asked.push([at, question])
      return 'there'
    },
  }
  const api = acrossPartitions(local, { user: 'u' } as never, partition as never)
  const ids = Array.from({ length: 20 }, (_, i) => `t${i}`)
  for (const task of ids) {
    const isHere = partitionOfTask(task, 2) === 0
    asked.length = 0
    expect(await api.rehearsals.run({ task, source: { from: '-1d' } })).toBe(isHere ? 'here' : 'there')
    expect(asked).toMatchObject(isHere ? [] : [[1, { api: 'rehearsals', method: 'run', args: [{ task }] }]])
  }
})
