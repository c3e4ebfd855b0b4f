import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { FiredEvent } from '../../../src/core/engine/events.ts'
import type { Rule, Sensor, TaskSettings } from '../../../src/core/rule/rule.ts'
import { createEngine, simulate, VirtualClock, type Message } from '../../../src/index.ts'
import { startBuiltins } from '../../support/builtin-task.ts'
import { is, trigger } from '../../support/rule-writing.ts'
import { sensorPlug } from '../../support/make-plug.ts'
import { node } from '../../support/rule-nodes.ts'

const sum = (more: Partial<Sensor> = {}): Sensor => ({
  label: 'sum',
  name: 'windowStats',
  resource: 'r',
  properties: { value: 'temperature', statistic: 'sum', duration: '10m' },
  ...more,
})
const above = (label: string, parameter: string, threshold = 30): Sensor => ({
  label,
  name: 'streamingDataSensor',
  resource: 'r',
  properties: { parameter, threshold },
})

/** One reading, then three messages with other values within the same minute. */
const READING: readonly Message[] = [
  { resource: 'r', timestamp: 1000, temperature: 40 },
  { resource: 'r', timestamp: 2000, humidity: 60 },
  { resource: 'r', timestamp: 3000, battery: 90 },
  { resource: 'r', timestamp: 4000, humidity: 61, battery: 89 },
]

describe('a value is used once', () => {
  it('by a window: one reading of 40 and three messages with other values sum up to 40', async () => {
    const t = await startBuiltins({ sensors: [sum()] })
    for (const { resource: _, ...values } of READING) {
      t.clock.advanceTo(Number(values['timestamp']))
      t.send(values)
    }
    expect(t.task.node('sum').rawData).toMatchObject({ value: 40, count: 1 })
  })

  it('by a window in a simulation of the same input', async () => {
    const { events } = await simulate({ sensors: [sum()] }, { messages: READING, plugs: builtins })
    const sums = events.flatMap((event) => (event.type === 'result' ? [event.rawData] : []))
    expect(sums).toEqual([expect.objectContaining({ value: 40, count: 1 })])
  })

  it('by a window that also runs on ticks and triggers', async () => {
    const ticking: Rule = {
      sensors: [sum({ label: 'ticked' }), above('dry', 'humidity'), sum({ label: 'led' })],
      triggers: [trigger('dry', 'led')],
      task: { type: 'periodic', frequency: 500 },
    }
    const { lastOf } = await simulateWith(ticking, READING)
    expect(lastOf('ticked')).toMatchObject({ value: 40, count: 1 })
    // a triggered sensor takes the new values of the message that led to it
    expect(lastOf('led')).toMatchObject({ count: 0 })
  })

  it('by each of two messages in one millisecond', async () => {
    const t = await startBuiltins({ sensors: [sum()] })
    t.send({ temperature: 40 })
    t.send({ humidity: 60 })
    t.send({ temperature: 2 })
    expect(t.task.node('sum').rawData).toMatchObject({ value: 42, count: 2 })
  })

  it('when messages come together, each for its own resource', async () => {
    const engine = createEngine({ plugs: builtins, scheduler: new VirtualClock(0) })
    const task = await engine.start(
      { sensors: [sum(), sum({ label: 'of q', resource: 'q' }), above('dry', 'humidity')] },
      { id: 't' },
    )
    engine.receive([
      { resource: 'r', temperature: 40 },
      { resource: 'q', temperature: 1 },
    ])
    engine.receive([
      { resource: 'r', humidity: 50 },
      { resource: 'q', temperature: 2 },
    ])
    expect(task.node('sum').rawData).toMatchObject({ value: 40, count: 1 })
    expect(task.node('of q').rawData).toMatchObject({ value: 3, count: 2 })
    expect(task.node('dry').states['Above']).toBe(1)
    await engine.close()
  })

  it('by a counter after a reset: the reset is used once', async () => {
    const t = await startBuiltins({ sensors: [{ label: 'n', name: 'invokeCount', resource: 'r' }] })
    for (const values of [{ v: 1 }, { reset: true }, { v: 2 }, { v: 3 }]) t.send(values)
    expect(t.task.node('n').rawData).toEqual({ count: 2 })
  })
})

