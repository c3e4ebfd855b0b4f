import { describe, expect, it } from 'vitest'
import { updateAlarmPlugs } from '../../plugins/update-alarm/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { sampleAlarms } from '../support/sample-alarms.ts'

const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 1 }

describe('updateAlarm', () => {
  it.each([0, 1])('changes only the specified fields, as sensor and as actuator (%i)', async (which) => {
    const alarms = sampleAlarms()
    const plug = updateAlarmPlugs(alarms)[which]
    if (!plug) throw new Error('updateAlarm is a sensor and an actuator')
    const ran = await runPlugLater(plug, { properties: { alarmId: 'alarm-9', status: 'CLEARED' } })
    expect(alarms.asked).toEqual([['update', 'alarm-9', { status: 'CLEARED' }, cause]])
    expect(ran.rawData).toMatchObject({ response: { id: 'alarm-9', status: 'CLEARED' } })
    expect(ran.state).toBe(which === 0 ? 'Success' : undefined)
  })

  const open = (found: readonly object[]) => {
    const alarms = sampleAlarms()
    const { find } = alarms
    const [sensor] = updateAlarmPlugs({
      ...alarms,
      find: async (filter) => ({ ...(await find(filter)), alarms: found.map((one) => ({ ...one })) }),
    })
    if (!sensor) throw new Error('no sensor')
    return { asked: alarms.asked, sensor }
  }

  it('finds the open alarm of a type and source', async () => {
    const { asked, sensor } = open([{ id: 'alarm-7' }])
    const properties = { type: 'HEAT', resource: 'boiler-1', severity: 'CRITICAL' }
    expect(await runPlugLater(sensor, { properties })).toMatchObject({ state: 'Success' })
    expect(asked).toEqual([
      ['find', { source: 'boiler-1', type: ['HEAT'], status: ['ACTIVE', 'ACKNOWLEDGED'] }],
      ['update', 'alarm-7', { severity: 'CRITICAL' }, cause],
    ])
  })

  it.each([
    ['node', { nodeResource: 'pump-1', taskResource: 'house' }, 'pump-1'],
    ['task', { taskResource: 'house' }, 'house'],
  ])('uses the resource of the %s when none is specified', async (_, around, source) => {
    const { asked, sensor } = open([{ id: 'alarm-7' }])
    await runPlugLater(sensor, { properties: { type: 'HEAT', status: 'ACKNOWLEDGED' }, ...around })
    expect(asked[0]).toMatchObject(['find', { source }])
  })

  it('returns Error when no alarm is open, except to clear one', async () => {
    const { asked, sensor } = open([])
    const call = (status: string) =>
      runPlugLater(sensor, { properties: { type: 'HEAT', resource: 'boiler-1', status } })
    expect(await call('ACKNOWLEDGED')).toMatchObject({
      state: 'Error',
      rawData: { error: 'the alarm HEAT of boiler-1 is not open' },
    })
    expect(await call('CLEARED')).toMatchObject({ state: 'Success', rawData: {} })
    expect(asked.every(([what]) => what === 'find')).toBe(true)
  })

  it('requires an id or a type; an id is sufficient', async () => {
    const { asked, sensor } = open([])
    expect((await runPlugLater(sensor, { properties: { status: 'CLEARED' } })).rawData).toEqual({
      error: 'alarmId and type are both missing; set one of them',
    })
    await runPlugLater(sensor, { properties: { alarmId: 'alarm-9', type: 'HEAT', status: 'CLEARED' } })
    expect(asked).toEqual([['update', 'alarm-9', { status: 'CLEARED' }, cause]])
  })

  it('returns Error without a change', async () => {
    const [sensor] = updateAlarmPlugs(sampleAlarms())
    if (!sensor) throw new Error('no sensor')
    expect(await runPlugLater(sensor, { properties: { alarmId: 'alarm-9' } })).toMatchObject({
      state: 'Error',
      rawData: { error: 'status and severity are both missing; set one of them or both' },
    })
  })
})
