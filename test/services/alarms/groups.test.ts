import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AlarmGroups, type GroupedAlarm } from '../../../src/services/alarms/alarm-groups.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

const MINUTE = 60_000

/** Returns the group of each alarm, and why it belongs to it. */
function grouped(alarms: readonly Partial<GroupedAlarm>[]): readonly unknown[] {
  const groups = new AlarmGroups()
  return alarms.map((alarm, i) => {
    const { group, by } = groups.add({
      id: `a${i}`,
      time: 0,
      source: `s${i}`,
      ancestors: [],
      rule: undefined,
      ...alarm,
    })
    return by === undefined ? group : `${group} ${by}`
  })
}

describe('groups of alarms', () => {
  it.each<[string, readonly Partial<GroupedAlarm>[], readonly string[]]>([
    [
      'join alarms of a rule within five minutes of its last one',
      [
        { rule: 'r' },
        { rule: 'r', time: 5 * MINUTE },
        { rule: 'r', time: 10 * MINUTE },
        { rule: 'r', time: 16 * MINUTE },
      ],
      ['a0', 'a0 rule', 'a0 rule', 'a3'],
    ],
    [
      'then alarms of a resource, above it and below it',
      [
        { source: 'line', ancestors: ['plant'] },
        { source: 'pump', ancestors: ['line', 'plant'], time: MINUTE },
        { source: 'plant', time: 2 * MINUTE },
        { source: 'elsewhere', time: 3 * MINUTE },
      ],
      ['a0', 'a0 tree', 'a0 tree', 'a3'],
    ],
    ['then alarms within ten seconds', [{}, { time: 10_000 }, { time: 20_001 }], ['a0', 'a0 time', 'a2']],
    [
      'by rule first',
      [{ rule: 'r' }, { source: 'x', time: MINUTE }, { source: 'x', rule: 'r', time: MINUTE + 1 }],
      ['a0', 'a1', 'a0 rule'],
    ],
  ])('%s', (_title, alarms, groups) => {
    expect(grouped(alarms)).toEqual(groups)
  })

  it('forget the oldest rules and resources', () => {
    const many = Array.from({ length: 10_001 }, (_, i) => ({ rule: `r${i}`, time: i * 10 }))
    const groups = new AlarmGroups()
    for (const [i, { rule, time }] of many.entries())
      groups.add({ id: `a${i}`, time, source: `s${i}`, ancestors: [], rule })
    const late = { id: 'late', time: 100_000 + 10_001, ancestors: [] }
    expect(groups.add({ ...late, rule: 'r0', source: 's0' }).by).toBeUndefined()
    expect(groups.add({ ...late, rule: 'r10000', source: 'x' }).by).toBe('rule')
  })
})

describe('the groups of a period', () => {
  let alarms: Bench
  beforeEach(async () => {
    alarms = await bench()
  })
  afterEach(() => alarms.close())

  it('are listed with their alarms, largest first', async () => {
    const raise = (source: string, more: object = {}, cause?: object) =>
      alarms.api.raise(alarmOf({ source: { id: source }, ...more }), {
        ...(cause && { cause: { task: source, node: 'alarm', effect: source, hops: 0 } }),
      })
    await raise('alone')
    alarms.clock.now += MINUTE
    const first = await raise('b1', { severity: 'MINOR' }, {})
    alarms.clock.now += MINUTE
    await raise('b2', { severity: 'CRITICAL' }, {})
    alarms.clock.now += 1
    const answer = await alarms.ask('GET', `/alarm/groups?from=${NOON}`)
    expect(answer.json()).toMatchObject({
      total: 2,
      groups: [
        { group: first.id, alarms: 2, severity: 'CRITICAL', by: { rule: 1, tree: 0, time: 0 }, source: 'b1' },
        { alarms: 1, source: 'alone' },
      ],
    })
    expect(await alarms.service.recentFigures()).toEqual({ announced: 3, standing: 3, stale: 0 })
  })
})
