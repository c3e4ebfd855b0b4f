/** Tests calls that begin before their turn: which calls, what they see, and their results. */
import { describe, expect, it } from 'vitest'
import {
  createEngine,
  VirtualClock,
  type EngineEvent,
  type PlugContext,
  type Ports,
  type Rule,
  type Sensor,
} from '../../../src/index.ts'
import { promisesSettled } from '../../support/live-engine.ts'
import { sensorPlug } from '../../support/make-plug.ts'

type State = 'Off' | 'On'

interface Open {
  readonly level: unknown
  readonly context: PlugContext
  readonly answer: (state: State) => void
  readonly fail: (error: Error) => void
}

/** A sensor `s` whose plug reads only `level`, and answers when the test lets it. */
async function ahead(sensor: Partial<Sensor> = {}, more: { rule?: Partial<Rule>; ports?: Ports } = {}) {
  const calls: Open[] = []
  const plug = sensorPlug('ahead', ['Off', 'On'], {
    input: { text: { type: 'string' } },
    reads: 'message',
    parameters: ['level'],
    execute: (context) =>
      new Promise<State>((answer, fail) => calls.push({ level: context.streamValue('level'), context, answer, fail })),
  })
  const clock = new VirtualClock(0)
  const engine = createEngine({
    plugs: [plug],
    scheduler: clock,
    ids: () => 't',
    seed: 1,
    ...(more.ports && { ports: more.ports }),
  })
  const events: EngineEvent[] = []
  engine.events$.subscribe((event) => events.push(event))
  const task = await engine.start({
    sensors: [{ label: 's', name: 'ahead', resource: 'r', ...sensor }],
    task: { type: 'reactive', resource: 'r' },
    ...more.rule,
  })
  const send = (...levels: readonly unknown[]) => {
    for (const level of levels) engine.receive({ resource: 'r', level })
  }
  const answer = async (level: unknown, state: State = 'On') => {
    calls.find((call) => call.level === level)?.answer(state)
    await promisesSettled()
  }
  const results = () => events.flatMap((event) => (event.type === 'result' ? [event.state ?? event.error] : []))
  return { engine, task, clock, calls, events, send, answer, results, levels: () => calls.map(({ level }) => level) }
}

describe('a call that begins before its turn', () => {
  it('sees its own message, and the time of its arrival', async () => {
    const t = await ahead({ properties: { text: '${streamdata.level} degrees in ${task.RESOURCE}' } })
    t.send(1)
    t.clock.advanceTo(1000)
    t.send(2)
    const seen = t.calls.map(({ context: { properties, now } }) => [properties['text'], now])
    expect(seen).toEqual([
      ['1 degrees in r', 0],
      ['2 degrees in r', 1000],
    ])
  })

  it('sees how many rules led to its message', async () => {
    const t = await ahead()
    t.send(1)
    t.engine.receive({ resource: 'r', level: 2 }, { hops: 3 })
    expect(t.calls.map(({ context }) => context.hops)).toEqual([0, 3])
  })

  it('reports its lines of the log when its turn comes', async () => {
    const t = await ahead()
    t.send(1, 2)
    t.calls[1]?.context.log.warn('ahead')
    const told = () =>
      t.events.flatMap((event) => (event.type === 'log' || event.type === 'result' ? [event.type] : []))
    expect(told()).toEqual([])
    await t.answer(2)
    await t.answer(1)
    expect(told()).toEqual(['result', 'log', 'result'])
  })

  it('counts its time limit from its beginning', async () => {
    const t = await ahead({ timeout: 'PT10S' })
    t.send(1)
    t.clock.advanceTo(1000)
    t.send(2)
    t.clock.advanceTo(8000)
    await t.answer(1)
    t.clock.advanceTo(10_999)
    expect(t.results()).toEqual(['On'])
    t.clock.advanceTo(11_000)
    expect(t.results()).toEqual(['On', 'ahead took longer than 10000 ms'])
  })

  it('is aborted when its task stops or its message is dropped', async () => {
    const latest = { rule: { task: { type: 'reactive', resource: 'r', whenBusy: 'latest' } } } as const
    const t = await ahead({}, latest)
    t.send(1, 2, 3)
    const signals = () => t.calls.map(({ context }) => context.signal.aborted)
    expect([t.levels(), signals()]).toEqual([
      [1, 2, 3],
      [false, true, false],
    ])
    await t.engine.stop('t')
    expect(signals()).toEqual([true, true, true])
    await t.answer(3)
    expect(t.results()).toEqual([])
  })

  it('counts as an open call until it returns', async () => {
    const t = await ahead()
    t.send(1, 2)
    let isOver = false
    void t.engine.settled().then(() => (isOver = true))
    await t.answer(1)
    expect(isOver).toBe(false)
    await t.answer(2)
    expect(isOver).toBe(true)
  })
})

