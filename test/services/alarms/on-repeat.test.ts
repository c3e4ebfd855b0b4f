import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alarmOf, bench, type Bench } from './support/bench-of-alarms.ts'

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

describe('a repeat', () => {
  it.each([
    ['count', 'CRITICAL', 'MINOR', 'first'],
    ['highest', 'CRITICAL', 'CRITICAL', 'second'],
    ['highest', 'WARNING', 'MINOR', 'first'],
    ['highest', 'MINOR', 'MINOR', 'first'],
    ['replace', 'WARNING', 'WARNING', 'second'],
    ['replace', 'CRITICAL', 'CRITICAL', 'second'],
  ] as const)('with onRepeat %s at %s leaves %s with the %s text', async (onRepeat, severity, left, text) => {
    const { id } = await alarms.api.raise(alarmOf({ severity: 'MINOR', text: 'first' }))
    const again = await alarms.api.raise(alarmOf({ severity, text: 'second' }), { onRepeat })
    expect(again).toMatchObject({ id, count: 2, severity: left, text, lifecycle: 'unacknowledged' })
    const asked = await alarms.ask('POST', `/alarm/alarms?onRepeat=${onRepeat}`, alarmOf({ severity, text: 'second' }))
    expect(asked.json()).toMatchObject({ id, count: 3, severity: left, text })
  })

  it('with a higher severity makes an acknowledged alarm unacknowledged, and notes both in its history', async () => {
    const { id } = await alarms.api.raise(alarmOf({ severity: 'MINOR' }))
    await alarms.api.acknowledge(id)
    await alarms.api.raise(alarmOf({ severity: 'MINOR', text: 'other' }), { onRepeat: 'replace' })
    expect(await alarms.api.get(id)).toMatchObject({ lifecycle: 'acknowledged', text: 'other' })
    const { history, ...alarm } = await alarms.api.raise(alarmOf({ severity: 'MAJOR' }), { onRepeat: 'replace' })
    expect(alarm).toMatchObject({ status: 'ACTIVE', lifecycle: 'unacknowledged', severity: 'MAJOR', count: 3 })
    expect(
      history.map(({ type, changes = [] }) => [type.split('.').at(-1), ...changes.map((one) => one.attribute)]),
    ).toEqual([
      ['AlarmRaised'],
      ['AlarmUpdated', 'status'],
      ['AlarmUpdated', 'text'],
      ['EventOccuredAgain'],
      ['AlarmUpdated', 'severity', 'status', 'text'],
      ['EventOccuredAgain'],
    ])
  })
})
