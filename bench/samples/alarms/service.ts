/** The service over a store, as the host makes it, without rules. */
import { randomUUID } from 'node:crypto'
import type { AlarmRecord } from '../../../src/services/alarms/alarm-record.ts'
import { keyOf } from '../../../src/services/alarms/alarm-record.ts'
import { createAlarmsService, type OperatedAlarmsService } from '../../../src/services/alarms/service.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'

export const TENANT = 'bench'

export async function openService(
  folder: string,
): Promise<{ readonly service: OperatedAlarmsService; readonly storage: Storage }> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const service = createAlarmsService({ storage, now: Date.now, newId: () => randomUUID() })
  await service.start()
  return { service, storage }
}

export const bodyOf = (source: string): Readonly<Record<string, unknown>> => ({
  type: 'OVERHEATED',
  text: 'the boiler is hotter than it may be',
  severity: 'MAJOR',
  source: { id: source },
  task: 'task-1',
})

/** An alarm as the service stores it. */
export function recordOf(n: number, source: string, more: Partial<AlarmRecord> = {}): AlarmRecord {
  const time = 1_790_000_000_000 + n * 1000
  return {
    id: randomUUID(),
    key: keyOf(source, 'OVERHEATED', undefined),
    type: 'OVERHEATED',
    text: 'the boiler is hotter than it may be',
    source: { id: source },
    status: 'ACTIVE',
    severity: 'MAJOR',
    count: 1,
    timestamp: time,
    createTime: time,
    updateTime: time,
    triggerTime: time,
    properties: { task: 'task-1' },
    user: 'bench',
    raisedId: randomUUID(),
    updates: 0,
    repeatTail: [],
    updateTail: [],
    ...more,
  }
}
