import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EVENT_LOG } from '../../../src/services/alarms/alarm-record.ts'
import type { Alarm, AlarmEvent, AlarmSuppressor } from '../../../src/services/alarms/contract.ts'
import { timelineOf } from '../../../src/services/alarms/timeline.ts'
import {
  LIFECYCLES,
  type Lifecycle,
  STATUS_OF,
  SUPPRESSIONS,
  type Suppression,
} from '../../../src/services/alarms/life-cycle.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

const MINUTE = 60_000
const HOUR = 3_600_000

let alarms: Bench
let suppressor: AlarmSuppressor | undefined
beforeEach(async () => {
  suppressor = undefined
  alarms = await bench({ suppressor: () => suppressor })
})
afterEach(() => alarms.close())

async function later(ms: number): Promise<void> {
  alarms.clock.now += ms
  await alarms.service.keepHouse()
}

const latching = () => alarms.api.types.put('HEAT', { latching: true })
const until = (ms: number) => new Date(NOON + ms).toISOString()

async function events(): Promise<readonly AlarmEvent[]> {
  const entries = await alarms.storage.tenant('acme').log(EVENT_LOG).read(0, 10_000)
  return entries.map(({ body }) => body as unknown as AlarmEvent)
}
const typesOf = async () => (await events()).map(({ eventtype }) => eventtype.replace('io.service.alarm.', ''))

/** Raises an alarm, and changes it until it has the states. */
async function inStates(lifecycle: Lifecycle, suppression: Suppression): Promise<Alarm> {
  const { id } = await alarms.api.raise(alarmOf())
  if (lifecycle === 'acknowledged') await alarms.api.acknowledge(id)
  if (lifecycle === 'returned' || lifecycle === 'normal') await alarms.api.update(id, { status: 'CLEARED' })
  if (lifecycle === 'normal') await alarms.api.acknowledge(id)
  if (suppression === 'shelved') await alarms.api.shelve(id, { until: until(HOUR), reason: 'test' })
  else if (suppression !== 'none') await alarms.service.suppress({ ids: [id] }, { suppression, by: 'window/1' })
  return alarms.api.get(id)
}

/** The state after a PUT of each status, with a latching type; undefined: the alarm is final. */
const PUT = {
  unacknowledged: { ACTIVE: 'unacknowledged', ACKNOWLEDGED: 'acknowledged', CLEARED: 'returned' },
  acknowledged: { ACTIVE: 'unacknowledged', ACKNOWLEDGED: 'acknowledged', CLEARED: 'normal' },
  returned: { ACTIVE: 'returned', ACKNOWLEDGED: 'normal', CLEARED: 'returned' },
} as const

const pairs = LIFECYCLES.flatMap((lifecycle) =>
  SUPPRESSIONS.map((suppression) => [lifecycle, suppression] as const),
).filter(([lifecycle, suppression]) => lifecycle !== 'normal' || suppression === 'none')

// Holds ALARM-4
describe('an alarm of a latching type', () => {
  beforeEach(latching)

  it.each(pairs)(
    'that is %s and %s has the status of the table, and a PUT does what the table states',
    async (...pair) => {
      const [lifecycle, suppression] = pair
      for (const status of ['ACTIVE', 'ACKNOWLEDGED', 'CLEARED'] as const) {
        const alarm = await inStates(lifecycle, suppression)
        expect(alarm).toMatchObject({ lifecycle, suppression, status: STATUS_OF[lifecycle] })
        if (lifecycle === 'normal') {
          await expect(alarms.api.update(alarm.id, { status })).rejects.toMatchObject({ code: 'FINAL' })
        } else {
          const next = PUT[lifecycle][status]
          const after = await alarms.api.update(alarm.id, { status })
          const held = next === 'normal' ? 'none' : suppression
          expect(after).toMatchObject({ lifecycle: next, status: STATUS_OF[next], suppression: held })
          expect(timelineOf(after).at(-1)?.alarm).toMatchObject({ lifecycle: next, suppression: held })
          const listed = await alarms.api.list({ lifecycle: next, suppression: held })
          expect(listed.alarms.map(({ id }) => id)).toContain(alarm.id)
          expect(await alarms.api.counts({ source: 'boiler-1' })).toMatchObject({
            lifecycle: { [next]: expect.any(Number) as number },
            suppression: { [held]: expect.any(Number) as number },
          })
        }
        await alarms.api.remove(alarm.id)
      }
    },
  )

  it('stays until it is acknowledged, and is unacknowledged again when it is raised', async () => {
    const { id } = await alarms.api.raise(alarmOf({ autoClearAfter: 'PT1M' }))
    await later(MINUTE)
    expect(await alarms.api.get(id)).toMatchObject({ status: 'ACTIVE', lifecycle: 'returned' })
    await later(HOUR)
    expect(await alarms.api.raise(alarmOf())).toMatchObject({ id, count: 2, lifecycle: 'unacknowledged' })
    expect((await events()).at(-1)).toMatchObject({
      changes: [{ attribute: 'lifecycle', oldValue: 'returned', newValue: 'unacknowledged' }],
    })
    await later(MINUTE)
    expect(await alarms.api.acknowledge(id)).toMatchObject({ status: 'CLEARED', lifecycle: 'normal' })
    expect((await alarms.api.raise(alarmOf())).id).not.toBe(id)
  })

  it('is cleared by a rule once', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    const cause = { task: 't', node: 'n', effect: 't/1/1/1', hops: 0 }
    expect(await alarms.service.clear('boiler-1', 'HEAT', cause)).toMatchObject([{ id, lifecycle: 'returned' }])
    expect(await alarms.service.clear('boiler-1', 'HEAT', cause)).toMatchObject([{ id, lifecycle: 'returned' }])
  })
})

