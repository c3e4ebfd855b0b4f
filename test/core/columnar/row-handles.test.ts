import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { createEngine, definePlug, VirtualClock } from '../../../src/index.ts'
import { rowOf } from '../../support/row-of.ts'

const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => undefined })
const asks = definePlug({ name: 'asks', version: '1.0.0', kind: 'actuator', execute: ({ id }) => void id.length })
const tells = definePlug({
  name: 'tells',
  version: '1.0.0',
  kind: 'actuator',
  execute(context) {
    const a = context.streamValue('a')
    return a === 13 ? undefined : { message: `at ${String(a)}`, rawData: { a } }
  },
})
const keeps = definePlug({
  name: 'keeps',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Kept'],
  input: { value: { type: 'double', mandatory: true } },
  openOutput: true,
  execute({ properties }) {
    if (properties.value === 99) throw new Error('too much')
    return { state: 'Kept', rawData: { seen: properties } }
  },
})
const looks = definePlug({
  name: 'looks',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Below', 'Above'],
  execute: (context) => (context.streamValue('a') === 30 ? 'Above' : 'Below'),
})
const fails = definePlug({
  name: 'fails',
  version: '1.0.0',
  kind: 'actuator',
  execute() {
    throw new Error('broken')
  },
})
const waits = definePlug({ name: 'waits', version: '1.0.0', kind: 'actuator', execute: () => Promise.resolve() })

function sensor(label: string, more: Partial<Sensor> = {}): Sensor {
  return { label, name: 'streamingDataSensor', resource: '$', properties: { parameter: 'a', threshold: 10 }, ...more }
}

function rule(more: Partial<Rule> = {}): Rule {
  return {
    sensors: [sensor('s0')],
    actuators: [{ label: 'a0', name: 'act' }],
    triggers: [{ sourceLabel: 's0', destinationLabel: 'a0', statesTrigger: ['Above'] }],
    ...more,
  }
}

async function started(given: Rule) {
  const clock = new VirtualClock(0)
  const engine = createEngine({
    plugs: [...builtins, act, asks, fails, keeps, looks, tells, waits],
    scheduler: clock,
    ids: () => 't',
    seed: 1,
  })
  const task = (await engine.start(given, { resource: 'r' })) as LiveTask
  const send = (values: Record<string, unknown>) => engine.receive({ resource: 'r', ...values })
  return { clock, engine, task, send, hasRow: () => rowOf(task) !== undefined }
}

const two = [sensor('s0'), sensor('s1', { properties: { parameter: 'a', threshold: 20 } })]
const pair = (type: 'AND' | 'OR') => ({
  sensors: two,
  relations: [{ label: 'g', type, parentLabels: ['s0', 's1'], combinations: [['Above', 'Above']] }],
  triggers: [{ sourceLabel: 'g', destinationLabel: 'a0', statesTrigger: ['TRUE'] }],
})

/** Its plug is called. */
const called = (more: Partial<Sensor> = {}) => sensor('s1', { name: 'looks', ...more })
/** The second sensor runs by a trigger, and the actuator fires by the first. */
const chained: Partial<Rule> = {
  sensors: [sensor('s0'), { label: 's1', name: 'streamingDataSensor', properties: { parameter: 'a', threshold: 20 } }],
  triggers: [
    { sourceLabel: 's0', destinationLabel: 's1' },
    { sourceLabel: 's0', destinationLabel: 'a0', statesTrigger: ['Above'] },
  ],
}
/** The same with another sensor behind the second. */
const longer: Partial<Rule> = {
  sensors: [...(chained.sensors ?? []), { ...sensor('s2'), resource: undefined } as unknown as Sensor].map(
    ({ resource, ...one }) => ({ ...one, ...(resource !== undefined && { resource }) }),
  ),
  triggers: [...(chained.triggers ?? []), { sourceLabel: 's1', destinationLabel: 's2' }],
}
const edge = (how: 'begins' | 'ends') => [{ sourceLabel: 's0', destinationLabel: 'a0', [how]: ['Above'] }]

/** Sensors of one bit each, the last of which decide about the actuator. */
function sensorsOf(count: number, deciding: number): Rule {
  const labels = Array.from({ length: count }, (_, i) => `s${i}`)
  const parentLabels = labels.slice(-deciding)
  return rule({
    sensors: labels.map((label) => sensor(label, { name: 'condition', properties: { condition: 'a > 10' } })),
    relations: [{ label: 'g', type: 'AND', parentLabels, combinations: [parentLabels.map(() => 'True')] }],
    triggers: [{ sourceLabel: 'g', destinationLabel: 'a0', statesTrigger: ['TRUE'] }],
  })
}

