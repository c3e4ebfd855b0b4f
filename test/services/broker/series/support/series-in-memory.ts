/** Provides series over storage in memory, at a fixed time, with samples from the test. */
import { createSeries, type TenantSeries } from '../../../../../src/services/broker/series/create-series.ts'
import type { Sample, SampleValue, StoredMessage } from '../../../../../src/storage/contract.ts'
import { openMemory } from '../../../../../src/storage/memory/open-memory.ts'

/** Epoch ms of 2024-03-01T12:00:00Z */
export const NOW = 1_709_294_400_000
export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** Samples of resource `r`, metric `m` by default. */
export type Points = readonly (readonly [time: number, value: SampleValue])[]

export async function shelf(
  points: Points | readonly Sample[] = [],
  { messages = [], samplesRead }: { messages?: readonly StoredMessage[]; samplesRead?: number } = {},
): Promise<TenantSeries> {
  const store = openMemory({ clock: () => NOW }).tenant('t')
  const samples = points.map((point): Sample => {
    if (!isPoint(point)) return point
    return { resource: 'r', metric: 'm', time: point[0], value: point[1] }
  })
  await store.series.append({ samples, messages })
  return createSeries({ store, now: () => NOW, ...(samplesRead !== undefined && { samplesRead }) })
}

function isPoint(point: Points[number] | Sample): point is Points[number] {
  return Array.isArray(point)
}

/** Returns the rows of resource `r`, metric `m`. */
export async function rowsOf(of: TenantSeries, query: Parameters<TenantSeries['series']['get']>[2]): Promise<unknown> {
  return (await of.series.get('r', 'm', query)).series
}