describe('a history', () => {
  it('states who did what, and why', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    await alarms.api.shelve(id, { until: until(HOUR), reason: 'sensor is exchanged' })
    await alarms.service.as({ tenant: 'acme', user: 'ann' }).acknowledge(id, { comment: 'seen' })
    await alarms.api.comment(id, { text: 'looks better' })
    await alarms.api.update(id, { status: 'CLEARED' })
    const { history, holds } = await alarms.api.comment(id, { text: 'was the seal' })
    expect(history.map(({ user, type, comment }) => [user, type.split('.').at(-1), comment])).toEqual([
      ['tester', 'AlarmRaised', undefined],
      ['tester', 'AlarmUpdated', 'sensor is exchanged'],
      ['ann', 'AlarmUpdated', 'seen'],
      ['tester', 'AlarmCommented', 'looks better'],
      ['tester', 'AlarmUpdated', undefined],
      ['tester', 'AlarmCommented', 'was the seal'],
    ])
    expect(holds).toBeUndefined()
    expect((await alarms.api.comments(id)).comments.map(({ text }) => text)).toEqual([
      'sensor is exchanged',
      'seen',
      'looks better',
      'was the seal',
    ])
    expect(await alarms.api.list({ commented: true })).toMatchObject({ total: 1 })
    expect(await alarms.api.list({ commented: false })).toMatchObject({ total: 0 })
  })
})

describe('a shelved alarm', () => {
  const shelve = (id: string, ms = HOUR) => alarms.api.shelve(id, { until: until(ms), reason: 'test' })

  it('is announced when the shelving ends, once, also after a restart', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    await shelve(id)
    await alarms.api.raise(alarmOf())
    expect(await typesOf()).toEqual(['AlarmRaised', 'AlarmUpdated'])
    await alarms.close()
    alarms = await bench({ storage: alarms.storage, clock: alarms.clock, ids: 'b' })
    await later(HOUR)
    await later(HOUR)
    expect(await typesOf()).toEqual(['AlarmRaised', 'AlarmUpdated', 'AlarmAnnounced'])
    expect((await events()).at(-1)).toMatchObject({ user: 'system/alarms', alarm: { id, suppression: 'none' } })
    expect(await alarms.api.get(id)).toMatchObject({ suppression: 'none', count: 2 })
  })

  it('that is cleared is not announced, and the next alarm inherits the shelving', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    await shelve(id)
    await alarms.api.update(id, { status: 'CLEARED' })
    const next = await alarms.api.raise(alarmOf())
    expect(next).toMatchObject({ suppression: 'shelved', snoozeUntil: until(HOUR), holds: [{ reason: 'test' }] })
    expect((await events()).at(-1)).toMatchObject({ alarm: { id: next.id, suppression: 'shelved' } })
    await later(HOUR)
    expect((await events()).filter(({ eventtype }) => eventtype.endsWith('Announced'))).toHaveLength(1)
    await alarms.api.update(next.id, { status: 'CLEARED' })
    expect(await alarms.api.raise(alarmOf())).toMatchObject({ suppression: 'none' })
  })

  it('is announced when it is unshelved, unless something else holds it', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    await shelve(id)
    await alarms.service.suppress({ source: 'boiler-1' }, { suppression: 'outOfService', by: 'window/1', reason: 'x' })
    expect(await alarms.api.unshelve(id, { comment: 'done' })).toMatchObject({ suppression: 'outOfService' })
    expect(await typesOf()).not.toContain('AlarmAnnounced')
    expect(await alarms.service.release('window/1')).toBe(1)
    expect((await typesOf()).at(-1)).toBe('AlarmAnnounced')
    expect(await alarms.service.release('window/1')).toBe(0)
  })

  it.each([
    [{ until: NOON - 1, reason: 'x' }, '/until', /is in the past/],
    [{ until: NOON + 2 * HOUR + 1, reason: 'x' }, '/until', /later than the longest shelving of HEAT/],
    [{ until: NOON + HOUR }, '/reason', /is required/],
  ])('cannot be shelved with %j', async (body, path, message) => {
    await alarms.api.types.put('HEAT', { longestShelving: 'PT2H' })
    const { id } = await alarms.api.raise(alarmOf())
    await expect(alarms.api.shelve(id, body)).rejects.toMatchObject({
      issues: [{ path, message: expect.stringMatching(message) as string }],
    })
  })

  it('cannot be snoozed beyond the longest shelving', async () => {
    await alarms.api.types.put('HEAT', { longestShelving: 'PT2H' })
    await expect(alarms.api.raise(alarmOf({ snoozeUntil: NOON + 3 * HOUR }))).rejects.toMatchObject({ status: 400 })
    const { id } = await alarms.api.raise(alarmOf())
    await expect(alarms.api.update(id, { snoozeUntil: NOON + 3 * HOUR })).rejects.toMatchObject({ status: 400 })
  })
})

