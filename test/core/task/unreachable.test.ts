import { describe, expect, it } from 'vitest'
import type { Rule, TaskSettings } from '../../../src/core/rule/rule.ts'
import { createEngine, definePlug, VirtualClock } from '../../../src/index.ts'
import { live } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'

const NOTHING = 'no trigger leads to it, and neither it nor the task has a clock'
const BIND = 'write "resource": "$" for the resource of the task'
const OR = 'or add a pollingPeriod or a trigger'
const periodic: TaskSettings = { type: 'periodic', frequency: 60_000 }

async function namedBy(written: Rule, node: string) {
  const t = await live(written)
  return t.task.explain(node).neverRun?.map(({ message }) => message)
}

describe('an explanation', () => {
  it.each([
    [
      'without a resource, in a task without a clock',
      { name: 'switch' },
      {},
      `it has no resource, ${NOTHING}; ${BIND}, ${OR}`,
    ],
    [
      'that observes no data, in a task without a clock',
      on('switch', { dataTrigger: false }),
      {},
      `its dataTrigger is false, ${NOTHING}; omit dataTrigger, ${OR}`,
    ],
    [
      'that wants no ticks and has no resource',
      { name: 'switch', tickTrigger: false },
      periodic,
      `it has no resource, no trigger leads to it, and its tickTrigger is false; ${BIND}, or omit tickTrigger`,
    ],
  ])('names a sensor %s', async (_, sensor, task, why) => {
    const written = rule({
      sensors: { s: sensor },
      actuators: ['act'],
      triggers: [trigger('s', 'act', is('On'))],
      task,
    })
    expect(await namedBy(written, 'act')).toEqual([`s never runs: ${why}`])
  })

  it.each([
    ['data', on('switch'), {}],
    ['the clock of the task', { name: 'switch' }, periodic],
    ['its own period', { name: 'switch', pollingPeriod: 60_000 }, {}],
    ['its own schedule', { name: 'switch', schedule: '0 0 9 * * ?' }, {}],
    ['pushed states alone', on('switch', { dataTrigger: false, tickTrigger: false }), {}],
  ])('does not name a sensor with %s', async (_, sensor, task) => {
    const written = rule({
      sensors: { s: sensor },
      actuators: ['act'],
      triggers: [trigger('s', 'act', is('On'))],
      task,
    })
    expect(await namedBy(written, 'act')).toBeUndefined()
  })

  it('names the sensor before one that a trigger runs', async () => {
    const written = rule({
      sensors: { s: { name: 'switch' }, next: { name: 'switch' } },
      triggers: [trigger('s', 'next')],
    })
    const named = await namedBy(written, 'next')
    expect(named).toHaveLength(1)
    expect(named?.[0]).toMatch(/^s never runs/)
  })

  it('names it for any requested node, also as an obstacle of a trigger', async () => {
    const sensors = { s: { name: 'switch' }, other: on('switch') }
    const triggers = [trigger('s', 'act', is('On')), trigger('other', 'more', is('On'))]
    const t = await live(rule({ sensors, actuators: ['act', 'more'], triggers }))
    const [first, second] = [t.task.explain('act'), t.task.explain('more')]
    expect(second.neverRun).toEqual(first.neverRun)
    expect(second.neverRun?.map(({ node }) => node)).toEqual(['s'])
    expect(first.triggers[0]?.blocked).toMatchObject([
      { reason: 'never executed', message: first.neverRun?.[0]?.message },
    ])
    expect(second.triggers[0]?.blocked).toMatchObject([{ message: 'other has not run yet' }])
  })

  it('does not name it after a push', async () => {
    const t = await live(
      rule({ sensors: { s: { name: 'switch' } }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))] }),
    )
    t.task.push('s', { state: 'On' })
    t.to(1)
    expect(t.fired()).toHaveLength(1)
    expect(t.task.explain('act')).not.toHaveProperty('neverRun')
  })

  it('names a sensor that receives a channel of no resource', async () => {
    const heard = definePlug({
      name: 'heard',
      version: '1.0.0',
      kind: 'sensor',
      channel: 'alarm',
      execute: () => undefined,
    })
    const engine = createEngine({ plugs: [heard], scheduler: new VirtualClock(0) })
    const task = await engine.start({ sensors: [{ label: 'h', name: 'heard' }] }, { id: 'x', ...periodic })
    expect(task.explain('h').neverRun).toEqual([
      { node: 'h', message: `h never runs: it has no resource and runs on the channel alarm of one; ${BIND}` },
    ])
    await engine.close()
  })
})
