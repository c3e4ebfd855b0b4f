/** Finds the alarms of a source and type that can be cleared. */
import type { AlarmRecord } from './alarm-record.ts'
import type { AlarmCollections } from './collections.ts'
import { hasEffect } from './change-alarm.ts'

const PORTION = 1_000

export async function openOf(
  collections: AlarmCollections,
  source: string,
  type: string,
): Promise<readonly AlarmRecord[]> {
  return find(collections, source, type, ['ACTIVE', 'ACKNOWLEDGED'])
}

export async function clearedBy(
  collections: AlarmCollections,
  source: string,
  type: string,
  effect: string,
): Promise<readonly AlarmRecord[]> {
  const changed = await find(collections, source, type, ['ACTIVE', 'CLEARED'], PORTION)
  return changed.filter((alarm) => isOver(alarm) && hasEffect(alarm, effect))
}

function isOver({ status, hasReturned }: AlarmRecord): boolean {
  return status === 'CLEARED' || hasReturned === true
}

async function find(
  collections: AlarmCollections,
  source: string,
  type: string,
  status: readonly AlarmRecord['status'][],
  most = Infinity,
): Promise<readonly AlarmRecord[]> {
  const found: AlarmRecord[] = []
  while (found.length < most) {
    const some = await collections.alarms.find({
      where: [
        { field: 'source', op: 'eq', value: source },
        { field: 'type', op: 'eq', value: type },
        { field: 'status', op: 'in', values: status },
      ],
      sort: [{ field: 'updateTime', descending: true }],
      offset: found.length,
      limit: PORTION,
    })
    found.push(...some.map(({ value }) => value))
    if (some.length < PORTION) break
  }
  return found
}
