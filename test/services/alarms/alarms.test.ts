import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Alarm } from '../../../src/services/alarms/contract.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

const AT_NOON = new Date(NOON).toISOString()

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

const raise = (more?: Readonly<Record<string, unknown>>): Promise<Alarm> => alarms.api.raise(alarmOf(more))
const typesOf = ({ history }: Alarm): readonly string[] => history.map(({ type }) => type.split('.').at(-1) ?? '')

describe('raising an alarm', () => {
  it('returns the whole alarm', async () => {
    const answer = await alarms.ask('POST', '/alarm/alarms', alarmOf({ task: 't1', myRef: { deep: [1, null] } }))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      id: 'a1',
      self: 'http://localhost:80/alarm/alarms/a1',
      creationTime: AT_NOON,
      lastUpdateTime: AT_NOON,
      lastTriggeredTime: AT_NOON,
      type: 'HEAT',
      timestamp: AT_NOON,
      text: 'too hot',
      source: { id: 'boiler-1' },
      status: 'ACTIVE',
      lifecycle: 'unacknowledged',
      suppression: 'none',
      severity: 'MAJOR',
      count: 1,
      revision: 1,
      history: [
        { id: 'a2', type: 'io.service.alarm.AlarmRaised', text: 'Alarm raised', timestamp: AT_NOON, user: 'tester' },
      ],
      additionalProperties: { task: 't1', myRef: { deep: [1, null] } },
    })
    expect(await alarms.api.get('a1')).toEqual({ ...answer.json<object>(), self: '/alarm/alarms/a1' })
  })

  it('again increments the count of the open alarm, and changes nothing else', async () => {
    const first = await raise({ timestamp: '2009-01-01T00:00:00Z', assignee: 'user/1' })
    alarms.clock.now += 1000
    const second = await raise({ severity: 'minor', text: 'other', assignee: 'user/2', more: 1, status: 'CLEARED' })
    const then = new Date(NOON + 1000).toISOString()
    expect(second).toEqual({
      ...first,
      count: 2,
      revision: 2,
      lastUpdateTime: then,
      lastTriggeredTime: then,
      history: [
        ...first.history,
        {
          id: 'a3',
          type: 'io.service.alarm.EventOccuredAgain',
          text: 'Alarm event occurred again',
          timestamp: then,
        },
      ],
    })
  })

  it.each([
    ['another source', { source: { id: 'boiler-2' } }],
    ['another type', { type: 'COLD' }],
    ['a deduplication key', { dedupKey: 'k' }],
  ])('with %s creates another alarm', async (_what, more) => {
    const first = await raise()
    expect((await raise(more)).id).not.toBe(first.id)
  })

  it('with the same deduplication key is a repeat, for any source and type', async () => {
    await raise({ dedupKey: 'k' })
    expect(await raise({ dedupKey: 'k', type: 'COLD', source: { id: 'x' } })).toMatchObject({ count: 2, type: 'HEAT' })
  })

  it('keeps source and type apart, even if their concatenations are equal', async () => {
    await raise({ source: { id: 'a' }, type: '","b' })
    expect(await raise({ source: { id: 'a","' }, type: 'b' })).toMatchObject({ count: 1 })
  })

  it('after the last one was cleared creates a new alarm', async () => {
    const first = await raise()
    await alarms.api.update(first.id, { status: 'cleared' })
    expect(await raise()).toMatchObject({ count: 1, status: 'ACTIVE' })
    expect(await alarms.api.get(first.id)).toMatchObject({ count: 1, status: 'CLEARED' })
  })

  it('after the last one was deleted creates a new alarm', async () => {
    const first = await raise()
    await raise()
    await alarms.api.remove(first.id)
    expect(await raise()).toMatchObject({ count: 1 })
  })

  it('as cleared creates an alarm that is not open', async () => {
    expect(await raise({ status: 'CLEARED' })).toMatchObject({ status: 'CLEARED', count: 1 })
    expect(await raise()).toMatchObject({ status: 'ACTIVE', count: 1 })
  })

  it('keeps further fields of the source, and converts words to capitals', async () => {
    const alarm = await raise({ source: { id: 'r', floor: 3 }, severity: 'Critical', status: 'acknowledged' })
    expect(alarm).toMatchObject({
      source: { id: 'r', floor: 3 },
      severity: 'CRITICAL',
      status: 'ACKNOWLEDGED',
    })
  })

  it.each([
    [NOON - 5, NOON - 5],
    [String(NOON - 5), NOON - 5],
    ['2026-11-20T13:00:00+02:00', NOON - 3_600_000],
  ])('accepts the time %j', async (timestamp, expected) => {
    expect((await raise({ timestamp })).timestamp).toBe(new Date(expected).toISOString())
  })

  it('reports all problems at once', async () => {
    const answer = await alarms.ask('POST', '/alarm/alarms', {
      text: 5,
      severity: 'bad',
      source: {},
      timestamp: '2026-02-30T08:00:00Z',
      snoozeUntil: 'later',
      dedupKey: '',
      autoClearAfter: 'P1Y',
      escalation: { after: 'PT1M', severity: 'x', more: 1 },
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      statusCode: 400,
      code: 'VALIDATION',
      error: expect.stringContaining('the alarm: /type <- is required') as unknown,
      details: [
        '/type <- is required',
        '/text <- String value expected',
        '/severity <- Could not parse severity, valid values are: CRITICAL, MAJOR, MINOR, WARNING',
        '/source/id <- is required',
        '/timestamp <- is not a valid time: day 2026-02-30 does not exist, that month has 28 (write ISO 8601 or epoch milliseconds)',
        '/snoozeUntil <- is not a valid time (write ISO 8601 or epoch milliseconds)',
        '/autoClearAfter <- "P1Y" is not a duration (write a duration such as PT5M, at most 3650 days)',
        '/escalation/more <- is unknown (known are after, severity)',
        '/escalation/severity <- Could not parse severity, valid values are: CRITICAL, MAJOR, MINOR, WARNING',
        expect.stringContaining('/dedupKey <- is empty'),
      ],
    })
  })

  it.each([
    ['a name that reaches a prototype', alarmOf({ x: JSON.parse('{"__proto__":1}') as unknown }), 'VALIDATION'],
    ['one on top', JSON.parse('{"__proto__":1}') as unknown, 'VALIDATION'],
    ['depth', alarmOf({ x: nested(30) }), 'VALIDATION'],
    ['size', alarmOf({ x: 'y'.repeat(70_000) }), 'TOO_LARGE'],
    ['many values', alarmOf({ x: Array.from({ length: 600 }, (_, i) => i) }), 'TOO_LARGE'],
  ])('rejects %s', async (_what, body, code) => {
    await expect(alarms.api.raise(body)).rejects.toMatchObject({ code })
  })
})

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { x: nested(depth - 1) }
}

