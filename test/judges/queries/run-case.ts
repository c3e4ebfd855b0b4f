/** Carries a case out by the query service, over a store in memory. */
import type { RowSet } from '../../../src/services/queries/contract.ts'
import { Queries } from '../../../src/services/queries/service.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import type { JudgedCase } from './random-queries.ts'

/** `[time, value of each series ...]` */
export type JudgedRows = readonly (readonly unknown[])[]

export async function runCase({ series, query }: JudgedCase): Promise<JudgedRows> {
  const storage = openMemory()
  for (const [metric, samples] of Object.entries(series)) {
    // one by one, as they arrive
    for (const [time, value] of samples) {
      await storage.tenant('t').series.append({ samples: [{ resource: 'r', metric, time, value }] })
    }
  }
  const { execute } = new Queries({ store: storage.tenant('t'), now: () => 0 }).as({
    tenant: 't',
    user: 'judge',
  })
  const { data } = await execute({ query })
  await storage.close()
  return (data[0] as RowSet).data
}
