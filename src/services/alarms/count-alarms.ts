/** Counts the alarms that a query selects, by each of their states. */
import type { AlarmCollections } from './collections.ts'
import type { AlarmCounts, AlarmQuery } from './contract.ts'
import { readCounted } from './read-query.ts'

const COUNTED = ['status', 'severity', 'lifecycle', 'suppression'] as const

export async function countAlarms({ alarms }: AlarmCollections, query: AlarmQuery): Promise<AlarmCounts> {
  const where = readCounted(query)
  const [status, severity, lifecycle, suppression] = await Promise.all(
    COUNTED.map(async (field) => Object.fromEntries(await alarms.countBy(field, where))),
  )
  const total = Object.values(status ?? {}).reduce((sum, count) => sum + count, 0)
  return {
    total,
    status: status ?? {},
    severity: severity ?? {},
    lifecycle: lifecycle ?? {},
    suppression: suppression ?? {},
  }
}
