import { describe, expect, it } from 'vitest'
import { alarmEventSensor } from '../../plugins/alarm-event-sensor/plug.ts'
import { builtins } from '../../plugins/index.ts'
import { createEngine, simulate, VirtualClock, type Message, type Rule } from '../../src/index.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { sensor } from '../support/rule-nodes.ts'

const alarm = {
  id: 'a',
  type: 'HEAT',
  status: 'ACTIVE',
  severity: 'MAJOR',
  source: { id: 'boiler-1' },
  lifecycle: 'unacknowledged',
  suppression: 'none',
}
const event = (kind: string, more: object = {}) => ({
  eventtype: `io.service.alarm.${kind}`,
  eventtime: '2026-01-01T00:00:00.000Z',
  alarm,
  ...more,
})
const change = (newValue: string) => ({ changes: [{ attribute: 'status', newValue }] })

describe('AlarmEventSensor', () => {
  it.each([
    [event('AlarmRaised'), 'Created'],
    [event('EventOccuredAgain'), 'Occurred again'],
    [event('AlarmUpdated', change('ACKNOWLEDGED')), 'Updated'],
    [event('AlarmUpdated', change('CLEARED')), 'Cleared'],
    [event('AlarmAnnounced', change('none')), 'Announced'],
    [event('AlarmCommented'), 'Commented'],
  ])('for %j is %s, with the event as its raw data', (message, state) => {
    const ran = runPlug(alarmEventSensor, { message })
    expect([ran.state, ran.rawData]).toEqual([state, message])
  })

  it.each([
    [{}, 'Created'],
    [{ type: '', status: [], severity: '' }, 'Created'],
    [{ type: 'COLD, HEAT' }, 'Created'],
    [{ type: 'heat' }, undefined],
    [{ status: 'active', severity: ['critical', 'major'] }, 'Created'],
    [{ severity: 'CRITICAL' }, undefined],
    [{ type: ['HEAT'], status: 'CLEARED' }, undefined],
    [{ suppression: 'shelved' }, undefined],
    [{ suppression: 'none, shelved', lifecycle: 'unacknowledged' }, 'Created'],
  ])('with the filters %j returns %s', (properties, state) => {
    expect(runPlug(alarmEventSensor, { properties, message: event('AlarmRaised') }).state).toBe(state)
  })

  it('ignores a message that is not an alarm event', () => {
    expect(runPlug(alarmEventSensor, { message: { temperature: 5 } }).state).toBeUndefined()
  })

  it('shows a valid filter in the error', () => {
    expect(checkPlug(alarmEventSensor, { type: 5 })).toEqual([
      'type: the value is not a text or a list of texts; use a text with commas, or a list of texts',
    ])
  })

  it('receives only alarms of its resource, whatever dataTrigger and tickTrigger are', async () => {
    const engine = createEngine({ plugs: [alarmEventSensor], scheduler: new VirtualClock(0) })
    const rule: Rule = {
      sensors: [{ label: 'ev', name: 'AlarmEventSensor', resource: '$', dataTrigger: false, tickTrigger: false }],
    }
    const task = await engine.start(rule, { type: 'reactive', resource: 'boiler-1' })
    const stateNow = () => task.node('ev').mostLikelyState?.state
    const before = task.node('ev').rawData
    engine.receive({ resource: 'boiler-1', ...event('AlarmRaised') })
    expect(task.node('ev').rawData).toEqual(before)
    engine.receive({ resource: 'boiler-2', ...event('AlarmRaised') }, { channel: 'alarm' })
    expect(task.node('ev').rawData).toEqual(before)
    engine.receive({ resource: 'boiler-1', ...event('EventOccuredAgain') }, { channel: 'alarm' })
    expect([stateNow(), task.node('ev').rawData]).toEqual(['Occurred again', event('EventOccuredAgain')])
    await engine.close()
  })

  describe('followed by other nodes', () => {
    const rule: Rule = {
      sensors: [
        { label: 'ev', name: 'AlarmEventSensor', resource: '$' },
        { label: 'bad', name: 'condition', resource: '$', properties: { condition: 'alarm.severity == "MAJOR"' } },
        sensor('words', 'template', {
          template: '${streamdata.alarm.severity} {{GLOBAL.alarm.type}} {{GLOBAL.temperature}} ${?streamdata.humidity}',
        }),
      ],
      triggers: [
        { sourceLabel: 'ev', destinationLabel: 'bad', statesTrigger: ['Created'] },
        { sourceLabel: 'bad', destinationLabel: 'words', statesTrigger: ['True'] },
      ],
    }

    it('lets them read the event as their message, in addition to broker data', async () => {
      const engine = createEngine({ plugs: builtins, scheduler: new VirtualClock(0) })
      const task = await engine.start(rule, { type: 'reactive', resource: 'boiler-1' })
      engine.receive({ resource: 'boiler-1', temperature: 21, humidity: 60 })
      expect(task.node('words').rawData).toBeUndefined()
      engine.receive({ resource: 'boiler-1', ...event('AlarmRaised') }, { channel: 'alarm' })
      expect(task.node('words').rawData).toEqual({ result: 'MAJOR HEAT 21 ' })
      await engine.close()
    })

    it('behaves equally in a simulation', async () => {
      const messages: Message[] = [{ resource: 'boiler-1', timestamp: 0, ...event('AlarmRaised') }]
      const played = await simulate(rule, {
        messages,
        plugs: builtins,
        resource: 'boiler-1',
        channelOf: () => 'alarm',
        settings: { type: 'reactive' },
      })
      expect(played.task.node('words').rawData).toEqual({ result: 'MAJOR HEAT  ' })
    })
  })
})
