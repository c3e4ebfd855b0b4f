import { expect, it } from 'vitest'
import { LOG_NAME } from '../../../../src/log/message-entry.ts'
import { SeriesProjector } from '../../../../src/services/broker/posting/series-projector.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'

// Holds PROJECTOR-5
it('series that are older than the rest of the log continue with it, and the hole is reported', async () => {
  const store = openMemory().tenant('acme')
  const log = store.log(LOG_NAME)
  const { series } = store
  await log.append([{ s: [] }, { s: [] }, { s: [] }])
  await log.trim(2)
  const reports: string[] = []
  const report = (text: string) => void reports.push(text)
  const limits = { posts: 1, characters: 1, restMs: 0 }
  const projector = new SeriesProjector({ log, series, limits, report, recovered: () => undefined })
  await projector.open()
  expect(await projector.reached(false)).toBe(3)
  expect(reports[0]).toMatch(/up to 0, but the log begins at 3: series are older/)
})
