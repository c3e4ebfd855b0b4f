import { describe, expect, it } from 'vitest'
import type { TaskSettings, Trigger } from '../../../src/core/rule/rule.ts'
import { live } from '../../support/live-engine.ts'
import { on, rule, trigger } from '../../support/rule-writing.ts'

const begins = (...states: string[]): Partial<Trigger> => ({ begins: states })
const ends = (...states: string[]): Partial<Trigger> => ({ ends: states })

describe('the edges of a trigger', () => {
  const watched = (more: Partial<Trigger>, task: TaskSettings = {}, sensor = {}) =>
    live(
      rule({ sensors: { s: on('switch', sensor) }, actuators: ['act'], triggers: [trigger('s', 'act', more)], task }),
    )

  // Holds CARRY-4
  it('are kept by a change of the rule or the destination; new edges start from the last known state', async () => {
    const t = await watched(begins('On'), { resetObservations: false })
    t.send({ s: 'On' })
    t.clear()
    const changed = (...triggers: Trigger[]) =>
      rule({
        sensors: { s: on('switch') },
        actuators: [{ label: 'act', properties: { other: 1 } }, 'more'],
        triggers,
        task: { resetObservations: false },
      })
    await t.engine.change('t', changed(trigger('s', 'act', begins('On')), trigger('s', 'more', ends('On'))))
    t.send({ s: 'On' })
    expect(t.fired()).toEqual([])
    t.send({ s: 'Off' })
    expect(t.fired()).toEqual(['0 more'])
  })

  it('are reported by explain', async () => {
    const t = await watched(begins('On'))
    t.send({ s: 'On' })
    t.send({ s: 'On' })
    expect(t.task.explain('act').triggers).toEqual([
      expect.objectContaining({
        condition: 's enters On',
        blocked: [expect.objectContaining({ reason: 'unchanged', node: 's' })],
      }),
    ])
  })
})
