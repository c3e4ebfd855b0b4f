import { describe, expect, it } from 'vitest'
import { clearAlarmPlugs } from '../../plugins/clear-alarm/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { sampleAlarms } from '../support/sample-alarms.ts'

const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 1 }

describe('clearAlarm', () => {
  it.each([0, 1])('clears what is open of a type, as sensor and as actuator (%i)', async (which) => {
    const alarms = sampleAlarms()
    const plug = clearAlarmPlugs(alarms)[which]
    if (!plug) throw new Error('clearAlarm is a sensor and an actuator')
    const ran = await runPlugLater(plug, { properties: { type: 'HEAT' }, taskResource: 'boiler-1' })
    expect(alarms.asked).toEqual([['clear', 'boiler-1', 'HEAT', cause]])
    expect(ran).toMatchObject(
      which === 0
        ? { state: 'Success', rawData: { alarms: [{ id: 'alarm-1' }] } }
        : { message: '1 cleared', rawData: { alarms: [{ id: 'alarm-1' }] } },
    )
  })
})
