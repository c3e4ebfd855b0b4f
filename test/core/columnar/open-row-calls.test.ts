import { describe, expect, it } from 'vitest'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { VirtualClock, type PlugContext } from '../../../src/index.ts'
import { generate } from '../../support/generate.ts'
import { promisesSettled } from '../../support/live-engine.ts'
import { actuatorPlug, sensorPlug } from '../../support/make-plug.ts'
import { rowOf } from '../../support/row-of.ts'

type State = 'Low' | 'High'
type Result = State | { readonly state: State; readonly rawData?: { readonly x: number }; readonly message?: string }

interface Call {
  readonly context: PlugContext
  answer(result: Result): Promise<void>
  fail(): Promise<void>
}

const RULE: Rule = {
  sensors: ['s0', 's1'].map((label) => ({ label, name: 'ask', resource: '$', timeout: 'PT1S' })),
  actuators: [{ label: 'a0', name: 'act' }],
  relations: [{ label: 'g', type: 'AND', parentLabels: ['s0', 's1'], combinations: [['High', 'High']] }],
  triggers: [{ sourceLabel: 'g', destinationLabel: 'a0', statesTrigger: ['TRUE'] }],
}

/** Starts a task of two sensors, after two messages; at 10 ms, its row waits for the first sensor of a third one. */
async function waiting(isInRows = true) {
  const clock = new VirtualClock(0)
  const calls: Call[] = []
  const acts: [now: number, a: unknown][] = []
  const ask = sensorPlug(
    'ask',
    ['Low', 'High'],
    (context) =>
      new Promise<Result>((resolve, reject) => {
        const settled = async (settle: () => void): Promise<void> => {
          settle()
          await promisesSettled()
        }
        const answer = async (result: Result) => settled(() => resolve(result))
        calls.push({ context, answer, fail: async () => settled(() => reject(new Error('broken'))) })
      }),
  )
  const act = actuatorPlug('act', (context) => void acts.push([context.now, context.streamValue('a')]))
  const engine = new CoreEngine({
    plugs: [ask, act],
    scheduler: clock,
    ids: () => 'r',
    seed: 1,
    ...(isInRows && { generate }),
  })
  const task = (await engine.start(RULE, { resource: 'r' })) as LiveTask
  const send = (a: number) => engine.receive({ resource: 'r', a })
  const next = (): Call => {
    const call = calls.shift()
    if (call === undefined) throw new Error('no call is open')
    return call
  }
  for (const a of [1, 2]) {
    send(a)
    await next().answer('Low')
    await next().answer('Low')
  }
  clock.advanceTo(10)
  send(3)
  return { clock, engine, task, send, next, acts, isWaiting: () => task.executor.deadline !== undefined }
}

