import { describe, expect, it } from 'vitest'
import { acknowledgeAlarmPlugs } from '../../plugins/acknowledge-alarm/plug.ts'
import { commentAlarmPlugs } from '../../plugins/comment-alarm/plug.ts'
import { createAlarmPlugs } from '../../plugins/create-alarm/plug.ts'
import { shelveAlarmPlugs } from '../../plugins/shelve-alarm/plug.ts'
import type { AlarmPort, Plug } from '../../src/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { sampleAlarms } from '../support/sample-alarms.ts'

const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 1 }

/** Returns the sensor and the actuator. */
const ALL: readonly [string, (alarms?: AlarmPort) => readonly Plug[], Record<string, unknown>, object][] = [
  ['acknowledgeAlarm', acknowledgeAlarmPlugs, {}, { status: 'ACKNOWLEDGED' }],
  ['acknowledgeAlarm', acknowledgeAlarmPlugs, { comment: 'seen' }, { status: 'ACKNOWLEDGED', comment: 'seen' }],
  ['commentAlarm', commentAlarmPlugs, { text: 'hot' }, { comment: 'hot' }],
  [
    'shelveAlarm',
    shelveAlarmPlugs,
    { duration: 'PT1H', reason: 'test' },
    { shelve: { until: 3_600_007, reason: 'test' } },
  ],
]

describe.each(ALL)('%s', (_name, plugs, properties, change) => {
  it('changes the alarm with an id, as sensor and as actuator', async () => {
    for (const which of [0, 1]) {
      const alarms = sampleAlarms()
      const plug = plugs(alarms)[which]
      if (!plug) throw new Error('a sensor and an actuator')
      const ran = await runPlugLater(plug, { properties: { ...properties, alarmId: 'a9' }, now: 7 })
      expect(alarms.asked).toEqual([['update', 'a9', change, cause]])
      expect(ran.rawData).toMatchObject({ response: { id: 'a9' } })
    }
  })

  it('changes the open alarm of a type and resource, or fails', async () => {
    const alarms = sampleAlarms()
    const [sensor] = plugs({ ...alarms, find: () => Promise.resolve({ total: 1, alarms: [{ id: 'a7' }] }) })
    const [failing] = plugs(alarms)
    if (!sensor || !failing) throw new Error('no sensor')
    const named = { properties: { ...properties, type: 'HEAT', resource: 'boiler-1' }, now: 7 }
    expect(await runPlugLater(sensor, named)).toMatchObject({ state: 'Success' })
    expect(alarms.asked).toEqual([['update', 'a7', change, cause]])
    expect(await runPlugLater(failing, named)).toMatchObject({
      state: 'Error',
      rawData: { error: expect.stringContaining('the alarm HEAT of boiler-1 is not open') as string },
    })
    expect(await runPlugLater(failing, { properties, now: 7 })).toMatchObject({ state: 'Error' })
  })
})

describe('createAlarm', () => {
  it('passes on what a repeat changes, and the time of the alarm', async () => {
    const alarms = sampleAlarms()
    const [sensor] = createAlarmPlugs(alarms)
    if (!sensor) throw new Error('no sensor')
    await runPlugLater(sensor, {
      properties: {
        type: 'HEAT',
        resource: 'boiler-1',
        text: 'x',
        severity: 'MINOR',
        onRepeat: 'highest',
        timestamp: 5,
      },
    })
    expect(alarms.asked).toMatchObject([['raise', { type: 'HEAT', onRepeat: 'highest', timestamp: 5 }, cause]])
  })
})
