import { describe, expect, it } from 'vitest'
import { holdsFor } from '../../plugins/holds-for/plug.ts'
import { builtins } from '../../plugins/index.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { validateRule } from '../../src/core/rule/validate.ts'
import { describeIssue } from '../../src/kernel/errors.ts'
import { startBuiltins } from '../support/builtin-task.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { statesOf } from '../support/plug-series.ts'

const rule = {
  sensors: [{ label: 'h', name: 'holdsFor', resource: '$', properties: { condition: 'v > 5', duration: '10s' } }],
}

describe('holdsFor', () => {
  it('holds when the duration has ended, even without a message', async () => {
    const live = await startBuiltins(rule)
    live.send({ v: 9 })
    live.clock.advanceTo(4000)
    live.send({ v: 8 })
    live.clock.advanceTo(20_000)
    expect(live.states('h')).toEqual(['0 Pending', '4000 Pending', '10000 Holds'])
  })

  it('restarts after a message that breaks it', async () => {
    const live = await startBuiltins(rule)
    for (const [time, v] of [
      [0, 9],
      [9000, 1],
      [9500, 9],
    ] as const) {
      live.clock.advanceTo(time)
      live.send({ v })
    }
    live.clock.advanceTo(30_000)
    expect(live.states('h')).toEqual(['0 Pending', '9000 No', '9500 Pending', '19500 Holds'])
  })

  it('continues its wait after a restart', async () => {
    const live = await startBuiltins(rule)
    live.send({ v: 9 })
    live.clock.advanceTo(4000)
    const again = await live.restart(7000)
    again.clock.advanceTo(20_000)
    expect(again.states('h')).toEqual(['0 Pending', '10000 Holds'])
  })

  it('counts runs in a row', () => {
    const properties = { condition: 'v > 5', count: 3 }
    expect(statesOf(holdsFor, properties, [9, 9, 1, 9, 9, 9, 9])).toEqual([
      'Pending',
      'Pending',
      'No',
      'Pending',
      'Pending',
      'Holds',
      'Holds',
    ])
  })

  it('ignores a message without the value: the wait continues, and none begins', () => {
    const properties = { condition: 'v > 5', duration: '10s' }
    const { internalState } = runPlug(holdsFor, { properties, message: { v: 9 } })
    expect(runPlug(holdsFor, { properties, internalState, now: 5000 })).toMatchObject({ state: 'Pending' })
    expect(runPlug(holdsFor, { properties, internalState, now: 10_000 })).toMatchObject({ state: 'Holds' })
    expect(() => runPlug(holdsFor, { properties })).toThrow('no message has contained a value of "v" yet')
    expect(runPlug(holdsFor, { properties, internalState: null })).toMatchObject({ state: 'No' })
  })

  it('counts a value of a message once, even if it runs on it several times', () => {
    const properties = { condition: 'v > 5', count: 2 }
    const { internalState } = runPlug(holdsFor, { properties, message: { v: 9 } })
    const carried = runPlug(holdsFor, { properties, internalState, message: { v: 9 }, messageTime: 0, now: 1 })
    expect(carried).toMatchObject({ state: 'Pending', rawData: { count: 1 } })
  })

  it('accepts JSON Logic, and requires a duration or a count', () => {
    const condition = { '>': [{ var: 'v' }, 5] }
    expect(runPlug(holdsFor, { properties: { condition, count: 1 }, message: { v: 9 } }).state).toBe('Holds')
    expect(() => runPlug(holdsFor, { properties: { condition } })).toThrow('set a duration')
  })

  it.each([
    [{ condition: 'v >' }, 'column 4'],
    [{ duration: '0s' }, 'duration'],
    [{ count: 0 }, 'count 0 is out of range'],
  ])('rejects %j', (properties, text) => {
    expect(checkPlug(holdsFor, properties).join()).toContain(text)
  })

  it('is rejected with its node and property when a rule is checked, if it has neither duration nor count', () => {
    const check = (properties: Record<string, unknown>) =>
      validateRule(
        { sensors: [{ label: 'h', name: 'holdsFor', resource: '$', properties }] },
        createRegistry(builtins),
      ).issues.map(describeIssue)
    expect(check({ condition: 'v > 5' })).toEqual([
      '/sensors/0/properties/duration: sensor "h": duration and count are both missing; set a duration such as 5m, a count such as 3, or both',
    ])
    expect(check({ condition: 'v > 5', count: 2 })).toEqual([])
    expect(check({ condition: 'v > 5', duration: '${variables.d}' }).join()).not.toContain('neither')
  })
})
