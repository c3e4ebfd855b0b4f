import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Alarm, TimelineItem } from '../../../src/services/alarms/contract.ts'
import { timelineOf } from '../../../src/services/alarms/timeline.ts'
import { TIMELINE_MEDIA_TYPE } from '../../../src/services/shared/http/media-types.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'
import { runs } from '../../support/arbitraries/runs.ts'

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

const asked = { accept: TIMELINE_MEDIA_TYPE }

describe('a timeline', () => {
  it('of an alarm that is raised twice, cleared, and raised again has four items', async () => {
    const { id } = await alarms.api.raise(alarmOf({ timestamp: NOON - 5 }))
    alarms.clock.now++
    await alarms.api.raise(alarmOf())
    alarms.clock.now++
    await alarms.api.update(id, { status: 'CLEARED', assignee: 'user/1' })
    alarms.clock.now++
    const third = await alarms.api.raise(alarmOf())
    expect(third.id).not.toBe(id)

    const answer = await alarms.ask('GET', '/alarm/alarms?source=boiler-1', undefined, asked)
    expect(answer.headers['content-type']).toBe(`${TIMELINE_MEDIA_TYPE}; charset=utf-8`)
    const first = {
      id,
      creationTime: '2026-11-20T12:00:00.000Z',
      timestamp: '2026-11-20T11:59:59.995Z',
      source: { id: 'boiler-1' },
      type: 'HEAT',
      text: 'too hot',
      severity: 'MAJOR',
      status: 'ACTIVE',
      lifecycle: 'unacknowledged',
      suppression: 'none',
    }
    const anew = {
      ...first,
      id: third.id,
      creationTime: '2026-11-20T12:00:00.003Z',
      timestamp: '2026-11-20T12:00:00.003Z',
    }
    expect(answer.json()).toEqual([
      { timestamp: NOON, type: 'io.service.alarm.AlarmRaised', alarm: first },
      { timestamp: NOON + 1, type: 'io.service.alarm.EventOccuredAgain', alarm: first },
      {
        timestamp: NOON + 2,
        type: 'io.service.alarm.AlarmUpdated',
        alarm: { ...first, status: 'CLEARED', lifecycle: 'normal', assignee: 'user/1' },
      },
      { timestamp: NOON + 3, type: 'io.service.alarm.AlarmRaised', alarm: anew },
    ] satisfies readonly TimelineItem[])
  })

  it('covers the requested period, regardless of page and size', async () => {
    for (let i = 0; i < 5; i++) {
      await alarms.api.raise(alarmOf())
      alarms.clock.now++
    }
    const url = `/alarm/alarms?source=boiler-1&from=${NOON + 1}&to=${NOON + 3}&page=4&size=1`
    const answer = await alarms.ask('GET', url, undefined, asked)
    expect(answer.json<TimelineItem[]>().map(({ timestamp }) => timestamp - NOON)).toEqual([1, 2, 3])
  })

  it('merges the alarms of several sources by time', async () => {
    await alarms.api.raise(alarmOf({ source: { id: 'a' } }))
    alarms.clock.now++
    await alarms.api.raise(alarmOf({ source: { id: 'b' } }))
    alarms.clock.now++
    await alarms.api.raise(alarmOf({ source: { id: 'a' } }))
    const items = await alarms.api.timeline({ source: ['a', 'b'] })
    expect(items.map(({ alarm }) => alarm['source'])).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'a' }])
    expect(await alarms.api.timeline({ source: ['a', 'b'], type: 'COLD' })).toEqual([])
  })

  it('requires a source', async () => {
    const answer = await alarms.ask('GET', '/alarm/alarms?type=HEAT', undefined, asked)
    expect([answer.statusCode, answer.json<{ details: unknown }>().details]).toEqual([
      400,
      ['/source <- is missing (name at least one source)'],
    ])
  })
})

const severity = fc.constantFrom('CRITICAL', 'MAJOR', 'MINOR', 'WARNING')
const change = fc.record(
  { severity, status: fc.constantFrom('ACTIVE', 'ACKNOWLEDGED'), assignee: fc.constantFrom('a', 'b', null) },
  { requiredKeys: ['severity'] },
)

// Holds ALARM-2
describe('a history', () => {
  it('replays to the present state, with the state after each update', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(change), { maxLength: 30 }), async (steps) => {
        const one = await bench()
        const { id } = await one.api.raise(alarmOf())
        const states: Alarm[] = [await one.api.get(id)]
        for (const step of steps) {
          const before = states.at(-1)
          const after = step === null ? await one.api.raise(alarmOf()) : await one.api.update(id, step)
          if (after.history.length !== before?.history.length) states.push(after)
        }
        const items = timelineOf(await one.api.get(id))
        expect(items.map(({ alarm }) => [alarm['status'], alarm['severity'], alarm['assignee']])).toEqual(
          states.map(({ status, severity: level, assignee }) => [status, level, assignee]),
        )
        await one.close()
      }),
      runs(30),
    )
  })
})