// Holds SHAPE-1 to SHAPE-5
describe('a task becomes a row after two messages with the same fields', () => {
  const cases: [string, Rule, boolean][] = [
    ['of one comparing sensor', rule(), true],
    ['whose actuator fires when all sensors have answered', rule(pair('AND')), true],
    ['whose clock ticks besides', rule({ task: { type: 'periodic', frequency: 60_000 } }), true],
    [
      'with a sensor whose plug is called',
      rule({
        sensors: [sensor('s0', { name: 'condition', properties: { condition: 'a > 10' } })],
        triggers: [{ sourceLabel: 's0', destinationLabel: 'a0', statesTrigger: ['True'] }],
      }),
      true,
    ],
    ['whose gate is decided by the first sensor', rule(pair('OR')), true],
    [
      'also when the plug of the second is called',
      rule({ ...pair('OR'), sensors: [two[0] as Sensor, called()] }),
      true,
    ],
    [
      'but not when its actuator fires before a sensor of a later sequence',
      rule({ sensors: [sensor('s0'), sensor('s1', { sequence: 2 })] }),
      false,
    ],
    [
      'but not when its sensors run one by one',
      rule({ sensors: [sensor('s0'), called()], task: { parallel: false } }),
      false,
    ],
    [
      'but not when the triggers of its actuator have different cool-downs',
      rule({
        triggers: ['Above', 'Below'].map((state, i) => ({
          sourceLabel: 's0',
          destinationLabel: 'a0',
          statesTrigger: [state],
          invocationPolicy: i,
        })),
      }),
      false,
    ],
    ['whose actuator fires after a sensor that a trigger runs', rule(chained), true],
    ['but not before one', rule(longer), false],
    ['that begins', rule({ triggers: edge('begins') }), true],
    ['that ends', rule({ triggers: edge('ends') }), true],
    ['that keeps its observations between messages', rule({ task: { resetObservations: false } }), true],
    ['also when it decides a gate by two of them', rule({ ...pair('AND'), task: { resetObservations: false } }), true],
    ['but not when they are evicted', rule({ sensors: [sensor('s0', { evictionTime: 60 })] }), false],
    ['but not when it is onetime', rule({ task: { type: 'onetime' } }), false],
    [
      'but not with sensors of two resources',
      rule({ sensors: [sensor('s0'), sensor('s1', { resource: 'q' })] }),
      false,
    ],
    ['but not when a sensor has a clock of its own', rule({ sensors: [sensor('s0', { pollingPeriod: 60 })] }), false],
    ['whose states are 30 bits', sensorsOf(30, 1), true],
    ['but not when they are 31 bits', sensorsOf(31, 1), false],
    ['of whose states 8 bits decide', sensorsOf(9, 8), true],
    ['but not when 9 bits decide', sensorsOf(9, 9), false],
  ]

  it.each(cases)('%s', async (_, given, sits) => {
    const { send, hasRow } = await started(given)
    send({ a: 1 })
    expect(hasRow()).toBe(false)
    send({ a: 2 })
    expect(hasRow()).toBe(sits)
  })
})

