import { describe, expect, it } from 'vitest'
import { live, promisesSettled } from '../../support/live-engine.ts'
import { gate, is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

const RULE = rule({
  sensors: { s: on('switch'), other: on('switch', { resource: 'q' }) },
  actuators: ['earlier', 'act'],
  relations: [gate('both', 'OR', ['s', 'On'], ['other', 'On'])],
  triggers: [trigger('s', 'earlier', is('On')), trigger('s', 'act', is('On'))],
  task: { variables: { limit: 7 } },
})

/** Everything that a call can see of its task. */
async function fired() {
  const t = await live(RULE, {
    script: (plugs) => {
      plugs.say('act', LATER)
      plugs.say('earlier', ({ now }) => ({ message: `at ${now}` }))
    },
  })
  t.send({ s: 'On', level: 1, carried: 5 })
  const context = t.plugs.callsOf('act')[0]?.context
  if (context === undefined) throw new Error('act was not called')
  const seen = () => ({
    now: context.now,
    id: context.id,
    states: ['s', 'other', 'both'].map((label) => context.lookup(['nodes', label, 'state'])),
    stream: { ...context.streamData },
    level: [context.streamValue('level'), context.streamTime('level'), context.isNew('level')],
    raw: context.rawData,
    answers: context.actuatorData,
    limit: context.lookup(['variables', 'limit']),
  })
  return { t, context, seen }
}

describe('the context of a running actuator call', () => {
  it('shows the task at the time of the firing', async () => {
    const { t, seen } = await fired()
    const before = seen()
    expect(before).toMatchObject({
      now: 0,
      states: ['On', undefined, 'TRUE'],
      level: [1, 0, true],
      answers: { earlier: { message: 'at 0', collectedTime: 0 } },
      limit: 7,
    })
    t.to(1000)
    t.send({ other: 'On' }, 'q')
    t.send({ s: 'Off', level: 2 })
    t.task.push('s', { state: 'On', rawData: { n: 1 } })
    expect(t.task.node('other').mostLikelyState).toEqual({ state: 'On', probability: 1 })
    expect(seen()).toEqual(before)
  })

  it('is unchanged by a restart of its task', async () => {
    const { t, seen } = await fired()
    const before = seen()
    await t.engine.stop('t')
    await t.engine.start('t')
    t.to(1000)
    t.send({ s: 'Off', level: 3 })
    await promisesSettled()
    expect(seen()).toEqual(before)
  })

  it('has its own random numbers, independent of later inputs', async () => {
    const atOnce: number[] = []
    const t = await live(RULE, {
      script: (plugs) => plugs.say('act', (context) => void atOnce.push(context.random(), context.random())),
    })
    t.send({ s: 'On' })
    const later = await fired()
    later.t.send({ s: 'Off', level: 2 })
    expect([later.context.random(), later.context.random()]).toEqual(atOnce)
  })
})

describe('the task itself', () => {
  it('is not modified by the context of a call', async () => {
    const { t } = await fired()
    t.to(1000)
    t.send({ s: 'Off', level: 2 })
    t.plugs.settle('act', undefined)
    await promisesSettled()
    expect([t.task.node('s').mostLikelyState?.state, t.task.info().invocationCount]).toEqual(['Off', 2])
    expect(t.task.save().state.executing).toBeUndefined()
  })
})
