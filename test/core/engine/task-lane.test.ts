import { describe, expect, it } from 'vitest'
import { createEngine, VirtualClock, type EngineEvent, type Plug, type TaskSettings } from '../../../src/index.ts'
import { live, promisesSettled, type Live } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'
import { sensorPlug } from '../../support/make-plug.ts'

const SLOW = rule({ sensors: { s: on('late') }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))] })

/** Answers the open calls of a node until none are left. */
async function answerAll(t: Live, node: string, state: string): Promise<void> {
  while (t.plugs.openCalls(node) > 0) {
    t.plugs.settle(node, state)
    await promisesSettled()
  }
}

function levels(t: Live, node: string): unknown[] {
  return t.plugs.callsOf(node).map(({ stream }) => stream['level'])
}

// Holds LANE-1, LANE-2
describe('messages that arrive while a sensor is running', () => {
  it('wait, and are processed in order: all 50 of 50', async () => {
    const t = await live(SLOW)
    for (let level = 0; level < 50; level++) t.send({ level })
    expect(t.plugs.openCalls('s')).toBe(1)
    expect(t.task.info().waiting).toEqual({ inputs: 49, effects: 0, since: 0 })
    await answerAll(t, 's', 'On')
    expect(levels(t, 's')).toEqual(Array.from({ length: 50 }, (_, level) => level))
    expect(t.firings()).toHaveLength(50)
    expect(t.task.info()).toMatchObject({ invocationCount: 50, health: { dropped: 0 } })
    expect(t.task.info().waiting).toBeUndefined()
  })

  it('are reported by explain as behind', async () => {
    const t = await live(SLOW)
    t.send({ level: 1 })
    t.send({ level: 2 })
    expect(t.task.explain('act')).toMatchObject({ behind: { since: 0, inputs: 1 } })
    await answerAll(t, 's', 'On')
    expect(t.task.explain('act')).not.toHaveProperty('behind')
  })
})

// Holds LANE-4
describe('too many messages', () => {
  it('drop the oldest waiting ones, which is counted, and logged at the first, tenth and hundredth time', async () => {
    const t = await live(SLOW, { maxWaiting: 3 })
    for (let level = 0; level < 16; level++) t.send({ level })
    await answerAll(t, 's', 'On')
    expect(levels(t, 's')).toEqual([0, 13, 14, 15])
    expect(t.task.info().health.dropped).toBe(12)
    expect(t.lines('log').map((text) => text.split(',')[1])).toEqual([
      ' the first; inputs arrive faster than the task processes them',
      ' 10 so far; inputs arrive faster than the task processes them',
    ])
  })

  it.each([
    ['skip: none waits', 'skip', [{ level: 1 }, { level: 2 }, { level: 3 }], [1]],
    [
      'latest: a newer one takes the place of those whose values it has',
      'latest',
      [{ level: 1 }, { level: 2 }, { level: 3 }],
      [1, 3],
    ],
    ['latest: one with other values stays', 'latest', [{ level: 1 }, { level: 2, door: 1 }, { level: 3 }], [1, 2, 3]],
  ] satisfies [string, TaskSettings['whenBusy'], object[], number[]][])(
    'whenBusy %s',
    async (_fact, whenBusy, sent, seen) => {
      const t = await live({ ...SLOW, task: { ...SLOW.task, whenBusy } })
      for (const values of sent) t.send(values)
      await answerAll(t, 's', 'On')
      expect(levels(t, 's')).toEqual(seen)
      expect(t.task.info().health.dropped).toBe(sent.length - seen.length)
    },
  )
})

