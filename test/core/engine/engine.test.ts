import { map } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { JumpingClock } from '../../support/jumping-clock.ts'
import { live, liveEngine, promisesSettled, TASK_ID } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const simple = rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))] })

describe('a message', () => {
  it('goes to every running task with a node on its resource, and to no other', async () => {
    const { engine, plugs } = liveEngine()
    await engine.start(simple, { id: 'a' })
    await engine.start(simple, { id: 'b' })
    await engine.start(rule({ sensors: { s: on('switch', { resource: 'q' }) } }), { id: 'c' })
    expect(engine.receive({ resource: 'r' })).toBe(true)
    expect(plugs.calls.map(({ context }) => context.task.TASK_ID)).toEqual(['a', 'b'])
    await engine.stop('a')
    expect(engine.receive({ resource: 'r' })).toBe(true)
    expect(plugs.calls.map(({ context }) => context.task.TASK_ID)).toEqual(['a', 'b', 'b'])
    await engine.stop('b')
    expect(engine.receive({ resource: 'r' })).toBe(false)
    expect(engine.receive({ resource: 'elsewhere' })).toBe(false)
  })

  it('also reaches tasks whose only node on the resource is an actuator: its values are stored', async () => {
    const t = await live(
      rule({ sensors: { s: 'switch' }, actuators: [{ label: 'act', resource: 'q' }], triggers: [trigger('s', 'act')] }),
    )
    expect(t.send({ v: 3 }, 'q')).toBe(true)
    t.task.push('s', { state: 'On' })
    expect(t.plugs.callsOf('act')[0]?.stream).toEqual({ resource: 'q', v: 3 })
  })

  it('is matched by the whole name of its resource', async () => {
    const t = await live(simple)
    for (const resource of ['R', 'r ', 'rr', '', '__proto__', 'constructor']) expect(t.send({}, resource)).toBe(false)
  })

  it('in an array reaches each task that uses its resource', async () => {
    const { engine, plugs } = liveEngine()
    await engine.start(simple, { id: 'a' })
    await engine.start(rule({ sensors: { s: on('switch', { resource: 'q' }) } }), { id: 'b' })
    expect(engine.receive([{ resource: 'q' }, { resource: 'r' }, { resource: 'x' }])).toBe(true)
    expect(plugs.calls.map(({ context }) => context.task.TASK_ID).toSorted()).toEqual(['a', 'b'])
    expect(engine.receive([{ resource: 'x' }])).toBe(false)
  })
})

describe('a message that is sent while another is running', () => {
  it('by a subscriber waits for its turn', async () => {
    const t = await live(simple)
    let sent = false
    t.engine.events$.subscribe((event) => {
      if (event.type !== 'state' || sent) return
      sent = true
      expect(t.send({ s: 'Off' })).toBe(true)
    })
    t.send({ s: 'On' })
    expect(t.lines('data', 'state', 'fired')).toEqual([
      '0 data r',
      '0 state s ?>On',
      '0 fired s>act',
      '0 data r',
      '0 state s ?>Off',
    ])
  })

  it('by a plug waits for its turn, however often', async () => {
    const t = await live(simple)
    let count = 0
    t.plugs.say('s', () => {
      if (++count < 1000) t.send({})
      return 'Off'
    })
    t.send({})
    expect(count).toBe(1000)
    expect(t.task.info().invocationCount).toBe(1000)
  })

  it('is rejected when too many wait, and waiting work is still done', async () => {
    const t = await live(simple)
    let refused: unknown
    t.plugs.say('s', () => {
      try {
        for (let i = 0; i < 200_000; i++) t.send({})
      } catch (error) {
        refused = error
      }
      t.plugs.say('s', 'Off')
      return 'Off'
    })
    t.send({})
    expect(refused).toMatchObject({ code: 'TOO_LARGE' })
    expect(t.task.info().invocationCount).toBe(100_001)
  })

  it('a stop by a subscriber follows the work in progress', async () => {
    const t = await live(simple)
    t.engine.events$.subscribe((event) => {
      if (event.type === 'state') void t.engine.stop(TASK_ID)
    })
    t.send({ s: 'On' })
    await promisesSettled()
    expect(t.lines('fired', 'stopped')).toEqual(['0 fired s>act', '0 stopped stopped'])
  })
})

