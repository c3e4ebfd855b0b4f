import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CAUSES, CHUNKS, EVENT_LOG, KEYS } from '../../../src/services/alarms/alarm-record.ts'
import type { Alarm } from '../../../src/services/alarms/contract.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

const MINUTE = 60_000
const DAY = 86_400_000

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

async function later(ms: number): Promise<void> {
  alarms.clock.now += ms
  await alarms.service.keepHouse()
}

const changesOf = ({ history }: Alarm) =>
  history.flatMap(({ changes = [] }) => changes.map(({ oldValue, newValue }) => [oldValue, newValue]))
const eventCount = async () => (await alarms.storage.tenant('acme').log(EVENT_LOG).bounds()).last

describe('an alarm with autoClearAfter', () => {
  it('is cleared that long after it was last raised', async () => {
    const { id } = await alarms.api.raise(alarmOf({ autoClearAfter: 'PT5M' }))
    await later(4 * MINUTE)
    await alarms.api.raise(alarmOf())
    await later(5 * MINUTE - 1)
    expect(await alarms.api.get(id)).toMatchObject({ status: 'ACTIVE', autoClearAfter: 'PT5M' })
    await later(1)
    const cleared = await alarms.api.get(id)
    expect([cleared.status, changesOf(cleared)]).toEqual(['CLEARED', [['ACTIVE', 'CLEARED']]])
    expect(await eventCount()).toBe(3)
    await later(DAY)
    expect(await alarms.api.get(id)).toEqual(cleared)
  })

  it('is cleared after a restart too', async () => {
    const { id } = await alarms.api.raise(alarmOf({ autoClearAfter: 'PT5M' }))
    await alarms.close()
    alarms.clock.now += 10 * MINUTE
    alarms = await bench({ storage: alarms.storage, clock: alarms.clock, ids: 'b' })
    await alarms.service.keepHouse()
    expect(await alarms.api.get(id)).toMatchObject({ status: 'CLEARED' })
  })

  it('is cleared at once with many others', async () => {
    for (let i = 0; i < 450; i++) await alarms.api.raise(alarmOf({ source: { id: `r${i}` }, autoClearAfter: '1m' }))
    await later(MINUTE)
    expect(await alarms.api.list({ status: 'CLEARED', size: 1 })).toMatchObject({ total: 450 })
  })
})

describe('an alarm with an escalation', () => {
  const escalation = { after: 'PT10M', severity: 'critical' }

  it('is escalated once, unless it is acknowledged', async () => {
    const { id } = await alarms.api.raise(alarmOf({ escalation }))
    await later(10 * MINUTE - 1)
    expect(await alarms.api.get(id)).toMatchObject({ severity: 'MAJOR' })
    await later(1)
    const escalated = await alarms.api.get(id)
    expect([escalated.severity, changesOf(escalated)]).toEqual(['CRITICAL', [['MAJOR', 'CRITICAL']]])
    await alarms.api.update(id, { severity: 'MINOR' })
    await later(DAY)
    expect(await alarms.api.get(id)).toMatchObject({ severity: 'MINOR' })
  })

  it('is not escalated once acknowledged, even if it becomes active again', async () => {
    const { id } = await alarms.api.raise(alarmOf({ escalation }))
    await alarms.api.update(id, { status: 'ACKNOWLEDGED' })
    await alarms.api.update(id, { status: 'ACTIVE' })
    await later(DAY)
    expect(await alarms.api.get(id)).toMatchObject({ severity: 'MAJOR' })
  })

  it('to its current severity adds no record', async () => {
    const { id } = await alarms.api.raise(alarmOf({ escalation: { after: 'PT1M', severity: 'MAJOR' } }))
    await later(DAY)
    expect((await alarms.api.get(id)).history).toHaveLength(1)
  })
})

describe('an alarm that is snoozed', () => {
  it('counts repeats without notifications until the snooze ends', async () => {
    const { id } = await alarms.api.raise(alarmOf({ snoozeUntil: NOON + MINUTE }))
    await alarms.api.raise(alarmOf())
    expect(await alarms.api.get(id)).toMatchObject({ count: 2, snoozeUntil: new Date(NOON + MINUTE).toISOString() })
    expect(await eventCount()).toBe(1)
    alarms.clock.now += MINUTE
    await alarms.api.raise(alarmOf())
    const awake = await alarms.api.get(id)
    expect([awake.count, awake.history.length, await eventCount()]).toEqual([3, 4, 2])
    expect(awake).not.toHaveProperty('snoozeUntil')
  })

  it('by an update reports it, and null ends the snooze', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    const until = new Date(NOON + MINUTE).toISOString()
    await alarms.api.update(id, { snoozeUntil: NOON + MINUTE })
    const awake = await alarms.api.update(id, { snoozeUntil: null })
    expect(changesOf(awake)).toEqual([
      [null, until],
      ['none', 'shelved'],
      [until, null],
      ['shelved', 'none'],
    ])
    await alarms.api.raise(alarmOf())
    expect(await eventCount()).toBe(4)
  })
})

describe('retention of alarms', () => {
  it('removes cleared alarms after its age, and leaves open ones', async () => {
    await alarms.close()
    const kept: { age?: number } = {}
    alarms = await bench({ age: () => kept.age })
    const open = await alarms.api.raise(alarmOf())
    const cleared = await alarms.api.raise(alarmOf({ type: 'other' }))
    await alarms.api.update(cleared.id, { status: 'CLEARED' })
    await later(31 * DAY)
    expect(await alarms.api.list({})).toMatchObject({ total: 2 })
    kept.age = 30 * DAY
    await later(1)
    expect(await alarms.api.get(open.id)).toMatchObject({ status: 'ACTIVE' })
    await expect(alarms.api.get(cleared.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('an alarm that was not changed for a year', () => {
  it('is removed with all its data, without an event', async () => {
    const { id } = await alarms.api.raise(alarmOf(), {
      cause: { task: 't', node: 'n', effect: 'e', hops: 1 },
    })
    for (let i = 0; i < 70; i++) await alarms.api.raise(alarmOf(), { history: 'newest' })
    const events = await eventCount()
    await later(365 * DAY)
    expect(await alarms.api.get(id)).toMatchObject({ count: 71 })
    await later(1)
    await expect(alarms.api.get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const store = alarms.storage.tenant('acme')
    const left = [KEYS, CHUNKS, CAUSES].map((spec) => store.collection<object>({ ...spec, fields: {} }).count())
    expect(await Promise.all(left)).toEqual([0, 0, 0])
    expect(await eventCount()).toBe(events)
  })

  it('does not affect a newer one of the same source and type', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    await alarms.api.update(id, { status: 'CLEARED' })
    await later(DAY)
    const young = await alarms.api.raise(alarmOf())
    await later(364 * DAY + 1)
    expect(await alarms.api.list({})).toMatchObject({ total: 1 })
    expect(await alarms.api.raise(alarmOf())).toMatchObject({ id: young.id, count: 2 })
  })
})