describe('updating an alarm', () => {
  it('records the changes, severity before status', async () => {
    const { id } = await raise()
    alarms.clock.now += 5
    const answer = await alarms.ask('PUT', `/alarm/alarms/${id}`, {
      status: 'acknowledged',
      severity: 'warning',
    })
    expect(answer.statusCode).toBe(200)
    const alarm = answer.json<Alarm>()
    expect(alarm).toMatchObject({ status: 'ACKNOWLEDGED', severity: 'WARNING', count: 1 })
    expect(alarm.lastUpdateTime).toBe(new Date(NOON + 5).toISOString())
    expect(alarm.lastTriggeredTime).toBe(AT_NOON)
    expect(alarm.history[1]).toEqual({
      id: 'a3',
      user: 'tester',
      type: 'io.service.alarm.AlarmUpdated',
      text: 'Alarm updated',
      timestamp: new Date(NOON + 5).toISOString(),
      changes: [
        {
          attribute: 'severity',
          type: 'io.service.alarm.change.severity',
          oldValue: 'MAJOR',
          newValue: 'WARNING',
        },
        {
          attribute: 'status',
          type: 'io.service.alarm.change.status',
          oldValue: 'ACTIVE',
          newValue: 'ACKNOWLEDGED',
        },
      ],
    })
  })

  it('accepts an alarm as it was read, with a change', async () => {
    const alarm = await raise({ floor: 3, escalation: { after: 'PT1H', severity: 'CRITICAL' } })
    const changed = await alarms.ask('PUT', `/alarm/alarms/${alarm.id}`, { ...alarm, assignee: 'user/1' })
    expect([changed.statusCode, changed.json()]).toMatchObject([200, { assignee: 'user/1', revision: 2 }])
  })

  it.each([[''], [null]])('with the assignee %j removes the assignee', async (assignee) => {
    const { id } = await raise()
    await alarms.api.update(id, { assignee: 'user/1' })
    const alarm = await alarms.api.update(id, { assignee })
    expect(alarm).not.toHaveProperty('assignee')
    expect(alarm.history.flatMap(({ changes = [] }) => changes)).toEqual([
      {
        attribute: 'assignee',
        type: 'io.service.alarm.change.attribute',
        oldValue: null,
        newValue: 'user/1',
      },
      {
        attribute: 'assignee',
        type: 'io.service.alarm.change.attribute',
        oldValue: 'user/1',
        newValue: null,
      },
    ])
  })

  it('without a difference adds no record to the history', async () => {
    const before = await raise()
    alarms.clock.now += 5
    expect(await alarms.api.update(before.id, { status: 'active', severity: 'MAJOR', assignee: '' })).toEqual(before)
  })

  it('can reactivate an acknowledged alarm', async () => {
    const { id } = await raise()
    await alarms.api.update(id, { status: 'ACKNOWLEDGED' })
    const alarm = await alarms.api.update(id, { status: 'ACTIVE' })
    expect([alarm.status, typesOf(alarm)]).toEqual(['ACTIVE', ['AlarmRaised', 'AlarmUpdated', 'AlarmUpdated']])
  })

  it('is rejected once the alarm is cleared', async () => {
    const { id } = await raise()
    const cleared = await alarms.api.update(id, { status: 'CLEARED' })
    for (const body of [{ status: 'ACTIVE' }, { status: 'CLEARED' }, { assignee: 'x' }]) {
      const answer = await alarms.ask('PUT', `/alarm/alarms/${id}`, body)
      expect([answer.statusCode, answer.json()]).toEqual([
        412,
        { statusCode: 412, error: 'Alarm is in final state', code: 'FINAL' },
      ])
    }
    expect(await alarms.api.get(id)).toEqual(cleared)
  })

  it.each([
    [{ text: 'x' }, '/ <- does not change anything (set at least one of severity, status, assignee, snoozeUntil)'],
    [{ status: 'ACTIVE', asignee: 'x' }, '/asignee <- is unknown (did you mean assignee?)'],
  ])('rejects %j', async (body, detail) => {
    const { id } = await raise()
    const answer = await alarms.ask('PUT', `/alarm/alarms/${id}`, body)
    expect([answer.statusCode, answer.json<{ details: unknown }>().details]).toEqual([400, [detail]])
  })
})

describe('an alarm that does not exist', () => {
  it('includes deleted alarms', async () => {
    const { id } = await raise()
    const deleted = await alarms.ask('DELETE', `/alarm/alarms/${id}`)
    expect([deleted.statusCode, deleted.body]).toEqual([204, ''])
    expect((await alarms.ask('GET', `/alarm/alarms/${id}`)).statusCode).toBe(404)
  })
})
