import { describe, expect, it } from 'vitest'
import { createAlarmPlugs } from '../../plugins/create-alarm/plug.ts'
import type { AlarmPort } from '../../src/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { sampleAlarms } from '../support/sample-alarms.ts'

const cause = { task: 'task-1', node: 'node-1', effect: 'task-1/1/1/0', hops: 1 }

function plugs(alarms?: AlarmPort) {
  const [sensor, actuator] = createAlarmPlugs(alarms)
  if (!sensor || !actuator) throw new Error('createAlarm is a sensor and an actuator')
  return { sensor, actuator }
}

describe('createAlarm', () => {
  it.each(['sensor', 'actuator'] as const)('as %s raises an alarm with its task and its cause', async (kind) => {
    const alarms = sampleAlarms()
    const properties = {
      type: 'HEAT',
      text: 'hot',
      severity: 'MAJOR',
      properties: { autoClearAfter: 'PT1H', floor: 2 },
    }
    const ran = await runPlugLater(plugs(alarms)[kind], { properties, taskResource: 'boiler-1' })
    expect(alarms.asked).toEqual([
      [
        'raise',
        {
          source: 'boiler-1',
          type: 'HEAT',
          text: 'hot',
          severity: 'MAJOR',
          properties: { autoClearAfter: 'PT1H', floor: 2, task: 'task-1' },
        },
        cause,
      ],
    ])
    expect(ran).toMatchObject({
      state: kind === 'sensor' ? 'Success' : undefined,
      rawData: { response: { id: 'alarm-1' } },
    })
  })

  it.each([
    [{ resource: 'own' }, 'own'],
    [{}, 'of-node'],
  ])('with %j uses the source %s', async (properties, source) => {
    const alarms = sampleAlarms()
    await runPlugLater(plugs(alarms).sensor, {
      properties: { type: 'HEAT', ...properties },
      nodeResource: 'of-node',
      taskResource: 'of-task',
    })
    expect(alarms.asked[0]?.[1]).toMatchObject({ source, severity: 'MINOR', text: '' })
  })

  it('increments the hop count', async () => {
    const alarms = sampleAlarms()
    await runPlugLater(plugs(alarms).sensor, { properties: { type: 'HEAT', resource: 'boiler-1' }, hops: 4 })
    expect(alarms.asked[0]?.[2]).toEqual({ ...cause, hops: 5 })
  })

  it('rejects properties that the alarms service rejects', () => {
    const shown: unknown[] = []
    const check: NonNullable<AlarmPort['check']> = (alarm) => {
      shown.push(alarm)
      return [
        { path: '/escalation/severity', message: 'is none', suggestion: 'write MAJOR' },
        { path: '/type', message: 'is too long' },
        { path: '', message: 'is too large' },
      ]
    }
    const { actuator } = plugs({ ...sampleAlarms(), check })
    expect(actuator.check?.({ type: 'HEAT', severity: 'MINOR', properties: { floor: 2 } })).toEqual([
      { property: 'properties', message: '/escalation/severity: is none', suggestion: 'write MAJOR' },
      { property: 'type', message: 'is too long' },
      { property: 'properties', message: 'is too large' },
    ])
    expect(shown).toEqual([{ type: 'HEAT', severity: 'MINOR', properties: { floor: 2 } }])
    expect(plugs(sampleAlarms()).actuator.check?.({ type: 'HEAT' })).toEqual([])
  })
})
