/** Series and a log of different age (PROJECTION-3). */
import { expect, it } from 'vitest'
import { LOG_NAME } from '../../../../src/log/message-entry.ts'
import { Projection } from '../../../../src/services/broker/posting/projection.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'

it('series that are older than what is left of the log go on with it, and the hole is reported', async () => {
  const store = openMemory().tenant('acme')
  const log = store.log(LOG_NAME)
  await log.append(0, [{ s: [] }, { s: [] }, { s: [] }])
  await log.trim(0, 2)
  const reports: string[] = []
  const report = (text: string) => void reports.push(text)
  const projection = new Projection({ log, series: store.series, report, recovered: () => undefined })
  await projection.open()
  expect(projection.applied).toBe(3)
  expect(reports[0]).toMatch(/up to entry 0, and the log begins at 3: series are older/)
})
