import { describe, expect, it } from 'vitest'
import type { SavedTask } from '../../../src/core/engine/api.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { inTheMiddle, saved } from '../../support/busy-task.ts'
import { live, liveEngine } from '../../support/live-engine.ts'
import { rule } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

describe('an invalid saved task', () => {
  async function refusal(change: (task: SavedTask) => unknown): Promise<unknown> {
    const t = await inTheMiddle()
    const changed = change(saved(t)) as SavedTask
    const { engine } = liveEngine()
    const outcome = await engine.restore(changed).catch((error: unknown) => error)
    expect(engine.tasks.size).toBe(0)
    return outcome
  }
  const withRule = (change: (rule: Rule) => Rule) => (task: SavedTask) => ({ ...task, rule: change(task.rule) })
  const without = (label: string) =>
    withRule((given) => ({
      ...given,
      sensors: (given.sensors ?? []).filter((sensor) => sensor.label !== label),
      triggers: (given.triggers ?? []).filter((one) => one.sourceLabel !== label && one.destinationLabel !== label),
    }))

  it.each<[string, (task: SavedTask) => unknown, string]>([
    ['a sensor that its rule lacks', without('polled'), 'the saved task contains sensor polled, which its rule lacks'],
    ['a trigger that its rule lacks', withRule((given) => ({ ...given, triggers: [] })), 'contains trigger'],
    [
      'an actuator that its rule lacks',
      withRule((given) => ({
        ...given,
        actuators: (given.actuators ?? []).filter(({ label }) => label !== 'act'),
        triggers: (given.triggers ?? []).filter((one) => one.destinationLabel !== 'act'),
      })),
      'actuator act',
    ],
    [
      'a state that the plug does not have',
      withRule((given) => ({
        ...given,
        sensors: (given.sensors ?? []).map((one) => (one.label === 'chained' ? { ...one, name: 'band' } : one)),
        triggers: (given.triggers ?? []).map((one) => one),
      })),
      'state On',
    ],
    [
      'another number of resources',
      withRule((given) => ({
        ...given,
        sensors: (given.sensors ?? []).map((one) => (one.label === 'next' ? { ...one, resource: 'z' } : one)),
      })),
      'the saved task has 2 resources, but its rule has 3',
    ],
    ['another format', (task) => ({ ...task, format: 2 }), 'has format 2; this version reads format 1'],
  ])('is rejected for %s', async (_, change, text) => {
    expect(await refusal(change)).toMatchObject({
      code: 'SAVED_STATE',
      message: expect.stringContaining(text) as string,
    })
  })

  it('is rejected for an invalid rule, with all its problems', async () => {
    const outcome = await refusal(withRule((given) => ({ ...given, sensors: [{ label: 'x', name: 'nothing' }] })))
    expect(outcome).toMatchObject({ code: 'VALIDATION' })
  })

  it('is rejected while a task with its id exists', async () => {
    const t = await live(rule({ sensors: { s: { name: 'switch' } } }), { script: (plugs) => plugs.say('s', LATER) })
    await expect(t.engine.restore(t.task.save())).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})
