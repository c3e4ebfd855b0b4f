/** Raising alarms on 10,000 sources, and raising them again, 64 at a time; and the same commits without the service. */
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { openCollections, type TenantCollections } from '../../../src/services/alarms/collections.ts'
import { eventOf, NOT_LED } from '../../../src/services/alarms/change-alarm.ts'
import { withRepeat } from '../../../src/services/alarms/history.ts'
import { PARTITION, type AlarmRecord } from '../../../src/services/alarms/alarm-record.ts'
import type { Json } from '../../../src/kernel/json.ts'
import type { AlarmEvent } from '../../../src/services/alarms/contract.ts'
import { OCCURRED_AGAIN, RAISED } from '../../../src/services/alarms/words.ts'
import { bodyOf, openService, recordOf, TENANT } from './service.ts'
import { sampleOf, type AlarmsSample, type AlarmsSubject } from './subject.ts'

const SOURCES = 10_000
const IN_FLIGHT = 64
const sourceOf = (n: number): string => `boiler-${n % SOURCES}`

export async function writesSample(
  subject: Exclude<AlarmsSubject, 'list' | 'stream'>,
  folder: string,
): Promise<AlarmsSample> {
  const { service, storage } = await openService(folder)
  const api = service.as({ tenant: TENANT, user: 'bench' })
  const books = openCollections(storage, TENANT)
  const raise = (n: number): Promise<unknown> => api.raise(bodyOf(sourceOf(n)), { history: 'newest' })
  let sample: AlarmsSample
  if (subject === 'raise') sample = await drive(raise)
  else if (subject === 'raise-writes') sample = await drive((n) => writeNew(books, n))
  else if (subject === 'repeat') {
    await drive(raise)
    sample = await drive(raise)
  } else {
    const records: AlarmRecord[] = []
    await drive(async (n) => void (records[n] = await writeNew(books, n)))
    sample = await drive((n) => writeAgain(books, records, n))
  }
  await service.stop()
  await storage.close()
  return sample
}

async function drive(work: (n: number) => Promise<unknown>): Promise<AlarmsSample> {
  const times: number[] = []
  let next = 0
  const start = performance.now()
  const lane = async (): Promise<void> => {
    while (next < SOURCES) {
      const before = performance.now()
      await work(next++)
      times.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  return sampleOf(times, performance.now() - start)
}

async function writeNew(books: TenantCollections, n: number): Promise<AlarmRecord> {
  const alarm = recordOf(n, sourceOf(n))
  const event = eventOf(TENANT, RAISED, alarm, { now: alarm.createTime, led: NOT_LED })
  await books.commit([
    books.alarms.putting(alarm.id, alarm, 'absent'),
    books.keys.putting(alarm.key, { alarm: alarm.id }, 'absent'),
    books.events.appending(PARTITION, [jsonOf(event)]),
  ])
  return alarm
}

async function writeAgain(books: TenantCollections, records: AlarmRecord[], n: number): Promise<void> {
  const before = records[n]
  if (before === undefined) throw new Error(`no alarm ${n}`)
  const { alarm } = withRepeat(before, randomUUID(), before.createTime + 1)
  const now = alarm.createTime + 1
  const moved = { ...alarm, updateTime: now, triggerTime: now }
  const event = eventOf(TENANT, OCCURRED_AGAIN, moved, { now, led: NOT_LED })
  await books.commit([books.alarms.putting(moved.id, moved, 1), books.events.appending(PARTITION, [jsonOf(event)])])
}

const jsonOf = (event: AlarmEvent): Json => event as unknown as Json
