/** Tests sensors that observe a channel, and the hop count of calls. */
import { describe, expect, it } from 'vitest'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import { expectRow } from '../../support/row-of.ts'
import {
  createEngine,
  definePlug,
  simulate,
  VirtualClock,
  type Engine,
  type EngineEvent,
  type Message,
  type PlugContext,
  type Rule,
  type Sensor,
} from '../../../src/index.ts'
import { promisesSettled } from '../../support/live-engine.ts'
import { actuatorPlug, sensorPlug } from '../../support/make-plug.ts'

const ALARM = { channel: 'alarm' } as const

/** Values that plugs read, as short lines. */
class Seen {
  readonly lines: string[] = []
  later: (() => void)[] = []

  readonly plugs = [
    this.#sensor('alarmed', 'alarm'),
    this.#sensor('commanded', 'command'),
    this.#sensor('measured'),
    actuatorPlug('act', (context) => this.#note(context)),
    actuatorPlug('slow', (context) => {
      this.#note(context)
      return new Promise<undefined>((resolve) => this.later.push(() => resolve(undefined)))
    }),
  ]

  take(): string[] {
    return this.lines.splice(0)
  }

  #sensor(name: string, channel?: string) {
    return sensorPlug(name, ['Seen'], {
      ...(channel !== undefined && { channel }),
      execute: (context) => {
        this.#note(context)
        return 'Seen'
      },
    })
  }

  #note(context: PlugContext): void {
    const { node, hops, streamData } = context
    const level = JSON.stringify(context.streamValue('level') ?? '-')
    const data = Object.keys(streamData)
      .filter((key) => key !== 'resource')
      .join()
    this.lines.push(`${node.NAME} level ${level} at ${context.streamTime('level') ?? '-'} of {${data}}, hops ${hops}`)
  }
}

const on = (label: string, name: string, more: Partial<Sensor> = {}): Sensor => ({
  label,
  name,
  resource: '$',
  ...more,
})
const fires = (sourceLabel: string, destinationLabel: string) => {
  return { sourceLabel, destinationLabel, statesTrigger: ['Seen'] }
}
const BOTH: Rule = { sensors: [on('a', 'alarmed'), on('d', 'measured')] }

async function started(rule: Rule, settings = {}) {
  const seen = new Seen()
  const clock = new VirtualClock(0)
  const engine = createEngine({ plugs: seen.plugs, scheduler: clock, ids: () => 't', seed: 1 })
  const events: EngineEvent[] = []
  engine.events$.subscribe((event) => events.push(event))
  await engine.start(rule, { type: 'reactive', resource: 'r', ...settings })
  seen.take()
  return { seen, clock, engine, events }
}

const send = (engine: Engine, level: number, sent?: Parameters<Engine['receive']>[1], resource = 'r') =>
  engine.receive({ resource, level }, sent)