describe('a message', () => {
  const two = (task: TaskSettings = {}): Rule => ({
    sensors: [above('hot', 'temperature'), above('dry', 'humidity')],
    relations: [{ label: 'both', type: 'AND', parentLabels: ['hot', 'dry'], combinations: [['Above', 'Above']] }],
    actuators: [{ label: 'warn', name: 'log', properties: { message: 'hot and dry' } }],
    triggers: [{ sourceLabel: 'both', destinationLabel: 'warn', statesTrigger: ['TRUE'] }],
    task,
  })

  it("neither runs nor resets a sensor if it lacks the sensor's values", async () => {
    const t = await startBuiltins(two())
    t.send({ temperature: 40 })
    t.clock.advanceTo(120_000)
    t.send({ humidity: 50 })
    expect(t.states('hot')).toEqual(['0 Above'])
    expect(t.fired()).toEqual(['120000 warn'])
    t.send({ battery: 3 })
    expect(t.fired()).toEqual(['120000 warn'])
    expect(t.task.node('dry').states['Above']).toBe(1)
  })

  it('resets all sensors if the task is configured so', async () => {
    const t = await startBuiltins(two({ resetScope: 'task' }))
    t.send({ temperature: 40 })
    t.send({ humidity: 50 })
    expect(t.task.node('hot').states['Above']).toBeLessThan(1)
  })

  it('is not an invocation when it runs nothing', async () => {
    const { events } = await simulate(two(), {
      messages: [{ resource: 'r', timestamp: 0, battery: 3 }],
      plugs: builtins,
    })
    expect(events.map(({ type }) => type)).toEqual(['started'])
  })

  it('runs every sensor that does not declare its values', async () => {
    const calls: unknown[] = []
    const own = sensorPlug('own', ['On'], {
      input: { value: { type: 'any' } },
      execute: ({ properties }) => {
        calls.push(properties.value)
        return 'On'
      },
    })
    const engine = createEngine({ plugs: [own], scheduler: new VirtualClock(0) })
    await engine.start({
      sensors: [{ label: 's', name: 'own', resource: 'r', properties: { value: '${streamdata.temperature}' } }],
    })
    engine.receive({ resource: 'r', temperature: 40 })
    engine.receive({ resource: 'r', humidity: 60 })
    expect(calls).toEqual([40, 40])
    await engine.close()
  })

  it('runs a sensor that tests whether a value exists, without counting earlier values', async () => {
    const t = await startBuiltins({
      sensors: [
        { label: 'there', name: 'isParameterAvailable', resource: 'r', properties: { parameter: 'temperature' } },
        node('text', 'template', { template: '${?streamdata.humidity} ${streamdata.battery}' }, { resource: 'r' }),
        node(
          'code',
          'transformer',
          { transformer: '{ had: ${?streamdata.humidity} != null, now: battery }' },
          { resource: 'r' },
        ),
      ],
    })
    t.send({ temperature: 40, humidity: 60, battery: 9 })
    expect(t.task.node('text').rawData).toEqual({ result: '60 9' })
    expect(t.task.node('code').rawData).toEqual({ had: true, now: 9 })
    t.send({ battery: 8 })
    expect(t.states('there')).toEqual(['0 YES', '0 NO'])
    expect(t.task.node('text').rawData).toEqual({ result: ' 8' })
    expect(t.task.node('code').rawData).toEqual({ had: false, now: 8 })
  })

  it('replaces a variable, and runs the sensors that read it', async () => {
    const engine = createEngine({ plugs: builtins, scheduler: new VirtualClock(0) })
    const template = {
      name: 'limits',
      variables: [{ name: 'limit', type: 'double' as const, defaultValue: 10, overrideByStream: true }],
      sensors: [node('s', 'condition', { condition: 'temperature > variables.limit' }, { resource: 'r' })],
    }
    const task = await engine.start(template, { id: 't' })
    engine.receive({ resource: 'r', temperature: 40 })
    engine.receive({ resource: 'r', limit: 50 })
    expect(task.node('s').states['False']).toBe(1)
    const saved = JSON.parse(JSON.stringify(task.save())) as ReturnType<typeof task.save>
    await engine.close()
    const again = createEngine({ plugs: builtins, scheduler: new VirtualClock(0) })
    const restored = await again.restore(saved)
    again.receive({ resource: 'r', limit: 30 })
    expect(restored.node('s').states['True']).toBe(1)
    await again.close()
  })
})

describe('a carried value', () => {
  const compare: Sensor = node(
    'over',
    'streamingDataSensor',
    { parameter: 'temperature', threshold: 'setpoint' },
    { resource: 'r' },
  )
  const rules = (task: TaskSettings): Rule => ({
    sensors: [compare],
    actuators: [{ label: 'a', name: 'log', properties: { message: 'over' } }],
    triggers: [trigger('over', 'a', is('Above'))],
    task,
  })

  it.each([
    [undefined, 59_999, true],
    [undefined, 60_000, false],
    [5000, 4999, true],
    [5000, 5000, false],
    [0, 0, false],
    [120_000, 119_999, true],
  ])('is used with streamValidity %j when %i ms old: %s', async (streamValidity, age, fills) => {
    const t = await startBuiltins(rules(streamValidity === undefined ? {} : { streamValidity }))
    t.send({ temperature: 40 })
    t.clock.advanceTo(age)
    t.send({ setpoint: 30 })
    expect(t.states('over')).toEqual(fills ? [`${age} Above`] : [])
  })

  it('is listed with its time in the reading of a state', async () => {
    const messages = [
      { resource: 'r', timestamp: 1000, temperature: 40 },
      { resource: 'r', timestamp: 5000, setpoint: 30 },
      { resource: 'r', timestamp: 6000, temperature: 41, setpoint: 30 },
    ]
    const { events } = await simulate(rules({}), { messages, plugs: builtins })
    const whys = events.filter((event): event is FiredEvent => event.type === 'fired').map(({ why }) => why?.sensors[0])
    expect(whys).toEqual([
      expect.objectContaining({
        input: expect.objectContaining({ time: 5000 }) as unknown,
        carried: { temperature: { time: 1000 } },
      }),
      expect.not.objectContaining({ carried: expect.anything() as unknown }),
    ])
  })

  it('is listed for a tick, which has no values', async () => {
    const messages = [{ resource: 'r', timestamp: 1000, temperature: 40, setpoint: 30 }]
    const ticking = rules({ type: 'periodic', frequency: 4000 })
    const { events } = await simulate(ticking, { messages, plugs: builtins, from: 0, until: 4000 })
    const last = events.filter((event): event is FiredEvent => event.type === 'fired').at(-1)
    expect(last?.why?.sensors[0]).toMatchObject({
      input: { kind: 'tick', time: 4000 },
      carried: { temperature: { time: 1000 }, setpoint: { time: 1000 } },
    })
  })
})

async function simulateWith(given: Rule, messages: readonly Message[]) {
  const { events } = await simulate(given, { messages, plugs: builtins, from: 0, until: 10_000 })
  return {
    lastOf: (node: string): unknown =>
      events.flatMap((event) => (event.type === 'result' && event.node === node ? [event.rawData] : [])).at(-1),
  }
}
