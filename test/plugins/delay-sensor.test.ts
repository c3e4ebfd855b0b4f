import { describe, expect, it } from 'vitest'
import { delaySensor } from '../../plugins/delay-sensor/plug.ts'
import { startBuiltins } from '../support/builtin-task.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { sensor } from '../support/rule-nodes.ts'

const delayed = (delay: unknown) => sensor('d', 'delaySensor', { delay })

describe('delaySensor', () => {
  it.each([
    [5000, 5000],
    ['5000', 5000],
    [0, 0],
  ])('with a delay of %j is Idle, and Triggered after %d ms', async (delay, after) => {
    const live = await startBuiltins({ sensors: [delayed(delay)] })
    live.send({ v: 1 })
    live.clock.advanceTo(10_000)
    expect(live.states('d')).toEqual(['0 Idle', `${after} Triggered`])
  })

  it('restarts its delay when it runs again', async () => {
    const live = await startBuiltins({ sensors: [delayed(5000)] })
    live.send({ v: 1 })
    live.clock.advanceTo(3000)
    live.send({ v: 1 })
    live.clock.advanceTo(10_000)
    expect(live.states('d')).toEqual(['0 Idle', '3000 Idle', '8000 Triggered'])
  })

  it('continues its wait after a restart', async () => {
    const live = await startBuiltins({ sensors: [delayed(5000)] })
    live.send({ v: 1 })
    live.clock.advanceTo(1000)
    const again = await live.restart(2000)
    again.clock.advanceTo(10_000)
    expect(again.states('d')).toEqual(['0 Idle', '5000 Triggered'])
  })

  it('that was Triggered does not satisfy gates of a later run until it is Triggered again', async () => {
    const live = await startBuiltins({
      sensors: [delayed(5000), { label: 's', name: 'alwaysON', resource: '$' }],
      relations: [{ label: 'g', type: 'AND', parentLabels: ['d', 's'], combinations: [['Triggered', 'ON']] }],
      actuators: [{ label: 'a', name: 'log', properties: { message: 'over' } }],
      triggers: [{ sourceLabel: 'g', destinationLabel: 'a', statesTrigger: ['TRUE'] }],
      task: { resetObservations: false },
    })
    live.send({ v: 1 })
    live.clock.advanceTo(6000)
    live.send({ v: 1 })
    expect(live.fired()).toEqual(['5000 a'])
    live.clock.advanceTo(20_000)
    expect(live.fired()).toEqual(['5000 a', '11000 a'])
  })

  it('rejects a negative delay before and while it runs', () => {
    expect(checkPlug(delaySensor, { delay: 0 })).toEqual([])
    expect(checkPlug(delaySensor, {})).toEqual([])
    expect(checkPlug(delaySensor, { delay: -1 })).toEqual(['delay: delay must be 0 ms or more, but is -1'])
    expect(() => runPlug(delaySensor, { properties: { delay: -1 } })).toThrow('delay must be 0 ms or more')
  })

  it('requests whole milliseconds', () => {
    expect(() => runPlug(delaySensor, { properties: { delay: '5s' } })).toThrow('a whole number such as 5000')
  })
})
