/** Tests what ends a onetime task (step.ts, finishOnetime), and which inputs it accepts until then. */
import { describe, expect, it } from 'vitest'
import type { Sensor } from '../../../src/core/rule/rule.ts'
import { live, promisesSettled, type Live } from '../../support/live-engine.ts'
import { on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER, type Said } from '../../support/scripted-plugs.ts'

const callTimes = (t: Live, node = 's') => t.plugs.callsOf(node).map(({ now }) => now)

describe('a onetime task', () => {
  const PAUSED = { label: 'act', pauseExecution: true, pauseExecutionTimeout: 'PT9S' }
  const SLOW = { x: { name: 'late', sequence: 2 } }

  /** `s` fires `act`. */
  function acting(actuator: string | typeof PAUSED, said: Said, more: Record<string, Omit<Sensor, 'label'>> = {}) {
    const sensors = { s: on('switch'), ...more }
    const triggers = [trigger('s', 'act')]
    return live(rule({ sensors, actuators: [actuator], triggers, task: { type: 'onetime' } }), {
      script: (plugs) => plugs.say('act', said),
    })
  }

  it('accepts no more inputs after the work of its tick, and stops after its actuators', async () => {
    const t = await acting('act', LATER)
    await t.wait(1000)
    t.send({ s: 'On' })
    expect(t.task.status).toBe('running')
    expect(callTimes(t)).toEqual([0])
    await t.wait(5000)
    t.plugs.settle('act', undefined)
    await promisesSettled()
    expect(t.lines('stopped')).toEqual(['5000 stopped finished'])
    expect(t.task.info()).toMatchObject({ invocationCount: 1, finishedTime: 5000 })
  })

  it.each([
    ['the delayed response of its actuator has arrived', 'act', { after: 5000 }, '5000 stopped finished'],
    ['the pause of its actuator is over', PAUSED, undefined, '9000 stopped finished'],
  ])('stops on its own when %s', async (_, actuator, said, expected) => {
    const t = await acting(actuator, said)
    t.to(60_000)
    expect(t.lines('stopped')).toEqual([expected])
  })

  it.each([
    ['at once', {}],
    ['after the sensor that was at work', SLOW],
  ])('calls a paused actuator when it is resumed, %s, and stops after that', async (_, more) => {
    const t = await acting(PAUSED, undefined, more)
    await t.wait(1000)
    t.task.resume('act')
    if (t.plugs.openCalls('x') > 0) t.plugs.settle('x', 'On')
    await promisesSettled()
    expect(callTimes(t, 'act')).toEqual([1000])
    expect(t.lines('stopped')).toEqual(['1000 stopped finished'])
  })
})