// Holds AHEAD-1
describe('no call begins before its turn', () => {
  it.each<[string, Partial<Sensor>, Ports?]>([
    ['of a node that reads another', { properties: { text: '${?nodes.other.state}' } }],
    ['of a node that runs in a loop', { loopDef: '[{"id": 1}]' }],
    ['of a node that reads a secret', { properties: { text: '${?vault.KEY}' } }],
    [
      'of a node that reads metadata of the task',
      { properties: { text: '${task.resource.meta.floor}' } },
      { metadata: () => ({ floor: '3' }) },
    ],
    [
      'of a node that reads its own metadata',
      { properties: { text: '${node.resource.meta.floor}' } },
      { metadata: () => ({ floor: '3' }) },
    ],
  ])('%s', async (_, sensor, ports) => {
    const other = { label: 'other', name: 'ahead' }
    const t = await ahead(
      {},
      {
        rule: { sensors: [{ label: 's', name: 'ahead', resource: 'r', ...sensor }, other] },
        ...(ports && { ports }),
      },
    )
    t.send(1, 2)
    expect(t.levels()).toEqual([1])
    await t.answer(1)
    expect(t.levels()).toEqual([1, 2])
  })

  it('of a node that pauses first', async () => {
    const t = await ahead(
      {},
      {
        rule: {
          sensors: [
            { label: 's', name: 'ahead', resource: 'r' },
            { label: 'paused', name: 'ahead', resource: 'r', pauseExecution: true },
          ],
        },
      },
    )
    t.send(1, 2)
    expect(t.calls.map(({ level, context }) => `${context.node.NAME} ${String(level)}`)).toEqual(['s 1', 's 2'])
  })

  it('for a message on a channel', async () => {
    const t = await ahead()
    t.send(1)
    t.engine.receive({ resource: 'r', level: 2 }, { channel: 'command' })
    expect(t.levels()).toEqual([1])
  })

  it('for ticks, runs and pushes', async () => {
    const t = await ahead()
    t.send(1)
    t.task.run('s')
    t.task.push('s', { state: 'Off' })
    expect(t.levels()).toEqual([1])
    await t.answer(1)
    expect(t.calls).toHaveLength(2)
  })

  it('of a plug that has always returned at once', async () => {
    const seen: unknown[] = []
    const sometimes = sensorPlug('sometimes', ['On'], {
      reads: 'message',
      parameters: ['level'],
      execute: (context) => {
        seen.push(context.streamValue('level'))
        return 'On'
      },
    })
    const late = sensorPlug('late', ['On'], () => new Promise<'On'>(() => undefined))
    const engine = createEngine({ plugs: [sometimes, late], scheduler: new VirtualClock(0), seed: 1 })
    const on = (label: string) => ({ label, name: label, resource: 'r' })
    await engine.start({ sensors: [on('sometimes'), on('late')], task: { type: 'reactive' } })
    for (let level = 0; level < 3; level++) engine.receive({ resource: 'r', level })
    expect(seen).toEqual([0])
  })
})
