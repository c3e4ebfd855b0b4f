/** Tests properties of acting calls, which are resolved when they fire, and the targets of these calls. */
import { describe, expect, it } from 'vitest'
import { createEngine, VirtualClock, type EngineEvent, type Ports, type Actuator } from '../../../src/index.ts'
import { promisesSettled } from '../../support/live-engine.ts'
import { atMostEvery, is, on, trigger } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'
import { actuatorPlug, sensorPlug } from '../../support/make-plug.ts'

/** Messages of `s`, and actuators of the plug `tell`, whose target is its property `thing`. */
async function telling(actuators: readonly Actuator[], ports: Ports = {}) {
  const told: string[] = []
  const open: (() => void)[] = []
  const tell = actuatorPlug('tell', {
    input: { thing: { type: 'string' }, count: { type: 'double' } },
    touches: ({ thing }) => {
      if (thing === 'broken') throw new Error('touches nothing')
      return [`thing:${String(thing)}`]
    },
    execute: ({ node, properties }) => {
      told.push(`${node.NAME} ${String(properties.thing)}`)
      return new Promise<undefined>((resolve) => open.push(() => resolve(undefined)))
    },
  })
  const look = sensorPlug('look', ['Seen'], {
    input: { thing: { type: 'string' } },
    acts: ({ thing }) => thing !== 'nothing',
    touches: ({ thing }) => [`thing:${String(thing)}`],
    execute: ({ node, properties }) => {
      told.push(`${node.NAME} ${String(properties.thing)}`)
      return 'Seen'
    },
  })
  const clock = new VirtualClock(0)
  const engine = createEngine({ plugs: [...new ScriptedPlugs().plugs, tell, look], scheduler: clock, ports, seed: 1 })
  const events: EngineEvent[] = []
  engine.events$.subscribe((event) => events.push(event))
  const task = await engine.start(
    {
      sensors: [
        { label: 's', ...on('switch') },
        { label: 'look', name: 'look', properties: { thing: '${streamdata.look}' } },
      ],
      actuators,
      triggers: [
        ...actuators.map(({ label }) => trigger('s', label, is('On'), atMostEvery(0))),
        trigger('s', 'look', is('Off'), atMostEvery(0)),
      ],
      task: { type: 'reactive', resource: 'house' },
    },
    { id: 't' },
  )
  const send = (values: Record<string, unknown>) => engine.receive({ resource: 'r', s: 'On', ...values })
  /** Texts recorded since the last call of this function. */
  const now = () => told.splice(0)
  const answer = async () => {
    open.shift()?.()
    await promisesSettled()
  }
  const errors = () => events.flatMap((event) => (event.type === 'result' && !event.ok ? [event.error] : []))
  return { task, clock, send, now, answer, errors, open }
}

const thing = '${streamdata.thing}'
const tells = (label: string, more: object = {}) => ({ label, name: 'tell', properties: { thing }, ...more })