describe('a message on a channel', () => {
  it('runs the sensors of that channel and no others, and they see it', async () => {
    const { seen, engine, events } = await started(BOTH)
    expect(send(engine, 1, ALARM)).toBe(true)
    expect(seen.take()).toEqual(['a level 1 at 0 of {level}, hops 0'])
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'data', resource: 'r', channel: 'alarm', values: { resource: 'r', level: 1 } }),
    )
  })

  it('differs from broker data, which runs the other sensors and is invisible to sensors with a channel', async () => {
    const { seen, engine } = await started(BOTH)
    expect(send(engine, 2)).toBe(true)
    expect(seen.take()).toEqual(['d level 2 at 0 of {level}, hops 0'])
    send(engine, 3, ALARM)
    engine.tasks.get('t')?.run('d')
    engine.tasks.get('t')?.run('a')
    expect(seen.take()).toEqual([
      'a level 3 at 0 of {level}, hops 0',
      'd level 2 at 0 of {level}, hops 0',
      'a level "-" at - of {}, hops 0',
    ])
  })

  it.each<[string, Partial<Sensor>, NonNullable<Rule['triggers']>]>([
    ['both flags are off', { dataTrigger: false, tickTrigger: false }, []],
    ['both flags are on', { dataTrigger: true, tickTrigger: true }, []],
    ['the sensor has a clock', { pollingPeriod: 1000 }, []],
    ['a trigger leads to it', {}, [fires('d', 'a')]],
  ])('runs its sensor when %s', async (_what, flags, triggers) => {
    const { seen, engine } = await started({ sensors: [on('a', 'alarmed', flags), on('d', 'measured')], triggers })
    send(engine, 1, ALARM)
    expect(seen.take()).toEqual(['a level 1 at 0 of {level}, hops 0'])
  })

  it('is the only input that runs such a sensor: ticks and clocks do not', async () => {
    const sensors = [on('a', 'alarmed', { pollingPeriod: 1000 }), on('b', 'alarmed', { schedule: '* * * * *' })]
    const { seen, clock } = await started({ sensors }, { type: 'periodic', frequency: 1000 })
    clock.advanceTo(100_000)
    expect(seen.take()).toEqual([])
  })

  it('runs only sensors of its resource and its channel', async () => {
    const { seen, engine } = await started(BOTH)
    expect(send(engine, 1, ALARM, 'other')).toBe(false)
    expect(send(engine, 1, { channel: 'command' })).toBe(false)
    expect(seen.take()).toEqual([])
    const without = await started({ sensors: [on('d', 'measured')] })
    expect(send(without.engine, 1, ALARM)).toBe(false)
  })

  it('reaches sensors that name one resource differently', async () => {
    const { seen, engine } = await started({ sensors: [on('a', 'alarmed'), on('b', 'alarmed', { resource: 'r' })] })
    send(engine, 1, ALARM)
    expect(seen.take()).toEqual(['a level 1 at 0 of {level}, hops 0', 'b level 1 at 0 of {level}, hops 0'])
  })

  it('shares one invocation with messages of the same array', async () => {
    const { seen, engine, events } = await started({
      sensors: [on('a', 'alarmed'), on('b', 'alarmed', { resource: 's' })],
    })
    engine.receive(
      [
        { resource: 'r', level: 1 },
        { resource: 's', level: 2 },
      ],
      ALARM,
    )
    expect(seen.take()).toEqual(['a level 1 at 0 of {level}, hops 0', 'b level 2 at 0 of {level}, hops 0'])
    expect(new Set(events.filter(({ type }) => type === 'data').map(({ invocation }) => invocation))).toEqual(
      new Set([1]),
    )
  })

  it('is visible to the following actuators and sensors, whatever their own channel', async () => {
    const { seen, engine } = await started({
      sensors: [on('a', 'alarmed'), on('d', 'measured', { dataTrigger: false })],
      actuators: [{ label: 'act', name: 'act' }],
      triggers: [fires('a', 'd'), fires('a', 'act')],
    })
    send(engine, 1, ALARM)
    expect(seen.take()).toEqual([
      'a level 1 at 0 of {level}, hops 0',
      'd level 1 at 0 of {level}, hops 0',
      'act level 1 at 0 of {level}, hops 0',
    ])
  })

  it('appears in the why of its firings', async () => {
    const { engine } = await started({
      sensors: [on('a', 'alarmed')],
      actuators: [{ label: 'act', name: 'act' }],
      triggers: [fires('a', 'act')],
    })
    send(engine, 1, ALARM)
    expect(engine.explain('t', 'act').fired?.why.input).toMatchObject({ kind: 'data', resource: 'r', channel: 'alarm' })
  })

  it.each([['Alarm'], [''], ['a b'], ['x'.repeat(41)], [7 as never]])('rejects %j as its name', async (channel) => {
    const { engine } = await started(BOTH)
    expect(() => send(engine, 1, { channel })).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
  })

  it('does not affect columnar tasks of its resource', async () => {
    const { engine, seen } = await quiet()
    send(engine, 1)
    send(engine, 2)
    const [data, alarms] = [engine.tasks.get('data'), engine.tasks.get('alarms')] as LiveTask[]
    expectRow(data, true)
    expectRow(alarms, false)
    seen.take()
    send(engine, 3, ALARM)
    expectRow(data, true)
    expect(seen.take()).toEqual(['a level 3 at 0 of {level}, hops 0'])
    expect(data?.node('d').collectedTime).toBe(0)
  })

  it('can be played in a simulation', async () => {
    const messages: Message[] = [
      { resource: 'r', timestamp: 0, level: 1 },
      { resource: 'r', timestamp: 1, level: 2, isAlarm: true },
    ]
    const seen = new Seen()
    const channelOf = (message: Message) => (message['isAlarm'] === true ? 'alarm' : undefined)
    await simulate(BOTH, { messages, plugs: seen.plugs, resource: 'r', channelOf, settings: { type: 'reactive' } })
    expect(seen.take().map((line) => line.slice(0, 9))).toEqual(['d level 1', 'a level 2'])
  })
})

