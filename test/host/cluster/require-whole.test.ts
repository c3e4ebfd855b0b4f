import { expect, it } from 'vitest'
import { PARTITIONED, requireWhole } from '../../../src/host/cluster/require-whole.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

it('a store whose tenants an earlier version divided is refused by their names, and any other is accepted', async () => {
  const own = openMemory().tenant('_host')
  await requireWhole(own)
  await own.collection(PARTITIONED).put('whole', { count: 1 })
  await requireWhole(own)
  await own.collection(PARTITIONED).put('acme', { count: 8 })
  await own.collection(PARTITIONED).put('bolt', { count: 2 })
  await expect(requireWhole(own)).rejects.toMatchObject({
    code: 'STORE',
    message: expect.stringContaining('cannot open: acme, bolt; move them') as string,
  })
})