describe('calls that act', () => {
  it('wait only for calls of other nodes with the same target', async () => {
    const t = await telling([tells('a'), tells('b')])
    t.send({ thing: 'x' })
    expect(t.now()).toEqual(['a x'])
    t.send({ thing: 'y' })
    expect(t.now()).toEqual(['a y'])
    await t.answer()
    expect(t.now()).toEqual(['b x'])
    await t.answer()
    expect(t.now()).toEqual(['b y'])
  })

  it('use their node as the target if their target is unknown', async () => {
    const t = await telling([tells('a'), tells('b')])
    for (let i = 0; i < 2; i++) t.send({ thing: 'broken' })
    expect(t.now()).toEqual(['a broken', 'b broken'])
    await t.answer()
    expect(t.now()).toEqual(['a broken'])
  })

  it('have the targets of all items of their loop', async () => {
    const loop = { loopDef: '[{"thing": "x"}, {"thing": "y"}]', properties: { thing: '${loop.thing}' } }
    const t = await telling([tells('loop', loop), tells('b')])
    t.send({ thing: 'y' })
    t.send({ thing: 'z' })
    expect(t.now()).toEqual(['loop x', 'b z'])
    await t.answer()
    expect(t.now()).toEqual(['loop y'])
    // of `b z`, and of the second item
    await t.answer()
    expect(t.now()).toEqual([])
    await t.answer()
    expect(t.now()).toEqual(['b y'])
    await t.answer()
    expect(t.now()).toEqual(['loop x'])
  })

  it('fail at once with invalid properties, since their target is unknown', async () => {
    const t = await telling([tells('a', { properties: { thing, count: '${streamdata.count}' } })])
    t.send({ thing: 'x', count: 1 })
    t.send({ thing: 'x', count: 'many' })
    expect([t.now(), t.errors()]).toEqual([['a x'], [expect.stringContaining('count: ')]])
  })

  it.each([
    ['no list', '${streamdata.items}', { items: 'none' }, 'loopDef is not a JSON array of objects'],
    [
      'too many items',
      '${streamdata.items}',
      { items: Array.from({ length: 10_001 }, () => ({})) },
      'loopDef has 10001 items',
    ],
  ])('fail when they fire with a loop of %s', async (_, loopDef, values, problem) => {
    const t = await telling([tells('loop', { loopDef })])
    t.send({ thing: 'x', ...values })
    expect(t.errors()).toEqual([expect.stringContaining(problem)])
    expect([t.now(), t.task.info().waiting]).toEqual([[], undefined])
  })

  it('have ended when their loop has no items', async () => {
    const t = await telling([tells('loop', { loopDef: '[]' }), tells('b')])
    t.send({ thing: 'x' })
    expect([t.now(), t.errors()]).toEqual([['b x'], []])
  })

  it('make the task wait for reads of their properties, but not for their results', async () => {
    type Floor = Record<string, unknown>
    const asked: ((floor: string) => void)[] = []
    const metadata = () => new Promise<Floor>((resolve) => asked.push((floor) => resolve({ floor })))
    const properties = { thing: '${task.resource.meta.floor}${streamdata.thing}' }
    const t = await telling([tells('a', { properties })], { metadata })
    const tellFloor = async (floor: string) => {
      for (const resolve of asked.splice(0)) resolve(floor)
      await promisesSettled()
    }
    t.send({ thing: 'x' })
    t.send({ thing: 'y' })
    expect(t.task.info().waiting).toEqual({ inputs: 1, effects: 0, since: 0 })
    await tellFloor('1')
    expect(t.task.info().waiting).toEqual({ inputs: 0, effects: 0, since: 0 })
    await tellFloor('2')
    expect([t.now(), t.task.info().waiting]).toEqual([['a 1x'], undefined])
    await tellFloor('3')
    expect([t.now(), t.open.length]).toEqual([['a 2y'], 2])
  })
})

// Holds LANE-3, STEP-6
describe('a call whose values cannot be fetched at first', () => {
  const properties = { thing: '${task.resource.meta.floor}${streamdata.thing}' }
  const retried = tells('a', { properties, retryConfig: { maxRetries: 1, minBackoff: '1s' } })
  const failingOnce = (): Ports => {
    let count = 0
    return { metadata: () => (++count === 1 ? Promise.reject(new Error('unreachable')) : { floor: '1' }) }
  }

  it('does not hold its task during the backoff, and is retried with the values of its firing', async () => {
    const t = await telling([retried], failingOnce())
    t.send({ thing: 'x' })
    await promisesSettled()
    t.send({ thing: 'y' })
    expect(t.now()).toEqual(['a 1y'])
    t.clock.advanceTo(1_000)
    await t.answer()
    expect([t.now(), t.errors()]).toEqual([['a 1x'], []])
  })
})

describe('a sensor that may act', () => {
  it('waits for calls with the same target, and blocks its task', async () => {
    const t = await telling([tells('a')])
    t.send({ thing: 'x' })
    t.send({ s: 'Off', look: 'x' })
    t.send({ s: 'Off', look: 'z' })
    expect([t.now(), t.task.info().waiting?.inputs]).toEqual([['a x'], 1])
    await t.answer()
    expect(t.now()).toEqual(['look x', 'look z'])
  })

  it('does not wait if it does not act with its properties', async () => {
    const t = await telling([tells('a')])
    t.send({ thing: 'nothing' })
    t.send({ s: 'Off', look: 'nothing' })
    expect(t.now()).toEqual(['a nothing', 'look nothing'])
  })
})
