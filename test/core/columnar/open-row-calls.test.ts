import { describe, expect, it } from 'vitest'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { builtins } from '../../../plugins/index.ts'
import { definePlug, VirtualClock, type EngineEvent, type PlugContext } from '../../../src/index.ts'
import { promisesSettled } from '../../support/live-engine.ts'
import { rowOf } from '../../support/row-of.ts'

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
  const engine = new CoreEngine({ plugs: [ask, act], scheduler: clock, ids: () => 't', seed: 1 })
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

  it('fires at the time of its message, whatever came elsewhere meanwhile (ROWCALL-2)', async () => {
    const { clock, send, next, tasks } = await waiting(['r', 'q'])
    clock.advanceTo(10)
    send(3, 'r')
    clock.advanceTo(20)
    send(4, 'q')
    const [ofR, ofQ] = [next(), next()]
    clock.advanceTo(500)
    await ofR.answer('High')
    await next().answer('High')
    await ofQ.answer('High')
    await next().answer('High')
    const shown = tasks.map((task) => task.save().state.actuators['a0'])
    expect(shown).toMatchObject([
      { firedAt: 10, answer: { collectedTime: 10 } },
      { firedAt: 20, answer: { collectedTime: 20 } },
    ])
  })

  it('can be opened by its second sensor, with what came before', async () => {
    const { send, next, task } = await waiting()
    send(3)
    await next().answer('High')
    await next().answer('Low')
    send(4)
    await next().answer('High')
    const second = next()
    expect(second.context.rawData).toMatchObject({ GLOBAL: { a: 4 }, s0: { state: 'High' }, s1: { collectedTime: 0 } })
    await second.answer('Low')
    expect(task.node('s1')).toMatchObject({ mostLikelyState: { state: 'Low' } })
  })

  it('gives way to a second message, which waits for the first (ROWCALL-1)', async () => {
    const { send, next, calls, acts, task } = await waiting()
    send(3)
    send(4)
    expect(rowOf(task)).toBeUndefined()
    expect(calls).toHaveLength(1)
    for (let i = 0; i < 4; i++) await next().answer('High')
    expect(acts.map(([, , a]) => a)).toEqual([3, 4])
  })

  it('sits again when what came together is done', async () => {
    const { send, next, isWaiting } = await waiting()
    send(3)
    send(4)
    for (let i = 0; i < 4; i++) await next().answer('High')
    send(5)
    expect(isWaiting()).toBe(true)
  })

  it('is opened by who looks, and its answer is used once (ROWCALL-3)', async () => {
    const { send, next, acts, task, calls } = await waiting()
    send(3)
    const saved = task.save()
    expect(saved.state.executing).toMatchObject([{ node: 's0' }])
    expect(saved.state.evaluation).toMatchObject({ agenda: ['s1'] })
    expect(rowOf(task)).toBeUndefined()
    await next().answer('High')
    expect(calls).toHaveLength(1)
    await next().answer('High')
    expect(acts).toEqual([['r', 0, 3]])
  })

  it('is taken when it was there before somebody looked (ROWCALL-3)', async () => {
    const { send, next, acts, task } = await waiting()
    send(3)
    const answered = next().answer('High')
    task.info()
    await answered
    await next().answer('High')
    expect(acts).toEqual([['r', 0, 3]])
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

  it('is given up at its limit, though nothing else comes', async () => {
    const { clock, send, calls, isWaiting } = await waiting()
    clock.advanceTo(2000)
    send(3)
    expect([calls.length, isWaiting()]).toEqual([1, true])
    clock.advanceTo(2999)
    expect([calls.length, isWaiting()]).toEqual([1, true])
    clock.advanceTo(3000)
    expect([calls.length, isWaiting()]).toEqual([2, false])
  })

  it('keeps nothing in the timers once it has answered', async () => {
    const { clock, send, next, task } = await waiting()
    for (let i = 0; i < 5; i++) {
      send(i)
      await next().answer('Low')
      await next().answer('Low')
      clock.advanceTo(clock.now() + 700)
    }
    expect(task.info().health.errorsCount).toBe(0)
    send(9)
    const begun = clock.now()
    clock.advanceTo(begun + 1_000)
    expect(task.info().health.errorsCount).toBe(1)
  })

  it('tells who listens from the middle of it what follows', async () => {
    const { engine, send, next, acts } = await waiting()
    const events: EngineEvent[] = []
    send(3)
    engine.events$.subscribe((event) => events.push(event))
    await next().answer('High')
    await next().answer('High')
    expect(events.filter(({ type }) => type === 'fired')).toHaveLength(1)
    expect(acts).toHaveLength(1)
  })

  it('shows its plug the message at hand after others came, also when the call is over', async () => {
    const { send, next } = await waiting()
    send(3)
    const [first, second] = [next(), () => next()]
    await first.answer('High')
    await second().answer('High')
    send(4)
    expect(first.context.streamValue('a')).toBe(3)
    expect(first.context.node.NAME).toBe('s0')
    expect(first.context.signal.aborted).toBe(true)
    expect(() => first.context.log.info('too late')).not.toThrow()
    await next().answer('High')
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

  it('sees its own message beside rows of other resources', async () => {
    const { send, next, acts } = await waiting(['r', 'q'])
    send(3, 'r')
    send(4, 'q')
    for (let i = 0; i < 4; i++) await next().answer('High')
    expect(acts).toEqual([
      ['r', 0, 3],
      ['q', 0, 4],
    ])
  })
})

it('a sensor that looks at its task, after one that took its time, finds the message before (ROWCALL-2)', async () => {
  async function saved(listens: boolean, values: readonly number[]): Promise<unknown> {
    const calls: (() => void)[] = []
    const ask = definePlug({
      name: 'ask',
      version: '1.0.0',
      kind: 'sensor',
      states: ['Done'],
      execute: () => new Promise<'Done'>((resolve) => calls.push(() => resolve('Done'))),
    })
    const look = definePlug({
      name: 'look',
      version: '1.0.0',
      kind: 'sensor',
      states: ['Done'],
      openOutput: true,
      execute: ({ rawData }) => ({ state: 'Done', rawData: { ...rawData } }),
    })
    const engine = new CoreEngine({
      plugs: [...builtins, ask, look],
      scheduler: new VirtualClock(0),
      ids: () => 't',
      seed: 1,
    })
    if (listens) engine.events$.subscribe(() => undefined)
    const rule: Rule = {
      sensors: [
        { label: 's0', name: 'ask', resource: '$' },
        { label: 's1', name: 'look', resource: '$' },
        { label: 's2', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'a', threshold: 2 } },
      ],
    }
    const task = await engine.start(rule, { resource: 'r' })
    for (const a of values) {
      engine.receive({ resource: 'r', a })
      calls.shift()?.()
      await promisesSettled()
    }
    return task.save()
  }
  for (const values of [
    [1, 2, 3, 4],
    [1, 5, 1, 5],
    [5, 5, 1, 5, 5],
  ]) {
    expect(await saved(false, values)).toEqual(await saved(true, values))
  }
})
