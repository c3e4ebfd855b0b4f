import { describe, expect, it } from 'vitest'
import { updateAlarmPlugs } from '../../plugins/update-alarm/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { sampleAlarms } from '../support/sample-alarms.ts'

const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 1 }

describe('updateAlarm', () => {
  it.each([0, 1])('changes what is given, as sensor and as actuator (%i)', async (which) => {
    const alarms = sampleAlarms()
    const plug = updateAlarmPlugs(alarms)[which]
    if (!plug) throw new Error('updateAlarm is a sensor and an actuator')
    const ran = await runPlugLater(plug, { properties: { alarmId: 'alarm-9', status: 'CLEARED' } })
    expect(alarms.asked).toEqual([['update', 'alarm-9', { status: 'CLEARED' }, cause]])
    expect(ran.rawData).toMatchObject({ response: { id: 'alarm-9', status: 'CLEARED' } })
    expect(ran.state).toBe(which === 0 ? 'Success' : undefined)
  })

  it('with nothing to change is Error', async () => {
    const [sensor] = updateAlarmPlugs(sampleAlarms())
    if (!sensor) throw new Error('no sensor')
    expect(await runPlugLater(sensor, { properties: { alarmId: 'alarm-9' } })).toMatchObject({
      state: 'Error',
      rawData: { error: 'updateAlarm has nothing to change; give a status, a severity, or both' },
    })
  })
})