describe('a row whose sensor returned a promise', () => {
  it('waits, and continues with the result, in the time of its message (ROWCALL-1, ROWCALL-2)', async () => {
    const { clock, next, acts, isWaiting, engine, task } = await waiting()
    expect(isWaiting()).toBe(true)
    expect(engine.openCalls).toBe(1)
    clock.advanceTo(500)
    await next().answer({ state: 'High', rawData: { x: 1 } })
    expect(isWaiting()).toBe(true)
    await next().answer('High')
    expect(acts).toEqual([[10, 3]])
    expect(isWaiting()).toBe(false)
    expect(engine.openCalls).toBe(0)
    expect(rowOf(task)).toBeDefined()
    expect(task.node('s0')).toMatchObject({ rawData: { x: 1 } })
  })

  it.each<[what: string, happens: (run: Awaited<ReturnType<typeof waiting>>, call: Call) => unknown]>([
    ['another message', ({ send }) => send(4)],
    ['a read of the task', ({ task }) => task.info()],
    ['a subscriber to all events', ({ engine }) => engine.events$.subscribe()],
    ['a subscriber to the events of the task', ({ engine }) => engine.events({ tasks: ['r'] }).subscribe()],
    ['a subscriber to batches', ({ engine }) => engine.eventBatches().subscribe()],
    ['a plug that reads the task', (_, { context }) => context.rawData],
  ])('opens its call for %s, which uses the result once (ROWCALL-3)', async (_, happens) => {
    const run = await waiting()
    const call = run.next()
    happens(run, call)
    expect(run.isWaiting()).toBe(false)
    expect(run.engine.openCalls).toBe(1)
    await call.answer('High')
    await run.next().answer('High')
    expect(run.acts).toEqual([[10, 3]])
  })

  it.each<[what: string, result: (call: Call) => Promise<void>, errors: number]>([
    ['a failure', async (call) => call.fail(), 1],
    ['a result with a message', async (call) => call.answer({ state: 'High', message: 'warm' }), 0],
  ])('continues in the full state after %s, and is a row again', async (_, result, errors) => {
    const { next, task, isWaiting, send, engine } = await waiting()
    await result(next())
    expect(isWaiting()).toBe(false)
    await next().answer('High')
    expect(task.info().health.errorsCount).toBe(errors)
    send(4)
    await next().answer('High')
    await next().answer('High')
    send(5)
    expect(isWaiting()).toBe(true)
    expect(engine.openCalls).toBe(1)
  })

  it.each([0, 1])('has the deadline of call %i of its message', async (which) => {
    const { clock, next, task, isWaiting } = await waiting()
    clock.advanceTo(410)
    if (which === 1) await next().answer('High')
    const deadline = which === 1 ? 1_410 : 1_010
    clock.advanceTo(deadline - 1)
    expect(isWaiting()).toBe(true)
    clock.advanceTo(deadline)
    expect(isWaiting()).toBe(false)
    expect(task.info().health.errorsCount).toBe(1)
    expect(task.node(`s${which}`)).toMatchObject({
      error: { message: expect.stringContaining('longer than 1000 ms') as string },
    })
  })

  it('counts the same steps as without rows when it fails to return', async () => {
    const counts = []
    for (const isInRows of [true, false]) {
      const { clock, next, engine } = await waiting(isInRows)
      await next().answer('High')
      clock.advanceTo(1_010)
      counts.push(engine.counts)
    }
    expect(counts[0]).toEqual(counts[1])
  })

  it('has a deadline after timers of other tasks', async () => {
    const { clock, next, send, engine, task, isWaiting } = await waiting()
    await engine.start({ sensors: [{ label: 's', name: 'ask', resource: 'q', timeout: 'PT0.5S' }] }, { id: 'q' })
    engine.receive({ resource: 'q' })
    const [first] = [next(), next()]
    await first.answer('High')
    await next().answer('High')
    clock.advanceTo(600)
    send(4)
    clock.advanceTo(1_599)
    expect(isWaiting()).toBe(true)
    clock.advanceTo(1_600)
    expect(task.info().health.errorsCount).toBe(1)
  })

  it('aborts its signal when its task is stopped', async () => {
    const { engine, next, acts } = await waiting()
    const call = next()
    const { signal } = call.context
    expect(signal.aborted).toBe(false)
    await engine.stop('r')
    expect(signal.aborted).toBe(true)
    await call.answer('High')
    expect(acts).toEqual([])
  })

  it('shows the task to a plug that reads its context after the call', async () => {
    const { next } = await waiting()
    const call = next()
    await call.answer('High')
    expect(call.context.now).toBe(10)
    expect(call.context.streamValue('a')).toBe(3)
    expect(call.context.streamData).toEqual({ resource: 'r', a: 3 })
  })

  it.each<[what: string, ends: (engine: CoreEngine) => unknown]>([
    ['its task is removed', async (engine) => engine.remove('r', { force: true })],
    ['the engine is closed', async (engine) => engine.close()],
    ['the engine gives up', (engine) => engine.giveUp()],
  ])('does not count as open after %s', async (_, ends) => {
    const { engine, next } = await waiting()
    const settled = engine.settled()
    await ends(engine)
    await settled
    expect(engine.openCalls).toBe(0)
    await next().answer('High')
  })
})