/** Without subscribers, tasks may be rows. */
async function quiet() {
  const seen = new Seen()
  const engine = createEngine({ plugs: seen.plugs, scheduler: new VirtualClock(0), ids: () => 't', seed: 1 })
  const only = (sensor: Sensor): Rule => ({
    sensors: [sensor],
    actuators: [{ label: 'act', name: 'act' }],
    triggers: [fires(sensor.label, 'act')],
  })
  await engine.start(only(on('d', 'measured')), { id: 'data', type: 'reactive', resource: 'r' })
  await engine.start({ sensors: [on('a', 'alarmed')] }, { id: 'alarms', type: 'reactive', resource: 'r' })
  return { seen, engine }
}

describe('the hops of a message', () => {
  const CHAIN: Rule = {
    sensors: [on('d', 'measured')],
    actuators: [{ label: 'act', name: 'slow' }],
    triggers: [fires('d', 'act')],
  }

  it('are passed to every call that it causes', async () => {
    const { seen, engine } = await started(CHAIN)
    send(engine, 1, { hops: 3 })
    expect(seen.take()).toEqual(['d level 1 at 0 of {level}, hops 3', 'act level 1 at 0 of {level}, hops 3'])
    send(engine, 2)
    expect(seen.take()).toEqual(['d level 2 at 0 of {level}, hops 0'])
    // Calls of one actuator run one after the other.
    seen.later.shift()?.()
    await promisesSettled()
    expect(seen.take()).toEqual(['act level 2 at 0 of {level}, hops 0'])
  })

  it('are absent from events', async () => {
    const told = async (hops: number) => {
      const { engine, events } = await started(CHAIN)
      send(engine, 1, { hops })
      return JSON.stringify(events)
    }
    expect(await told(2)).toBe(await told(0))
  })

  it('are passed to a call that is repeated after a restart', async () => {
    const { seen, engine } = await started(CHAIN)
    send(engine, 1, { hops: 2 })
    const saved = JSON.parse(JSON.stringify((engine.tasks.get('t') as LiveTask).save())) as ReturnType<LiveTask['save']>
    await engine.close()
    seen.take()
    const next = createEngine({ plugs: seen.plugs, scheduler: new VirtualClock(5), ids: () => 't', seed: 1 })
    await next.restore(saved)
    expect(seen.take()).toEqual(['act level 1 at 0 of {level}, hops 2'])
  })

  it('are passed to the actuator of a row, which becomes a row again afterwards', async () => {
    const { seen, engine } = await quiet()
    const task = engine.tasks.get('data') as LiveTask
    for (const level of [1, 2]) send(engine, level)
    seen.take()
    send(engine, 3, { hops: 1 })
    expect(seen.take()).toEqual(['d level 3 at 0 of {level}, hops 1', 'act level 3 at 0 of {level}, hops 1'])
    expectRow(task, false)
    send(engine, 4)
    expectRow(task, true)
    send(engine, 5)
    expect(seen.take().at(-1)).toBe('act level 5 at 0 of {level}, hops 0')
    expect(task.info().invocationCount).toBe(5)
  })

  it.each([[-1], [1.5], [Number.NaN], ['2' as never]])('are rejected when they are %s', async (hops) => {
    const { engine } = await started(CHAIN)
    expect(() => send(engine, 1, { hops })).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
  })
})

describe('a plug with a channel', () => {
  const define = (more: object) => () =>
    definePlug({ name: 'p', version: '1.0.0', kind: 'sensor', execute: () => undefined, ...more })

  it.each([[{ channel: 'Alarm' }], [{ channel: '' }], [{ channel: 7 }], [{ channel: 'alarm', kind: 'actuator' }]])(
    'cannot be %j',
    (more) => {
      expect(define(more)).toThrow(expect.objectContaining({ code: 'PLUG' }))
    },
  )

  it('declares its channel', () => {
    expect(define({ channel: 'alarm' })().channel).toBe('alarm')
  })
})
