import type { LiveTask } from '../../../src/core/engine/live-task.ts'
/** Tests an engine whose host stores its tasks: numbered runs, results through the journal, and withheld calls. */
import { isRendered } from '../../../src/core/engine/render-call.ts'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../../src/core/engine/call-plug.ts'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { Journal } from '../../../src/core/engine/journal.ts'
import { VirtualClock } from '../../../src/index.ts'
import { promisesSettled } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER, ScriptedPlugs } from '../../support/scripted-plugs.ts'
import { sensorPlug } from '../../support/make-plug.ts'

const RULE = rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))] })
const OF = { source: RULE, settings: { name: 'boiler' } }
const BEGIN = { id: 't', run: 7, createTime: 5, resources: ['r'] }

function journaled(mayCall?: () => boolean) {
  const plugs = new ScriptedPlugs()
  const touched: string[] = []
  const opened: string[] = []
  const answers: { execution: number; call: number; outcome: Outcome }[] = []
  const journal: Journal = {
    touched: ({ id }) => void touched.push(id),
    ...(mayCall && { mayCall: (_task, execution) => execution.node.kind === 'sensor' || mayCall() }),
    opened: (_task, execution) => void opened.push(execution.node.label),
    answered: (_task, execution, call, reply) => {
      if (!isRendered(reply)) answers.push({ execution: execution.id, call, outcome: reply })
    },
    answeredAhead: () => undefined,
    waits: () => undefined,
    gave: () => undefined,
  }
  const clock = new VirtualClock(10)
  const engine = new CoreEngine({ plugs: plugs.plugs, scheduler: clock, ids: () => '', seed: 1, journal })
  return { engine, plugs, touched, opened, answers, clock }
}

describe('a run with a number from its host', () => {
  it('has that number in the ids of its effects, and the given resources', async () => {
    const { engine, plugs } = journaled()
    const task = await engine.begin(OF, BEGIN)
    expect(task.info()).toMatchObject({ name: 'boiler', createTime: 5, startTime: 10, resourceIds: ['r'] })
    engine.receive({ resource: 'r', s: 'On' })
    expect(plugs.callsOf('act').map(({ id }) => id)).toEqual(['t/7/2/0'])
    await expect(engine.begin(OF, BEGIN)).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('is rejected if invalid, without creating a task', async () => {
    const { engine } = journaled()
    const source = rule({ sensors: { s: on('nothing') } })
    await expect(engine.begin({ source, settings: {} }, BEGIN)).rejects.toMatchObject({ code: 'VALIDATION' })
    expect(engine.tasks.size).toBe(0)
  })

  it('continues with the rule from its host, for any saved rule', async () => {
    const { engine } = journaled()
    const before = await engine.begin(OF, BEGIN)
    engine.receive({ resource: 'r', s: 'On' })
    const saved = { ...before.save(), rule: {} }
    await engine.remove('t', { force: true })
    const after = await engine.restore(saved, { of: OF })
    expect(after.node('s').states).toEqual({ Off: 0, On: 1 })
    expect([...engine.listenersOf('r')]).toEqual([after])
  })
})

describe('a late result', () => {
  it('is passed to the journal, and applied when settled', async () => {
    const { engine, plugs, opened, answers } = journaled()
    plugs.say('act', LATER)
    const task = await engine.begin(OF, BEGIN)
    engine.receive({ resource: 'r', s: 'On' })
    expect(opened).toEqual(['act'])
    plugs.settle('act', { message: 'done' })
    await promisesSettled()
    expect(answers).toMatchObject([{ call: 1, outcome: { ok: true, message: 'done' } }])
    expect(task.node('act').rawData).toBeUndefined()
    const [answer] = answers
    task.settle(answer?.execution ?? 0, 2, { ok: false, error: 'of another call' })
    expect(task.node('act').error).toBeUndefined()
    task.settle(answer?.execution ?? 0, 1, answer?.outcome ?? { ok: false, error: '' })
    expect(task.node('act').rawData).toMatchObject({ message: 'done' })
    expect(task.execution(answer?.execution ?? 0)).toBeUndefined()
  })

  it('is not accepted once the task has stopped', async () => {
    const { engine, plugs, answers } = journaled()
    plugs.say('act', LATER)
    await engine.begin(OF, BEGIN)
    engine.receive({ resource: 'r', s: 'On' })
    await engine.stop('t')
    plugs.settle('act', { message: 'done' })
    await promisesSettled()
    expect(answers).toEqual([])
  })
})

describe('a call that is withheld', () => {
  it('is open without the plug, until it is settled', async () => {
    const { engine, plugs, opened } = journaled(() => false)
    const task = await engine.begin(OF, BEGIN)
    engine.receive({ resource: 'r', s: 'On' })
    expect(plugs.callsOf('act')).toEqual([])
    expect(opened).toEqual(['act'])
    expect(task.save().state.executing).toMatchObject([{ node: 'act', phase: 'called', calls: 1 }])
    task.settle(2, 1, { ok: false, error: 'no' })
    expect(task.node('act').error).toEqual({ time: 10, message: 'no' })
  })
})

it('a journal observes every change of a task', async () => {
  const { engine, touched } = journaled(() => true)
  await engine.begin(OF, BEGIN)
  expect(touched.splice(0)).toEqual(['t'])
  engine.receive({ resource: 'r', s: 'Off' })
  expect(touched.splice(0)).toEqual(['t'])
  await engine.stop('t')
  expect(touched).toEqual(['t'])
})

describe('a result of a call ahead', () => {
  const AHEAD = sensorPlug('ahead', ['Off', 'On'], {
    reads: 'message',
    parameters: ['level'],
    execute: () => new Promise<'On'>(() => undefined),
  })

  it('is not used for the next attempt after a timeout', async () => {
    const ahead: number[] = []
    const journal: Journal = {
      touched: () => undefined,
      opened: () => undefined,
      answered: () => undefined,
      answeredAhead: (_task, input) => void ahead.push(input),
      waits: () => undefined,
      gave: () => undefined,
    }
    const clock = new VirtualClock(0)
    const engine = new CoreEngine({ plugs: [AHEAD], scheduler: clock, ids: () => 't', seed: 1, journal })
    const retryConfig = { maxRetries: 1, minBackoff: 'PT1S' }
    const sensor = { label: 's', name: 'ahead', resource: 'r', timeout: 'PT5S', retryConfig }
    const task = (await engine.start({ sensors: [sensor], task: { type: 'reactive' } })) as LiveTask
    engine.receive({ resource: 'r', level: 1 })
    engine.receive({ resource: 'r', level: 2 })
    const first = task.execution(1)
    task.settle(1, 1, { ...NOTHING, state: 1 })
    expect(first?.isInFlight).toBe(false)
    // the second message is current and its call began ahead; after its time limit, it is called again
    clock.advanceTo(6500)
    expect(task.execution(2)).toMatchObject({ phase: 'called', attempt: 1 })
    task.settleAhead(1, 's', { ...NOTHING, state: 1 })
    expect(task.execution(2)).toMatchObject({ phase: 'called', attempt: 1 })
    task.settle(2, task.execution(2)?.calls ?? 0, { ...NOTHING, state: 0 })
    expect(task.node('s').mostLikelyState?.state).toBe('Off')
    await engine.close()
  })
})

const NOTHING: Outcome & { readonly ok: true } = {
  ok: true,
  state: -1,
  rawData: undefined,
  internalState: undefined,
  message: undefined,
  after: undefined,
  whole: undefined,
  then: undefined,
  again: undefined,
}