// Holds EXECUTOR-2
describe('a task with a row', () => {
  async function attached(given: Rule = rule()) {
    const one = await started(given)
    one.send({ a: 1, b: 1 })
    one.send({ a: 2, b: 1 })
    expect(one.hasRow()).toBe(true)
    return one
  }

  it('shows events without subscribers, and stays a row', async () => {
    const { task, send, hasRow, clock } = await attached()
    clock.advanceTo(5)
    send({ a: 30, b: 1 })
    expect(task.info()).toMatchObject({ invocationCount: 3, lastExecutionTime: 5 })
    expect(task.node('s0')).toMatchObject({ states: { Above: 1 }, rawData: { data: 30 }, collectedTime: 5 })
    expect(task.explain('a0').fired?.why.sensors).toEqual([
      {
        node: 's0',
        state: 'Above',
        since: 5,
        input: { kind: 'data', time: 5, resource: 'r', values: { resource: 'r', a: 30, b: 1 } },
      },
    ])
    expect(hasRow()).toBe(true)
  })

  it('leaves its row when a subscriber joins', async () => {
    const { engine, send, hasRow } = await attached()
    const types: string[] = []
    const listening = engine.events$.subscribe(({ type }) => types.push(type))
    send({ a: 30, b: 1 })
    expect(hasRow()).toBe(false)
    expect(types).toContain('fired')
    listening.unsubscribe()
    send({ a: 30, b: 1 })
    send({ a: 30, b: 1 })
    expect(hasRow()).toBe(true)
  })

  it('leaves its row when its actuator keeps failing', async () => {
    const { send, hasRow } = await attached(rule({ actuators: [{ label: 'a0', name: 'fails' }] }))
    for (let i = 0; i < 60; i++) send({ a: 30, b: 1 })
    expect(hasRow()).toBe(true)
    for (let i = 0; i < 10; i++) send({ a: 30, b: 1 })
    expect(hasRow()).toBe(false)
  })

  it.each(['asks', 'waits'])('keeps its row when its actuator %s, and calls it in order', async (name) => {
    const actuators = [0, 1].map((n) => ({ label: `a${n}`, name }))
    const triggers = actuators.map(({ label }) => ({ sourceLabel: 's0', destinationLabel: label }))
    const { engine, task, send, hasRow } = await attached(rule({ actuators, triggers }))
    for (let i = 0; i < 100; i++) send({ a: i % 30, b: 1 })
    expect(hasRow()).toBe(true)
    expect(engine.stats().why.answer).toBe(0)
    await engine.settled()
    expect(hasRow()).toBe(true)
    expect(task.node('a1').rawData).toEqual({ collectedTime: 0 })
  })

  it('keeps its handle and the last result when its actuator returns a message or raw data', async () => {
    const { task, send, hasRow } = await attached(rule({ actuators: [{ label: 'a0', name: 'tells' }] }))
    for (let a = 1; a <= 200; a++) send({ a, b: 1 })
    expect(hasRow()).toBe(true)
    expect(rowOf(task)?.batch.opened).toBe(0)
    expect(task.node('a0').rawData).toEqual({ collectedTime: 0, message: 'at 200', rawData: { a: 200 } })
    send({ a: 13, b: 1 })
    expect(task.node('a0').rawData).toEqual({ collectedTime: 0 })
  })

  it('leaves its row when it is stopped or removed', async () => {
    const { engine, task, hasRow, send } = await attached()
    await engine.stop(task.id)
    expect(hasRow()).toBe(false)
    expect(send({ a: 30, b: 1 })).toBe(false)
    await engine.remove(task.id)
    expect(engine.tasks.size).toBe(0)
  })
})

describe('rows move when their number grows', () => {
  /** Tasks come in waves, on one resource together or on one each; messages go to all between the waves. */
  async function saved(listens: boolean, resourceOf: (n: number) => string): Promise<unknown> {
    const clock = new VirtualClock(0)
    const engine = createEngine({ plugs: [...builtins, act], scheduler: clock, seed: 1 })
    if (listens) engine.events$.subscribe(() => undefined)
    const values = [30, 3, 30, 30, 1]
    let tasks = 0
    for (const wave of [3, 20, 100]) {
      for (const until = tasks + wave; tasks < until; tasks++) {
        const limit = { threshold: 5 + (tasks % 7) }
        const own = sensor('s0', { properties: { parameter: 'a', ...limit } })
        await engine.start(rule({ sensors: [own] }), { id: `t${tasks}`, resource: resourceOf(tasks) })
      }
      const resources = new Set(Array.from({ length: tasks }, (_, n) => resourceOf(n)))
      for (const [i, value] of values.entries()) {
        clock.advanceTo(clock.now() + 100)
        for (const [n, resource] of [...resources].entries()) engine.receive({ resource, a: value + ((n + i) % 6) })
      }
    }
    if (!listens) expect([...engine.tasks.values()].every((task) => rowOf(task as LiveTask) !== undefined)).toBe(true)
    return [...engine.tasks.values()].map((task) => task.save())
  }

  it.each([
    ['of one resource', () => 'r'],
    ['of a resource each', (n: number) => `r${n}`],
  ])('without losing data: tasks %s', async (_, resourceOf) => {
    expect(await saved(false, resourceOf)).toEqual(await saved(true, resourceOf))
  })
})