describe('a subscriber that throws', () => {
  it('is logged and does not affect task or process, even behind operators', async () => {
    const errors: string[] = []
    const t = await live(simple, { logger: { warn: () => undefined, error: (message) => errors.push(message) } })
    const uncaught: unknown[] = []
    const listener = (error: unknown) => uncaught.push(error)
    process.on('uncaughtException', listener)
    const thrower = () => {
      throw new Error('boom')
    }
    t.engine.events$.subscribe(thrower)
    t.engine.events$.pipe(map((event) => event.type)).subscribe(thrower)
    t.engine.events$.pipe(map(thrower)).subscribe()
    t.send({ s: 'On' })
    await promisesSettled()
    await promisesSettled()
    process.off('uncaughtException', listener)
    expect(uncaught).toEqual([])
    expect(t.fired()).toEqual(['0 act'])
    expect(errors.length).toBeGreaterThan(3)
    expect(new Set(errors)).toEqual(new Set(['a subscriber threw: boom']))
  })

  it('does not affect anything even if the logger throws as well', async () => {
    const logger = {
      warn: () => undefined,
      error: () => {
        throw new Error('disk full')
      },
    }
    const t = await live(simple, { logger })
    t.engine.events$.subscribe(() => {
      throw new Error('boom')
    })
    t.send({ s: 'On' })
    expect(t.fired()).toEqual(['0 act'])
  })
})

describe('two engines in one process', () => {
  it('share nothing: tasks, messages, events, time', async () => {
    const one = await live(simple)
    const two = await live(simple)
    one.to(500)
    one.send({ s: 'On' })
    expect(one.fired()).toEqual(['500 act'])
    expect(two.fired()).toEqual([])
    expect(two.plugs.calls).toEqual([])
    await one.engine.close()
    expect(two.send({ s: 'On' })).toBe(true)
    expect(two.fired()).toEqual(['0 act'])
  })
})

describe('settled', () => {
  it('resolves at once when no call is open, and otherwise with the last of them', async () => {
    const t = await live(rule({ sensors: { a: on('late'), b: on('late') } }))
    await t.engine.settled()
    t.send({})
    let done = false
    const settled = t.engine.settled().then(() => (done = true))
    t.plugs.settle('a', 'On')
    await promisesSettled()
    expect(done).toBe(false)
    t.plugs.fail('b')
    await settled
    expect(t.lines('result')).toEqual(['0 result a On', '0 result b failed: broken'])
  })
})

describe('randomness', () => {
  const draw = async (seed: number, id: string) => {
    const t = await live(rule({ sensors: { s: on('switch') } }), {
      seed,
      settings: { id },
      script: (plugs) => plugs.say('s', (context) => ({ rawData: { n: [context.random(), context.random()] } })),
    })
    t.send({})
    return JSON.stringify(t.task.node('s').rawData)
  }
  it('is the same for equal seeds and tasks, and another for another seed or task', async () => {
    expect(await draw(1, 'a')).toBe(await draw(1, 'a'))
    expect(new Set([await draw(1, 'a'), await draw(2, 'a'), await draw(1, 'b')]).size).toBe(3)
  })
})

describe('a machine clock that is set back', () => {
  it('does not set back the time of the engine', async () => {
    const clock = new JumpingClock(10_000)
    const engine = createEngine({ plugs: new ScriptedPlugs().plugs, scheduler: clock, ids: () => TASK_ID, seed: 1 })
    const times: number[] = []
    engine.events$.subscribe(({ time }) => times.push(time))
    await engine.start(simple)
    clock.set(4000)
    engine.receive({ resource: 'r' })
    clock.set(11_000)
    engine.receive({ resource: 'r' })
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(new Set(times)).toEqual(new Set([10_000, 11_000]))
  })
})

describe('a failing port at start', () => {
  it('rejects the start and leaves no task', async () => {
    const { engine } = liveEngine({ ports: { metadata: () => Promise.reject(new Error('no database')) } })
    const meta = rule({ sensors: { s: { name: 'switch', resource: 'META.$.x' } }, task: { resource: 'h' } })
    await expect(engine.start(meta)).rejects.toThrow('no database')
    expect(engine.tasks.size).toBe(0)
  })
})
