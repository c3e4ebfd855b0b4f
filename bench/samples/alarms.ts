/** Sample of the alarms service on SQLite: raised alarms, and pages of the alarms of one source among a million. */
import { randomUUID } from 'node:crypto'
import type { AlarmRecord } from '../../src/services/alarms/alarm-record.ts'
import { keyOf } from '../../src/services/alarms/deduplication.ts'
import { openCollections } from '../../src/services/alarms/collections.ts'
import { Alarms } from '../../src/services/alarms/service.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { drive, lanes, sampleOf, type CallsSample } from './calls.ts'
import { withFolder } from './host/folder.ts'

const TENANT = 'bench'
const SOURCES = 10_000
const IN_FLIGHT = 64
/** stored alarms, with their number of sources */
const ALARMS = 1_000_000
const LISTED_SOURCES = 2_000
const AT_ONCE = 5_000
const PAGES = 2_000
const OPEN = 10

export function alarmsSample({ subject }: { subject: 'raise' | 'list' }): Promise<CallsSample> {
  return withFolder(async (folder) => {
    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    const store = storage.tenant(TENANT)
    const service = new Alarms({ tenant: TENANT, store, now: Date.now, newId: () => randomUUID() })
    await service.start()
    const api = service.as({ tenant: TENANT, user: 'bench' })
    const raise = (_lane: unknown, n: number): Promise<unknown> =>
      api.raise({ ...ALARM, source: { id: `boiler-${n}` }, task: 'task-1' }, { history: 'newest' })
    const list = async (_lane: unknown, n: number): Promise<void> => {
      const source = `boiler-${(n * 7) % LISTED_SOURCES}`
      const { total, alarms } = await api.list({ source, status: n % 2 === 0 ? 'ACTIVE' : 'CLEARED' })
      if (total < 50 || alarms.length !== 50) throw new Error(`the page has ${alarms.length} of ${total}`)
    }
    try {
      if (subject === 'raise') return sampleOf(await drive(lanes(IN_FLIGHT), (n) => n < SOURCES, raise))
      const { alarms, commit } = openCollections(TENANT, store)
      for (let from = 0; from < ALARMS; from += AT_ONCE) {
        await commit(Array.from({ length: AT_ONCE }, (_, i) => alarms.putting(idOf(from + i), recordOf(from + i))))
      }
      await drive(
        lanes(1),
        (n) => n < PAGES / 10,
        (lane, n) => list(lane, n + PAGES),
      )
      return sampleOf(await drive(lanes(1), (n) => n < PAGES, list))
    } finally {
      await service.stop()
      await storage.close()
    }
  })
}

const ALARM = {
  type: 'OVERHEATED',
  text: 'the boiler is hotter than its limit',
  severity: 'MAJOR',
} as const

function idOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

function recordOf(n: number): AlarmRecord {
  const source = `boiler-${n % LISTED_SOURCES}`
  const time = 1_790_000_000_000 + n * 1000
  return {
    ...ALARM,
    id: idOf(n),
    key: keyOf(source, ALARM.type, undefined),
    source: { id: source },
    status: Math.floor(n / LISTED_SOURCES) % OPEN === 0 ? 'ACTIVE' : 'CLEARED',
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
  }
}
