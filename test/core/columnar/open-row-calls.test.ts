import { describe, expect, it } from 'vitest'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { definePlug, VirtualClock, type PlugContext } from '../../../src/index.ts'
import { generate } from '../../support/generate.ts'
import { promisesSettled } from '../../support/live-engine.ts'

interface Call {
  readonly context: PlugContext
  answer(state: 'Low' | 'High'): Promise<void>
}

/** Rules of two sensors that answer when the test says so, one per resource; both have answered twice, so that rows wait. */
async function waiting(resources = ['r']) {
  const clock = new VirtualClock(0)
  const calls: Call[] = []
  const acts: [string | undefined, number, unknown][] = []
  const ask = definePlug({
    name: 'ask',
    version: '1.0.0',
    kind: 'sensor',
    states: ['Low', 'High'],
    execute: (context) =>
      new Promise<'Low' | 'High'>((resolve) => {
        calls.push({
          context,
          async answer(state) {
            resolve(state)
            await promisesSettled()
          },
        })
      }),
  })
  const act = definePlug({
    name: 'act',
    version: '1.0.0',
    kind: 'actuator',
    execute: (context) => void acts.push([context.task.RESOURCE, context.now, context.streamValue('a')]),
  })
  const engine = new CoreEngine({ plugs: [ask, act], scheduler: clock, ids: () => 't', seed: 1, generate })
  const rule: Rule = {
    sensors: [
      { label: 's0', name: 'ask', resource: '$', timeout: 'PT1S' },
      { label: 's1', name: 'ask', resource: '$', timeout: 'PT1S' },
    ],
    actuators: [{ label: 'a0', name: 'act' }],
    relations: [{ label: 'g', type: 'AND', parentLabels: ['s0', 's1'], combinations: [['High', 'High']] }],
    triggers: [{ sourceLabel: 'g', destinationLabel: 'a0', statesTrigger: ['TRUE'] }],
  }
  const tasks: LiveTask[] = []
  for (const resource of resources) tasks.push((await engine.start(rule, { id: resource, resource })) as LiveTask)
  const send = (a: number, resource = 'r') => engine.receive({ resource, a })
  const next = (): Call => {
    const call = calls.shift()
    if (call === undefined) throw new Error('no call is open')
    return call
  }
  for (const resource of resources) {
    for (const a of [1, 2]) {
      send(a, resource)
      await next().answer('Low')
      await next().answer('Low')
    }
  }
  const isWaiting = (task = tasks[0]) => task?.executor.hasOpenCall === true
  return { clock, engine, tasks, task: tasks[0] as LiveTask, send, next, calls, acts, isWaiting }
}

describe('a row whose sensor has not answered', () => {
  it('waits, and goes on with the answer, in the time of its message (ROWCALL-1, ROWCALL-2)', async () => {
    const { clock, send, next, acts, isWaiting, engine } = await waiting()
    clock.advanceTo(10)
    send(3)
    expect(isWaiting()).toBe(true)
    expect(engine.openCalls).toBe(1)
    clock.advanceTo(500)
    await next().answer('High')
    expect(isWaiting()).toBe(true)
    await next().answer('High')
    expect(acts).toEqual([['r', 10, 3]])
    expect(isWaiting()).toBe(false)
    expect(engine.openCalls).toBe(0)
  })

  it.each([0, 1])('has its time limit, call %i of its message', async (which) => {
    const { clock, send, next, task, isWaiting } = await waiting()
    send(3)
    clock.advanceTo(400)
    if (which === 1) await next().answer('High')
    clock.advanceTo(which === 1 ? 1_399 : 999)
    expect(isWaiting()).toBe(true)
    clock.advanceTo(which === 1 ? 1_400 : 1_000)
    expect(isWaiting()).toBe(false)
    expect(task.info().health.errorsCount).toBe(1)
    expect(task.node(`s${which}`)).toMatchObject({
      error: { message: expect.stringContaining('longer than 1000 ms') as string },
    })
  })

  it('aborts its signal when its task is stopped', async () => {
    const { engine, send, next, acts } = await waiting()
    send(3)
    const call = next()
    const { signal } = call.context
    expect(signal.aborted).toBe(false)
    await engine.stop('r')
    expect(signal.aborted).toBe(true)
    await call.answer('High')
    expect(acts).toEqual([])
  })

  it('holds nobody up who waits until all is settled, when its task is removed', async () => {
    const { engine, send, next } = await waiting()
    send(3)
    const settled = engine.settled()
    await engine.remove('r', { force: true })
    await settled
    await next().answer('High')
    expect(engine.openCalls).toBe(0)
  })

  it('holds nobody up when the engine is closed', async () => {
    const { engine, send, next } = await waiting()
    send(3)
    const settled = engine.settled()
    await engine.close()
    await settled
    await next().answer('High')
    expect(engine.openCalls).toBe(0)
  })
})
