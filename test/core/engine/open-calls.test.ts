import { describe, expect, it } from 'vitest'
import { definePlug, createEngine, VirtualClock, type PlugContext } from '../../../src/index.ts'
import { live, promisesSettled } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

/** A task with one sensor whose calls never come back, and the contexts that they were given. */
async function neverAnswered(timeout: string) {
  const clock = new VirtualClock(0)
  const contexts: PlugContext[] = []
  const never = definePlug({
    name: 'never',
    version: '1.0.0',
    kind: 'sensor',
    states: ['On'],
    execute: (context) => {
      contexts.push(context)
      return new Promise<undefined>(() => undefined)
    },
  })
  const engine = createEngine({ plugs: [never], scheduler: clock, ids: () => 't', seed: 1 })
  await engine.start({ sensors: [{ label: 's', name: 'never', resource: 'r', timeout }], task: { type: 'reactive' } })
  engine.receive({ resource: 'r' })
  const settled = { yes: false }
  void engine.settled().then(() => (settled.yes = true))
  await promisesSettled()
  return { clock, engine, contexts, settled }
}

describe('a call that never comes back', () => {
  it('is waited for while its time runs', async () => {
    const { settled } = await neverAnswered('PT10S')
    expect(settled.yes).toBe(false)
  })

  it('is aborted at its time limit, and nobody waits for it any more', async () => {
    const { clock, contexts, settled } = await neverAnswered('PT10S')
    const signals = contexts.map((context) => context.signal)
    expect(signals.map((signal) => signal.aborted)).toEqual([false])
    clock.advanceTo(10_000)
    await promisesSettled()
    expect(signals.map((signal) => signal.aborted)).toEqual([true])
    expect(settled.yes).toBe(true)
  })

  it('is not waited for when its task stops', async () => {
    const { engine, settled } = await neverAnswered('PT10S')
    await engine.stop('t')
    await promisesSettled()
    expect(settled.yes).toBe(true)
  })

  it('has nobody to log to when its task has stopped', async () => {
    const { engine, contexts } = await neverAnswered('PT10S')
    const types: string[] = []
    engine.events$.subscribe((event) => types.push(event.type))
    await engine.stop('t')
    for (const context of contexts) context.log.warn('too late')
    expect(types).toEqual(['stopped'])
  })
})

describe('an actuator that pauses', () => {
  it('acts when it is resumed, once for each time that it was fired', async () => {
    const t = await live(
      rule({
        sensors: { s: on('switch') },
        actuators: [{ label: 'a', pauseExecution: true, pauseExecutionTimeout: 'PT1M' }],
        triggers: [trigger('s', 'a', is('On'))],
      }),
      { script: (plugs) => plugs.say('s', 'On', 'On') },
    )
    t.send({})
    t.send({})
    expect(t.plugs.callsOf('a')).toHaveLength(0)
    t.task.resume('a')
    expect(t.plugs.callsOf('a')).toHaveLength(2)
  })
})

describe('a call that was called again after its time limit', () => {
  it('stays open when the answer of the first call comes', async () => {
    const t = await live(
      rule({ sensors: { s: on('late', { timeout: 'PT1S', retryConfig: { maxRetries: 1, minBackoff: 'PT1S' } }) } }),
      { script: (plugs) => plugs.say('s', LATER, LATER) },
    )
    t.send({})
    await t.wait(2000)
    let isSettled = false
    void t.engine.settled().then(() => (isSettled = true))
    t.plugs.settle('s', 'On')
    await promisesSettled()
    expect(isSettled).toBe(false)
    t.plugs.settle('s', 'On')
    await promisesSettled()
    expect(isSettled).toBe(true)
  })
})