describe('a suppressed alarm', () => {
  it('is suppressed from its beginning by what holds its resource', async () => {
    const hold = { suppression: 'suppressed', by: 'window/7', reason: 'maintenance', until: NOON + HOUR } as const
    suppressor = { holdsOn: ({ source }) => (source.id === 'boiler-1' ? [hold] : []) }
    const held = await alarms.api.raise(alarmOf())
    expect(held).toMatchObject({ suppression: 'suppressed', holds: [{ by: 'window/7', reason: 'maintenance' }] })
    expect(await alarms.api.raise(alarmOf({ source: { id: 'other' } }))).toMatchObject({ suppression: 'none' })
    await later(HOUR)
    expect((await events()).at(-1)).toMatchObject({
      eventtype: 'io.service.alarm.AlarmAnnounced',
      alarm: { id: held.id },
    })
  })

  it('accepts at most twenty holds', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    const suppress = (by: number) =>
      alarms.service.suppress({ ids: [id] }, { suppression: 'suppressed', by: `w/${by}` })
    for (let i = 0; i < 20; i++) await suppress(i)
    await suppress(3)
    await expect(suppress(20)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })
})

describe('a filter', () => {
  it('wins over an additional property of its name, which additional. still finds', async () => {
    const { id } = await alarms.api.raise(alarmOf({ lifecycle: 'prototype', additional: { lifecycle: 'nested' } }))
    await alarms.api.raise(alarmOf({ type: 'COLD' }))
    const ids = async (query: object) => (await alarms.api.list({ ...query })).alarms.map((alarm) => alarm.id)
    expect(await ids({ lifecycle: 'unacknowledged' })).toHaveLength(2)
    expect(await ids({ 'additional.lifecycle': 'prototype' })).toEqual([id])
    expect(await ids({ 'additional.lifecycle': 'nested' })).toEqual([id])
    await expect(alarms.api.list({ lifecycle: 'prototype' })).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('selects events of the stream', async () => {
    const gone = new AbortController()
    const where = { suppression: 'shelved', source: ['boiler-1'] }
    const stream = alarms.api.events({ signal: gone.signal, after: '0', where })[Symbol.asyncIterator]()
    const { id } = await alarms.api.raise(alarmOf())
    await alarms.api.raise(alarmOf({ snoozeUntil: NOON + 1, source: { id: 'other' } }))
    await alarms.api.shelve(id, { until: until(HOUR), reason: 'x' })
    const { value } = (await stream.next()) as { value: { id: string } }
    expect(value.id).toBe('3')
    gone.abort()
  })
})

describe('a type of alarms', () => {
  it('is stored, listed, replaced with its revision, and deleted', async () => {
    const texts = { cause: 'a leak', consequence: 'no pressure', action: 'close the valve' }
    const put = await alarms.ask('PUT', '/alarm/types/HEAT', { texts, latching: true, suppressedBy: ['POWER'] })
    expect([put.statusCode, put.headers.etag]).toEqual([200, '"1"'])
    expect((await alarms.ask('PUT', '/alarm/types/HEAT', {}, { 'if-match': '"7"' })).statusCode).toBe(412)
    expect((await alarms.ask('PUT', '/alarm/types/HEAT', put.json<object>())).json()).toMatchObject({
      revision: 2,
      texts,
    })
    expect(await alarms.api.types.list()).toMatchObject([{ type: 'HEAT', latching: true, suppressedBy: ['POWER'] }])
    expect((await alarms.ask('DELETE', '/alarm/types/HEAT')).statusCode).toBe(204)
    expect((await alarms.ask('GET', '/alarm/types/HEAT')).statusCode).toBe(404)
  })

  it.each([
    [{ latching: 'yes' }, '/latching'],
    [{ longestShelving: 'soon' }, '/longestShelving'],
    [{ suppressedBy: ['HEAT'] }, '/suppressedBy'],
    [{ colour: 'red' }, '/colour'],
  ])('with %j is rejected', async (body, path) => {
    await expect(alarms.api.types.put('HEAT', body)).rejects.toMatchObject({ issues: [{ path }] })
  })
})