// Holds LANE-3
describe('calls of an actuator', () => {
  const RETRIED = rule({
    sensors: { s: on('switch') },
    actuators: [
      {
        label: 'act',
        properties: { text: '${streamdata.level} degrees' },
        retryConfig: { maxRetries: 2, minBackoff: 'PT1S' },
      },
    ],
    triggers: [trigger('s', 'act')],
  })

  it('are limited while they wait: the oldest is dropped, as an error', async () => {
    const t = await live(RETRIED, { maxWaiting: 2, script: (plugs) => plugs.say('act', LATER) })
    for (let level = 0; level < 5; level++) t.send({ s: 'On', level })
    expect(t.task.info()).toMatchObject({ health: { dropped: 2 }, waiting: { effects: 2 } })
    const failed = t.events.filter((event) => event.type === 'result' && !event.ok)
    expect(failed.map((event) => event.type === 'result' && event.error)).toEqual(
      Array.from(
        { length: 2 },
        () => 'dropped while it waited: 2 later calls wait for earlier calls on the same target',
      ),
    )
  })

  it('read their secrets at each attempt, and do not store them', async () => {
    const secrets = ['old', 'new']
    const withSecret = rule({
      sensors: { s: on('switch') },
      actuators: [
        {
          label: 'act',
          properties: { text: 'Bearer ${vault.KEY}' },
          retryConfig: { maxRetries: 1, minBackoff: 'PT1S' },
        },
      ],
      triggers: [trigger('s', 'act')],
    })
    const t = await live(withSecret, {
      ports: { secret: () => secrets.shift() },
      script: (plugs) => plugs.say('act', LATER),
    })
    t.send({ s: 'On' })
    await promisesSettled()
    expect(JSON.stringify(t.task.save())).not.toContain('old')
    t.plugs.fail('act')
    await promisesSettled()
    await t.wait(1000)
    expect(t.plugs.callsOf('act').map(({ properties }) => properties['text'])).toEqual(['Bearer old', 'Bearer new'])
    expect(JSON.stringify(t.task.save())).not.toMatch(/old|new/)
  })
})

// Holds AHEAD-2
describe('a plug that reads only the message', () => {
  function ahead(): { plug: Plug; open: Map<number, (state: 'Off' | 'On') => void> } {
    const open = new Map<number, (state: 'Off' | 'On') => void>()
    const plug = sensorPlug('ahead', ['Off', 'On'], {
      reads: 'message',
      parameters: ['level'],
      execute: (context) =>
        new Promise<'Off' | 'On'>((resolve) => void open.set(context.streamValue('level') as number, resolve)),
    })
    return { plug, open }
  }

  async function engineWith(plug: Plug) {
    const engine = createEngine({ plugs: [plug], scheduler: new VirtualClock(0), ids: () => 't' })
    const events: EngineEvent[] = []
    engine.events$.subscribe((event) => events.push(event))
    await engine.start({ sensors: [{ label: 's', name: 'ahead', resource: 'r' }], task: { type: 'reactive' } })
    const results = () => events.flatMap((event) => (event.type === 'result' ? (event.state ?? event.error) : []))
    return { engine, results }
  }

  it('is called ahead for at most 16 waiting messages, and its results apply in order', async () => {
    const { plug, open } = ahead()
    const { engine, results } = await engineWith(plug)
    for (let level = 0; level < 40; level++) engine.receive({ resource: 'r', level })
    expect(open.size).toBe(17)
    for (const level of [3, 2, 1]) open.get(level)?.(level === 2 ? 'On' : 'Off')
    await promisesSettled()
    expect(results()).toEqual([])
    open.get(0)?.('On')
    await promisesSettled()
    expect(results()).toEqual(['On', 'Off', 'On', 'Off'])
    expect(open.size).toBe(21)
  })

  it('is not called ahead for a message that lacks one of its values', async () => {
    const { plug, open } = ahead()
    const { engine } = await engineWith(plug)
    engine.receive({ resource: 'r', level: 1 })
    engine.receive({ resource: 'r', door: 1 })
    engine.receive({ resource: 'r', level: 3 })
    expect([...open.keys()]).toEqual([1, 3])
  })

  it('cannot read anything else during a call ahead', async () => {
    const plug = sensorPlug('ahead', ['Off', 'On'], {
      reads: 'message',
      execute: async (context) => {
        await Promise.resolve()
        return context.random() < 2 ? 'On' : 'Off'
      },
    })
    const { engine, results } = await engineWith(plug)
    for (let level = 0; level < 3; level++) engine.receive({ resource: 'r', level })
    await promisesSettled()
    const refusal = 'plug ahead declares that it reads only the message, but reads chance'
    expect(results()).toEqual(['On', refusal, refusal])
  })
})

describe('an engine that is closed', () => {
  it('rejects every request with CLOSED', async () => {
    const t = await live(SLOW)
    await t.engine.close()
    const closed = expect.objectContaining({ code: 'CLOSED' }) as unknown
    const { engine, task } = t
    for (const call of [
      () => engine.start(SLOW),
      () => engine.stop('t'),
      () => engine.update('t', SLOW),
      () => engine.remove('t'),
      () => engine.restore({ format: 1 } as never),
    ])
      await expect(call()).rejects.toEqual(closed)
    for (const call of [
      () => engine.receive({ resource: 'r' }),
      () => engine.explain('t', 'act'),
      () => task.push('s', { state: 'On' }),
      () => task.run('s'),
      () => task.resume('s'),
      () => task.save(),
      () => task.explain('act'),
    ])
      expect(call).toThrow(closed)
  })
})
