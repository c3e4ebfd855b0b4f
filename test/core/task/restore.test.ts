import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../../src/core/engine/events.ts'
import { inTheMiddle, saved } from '../../support/busy-task.ts'
import { line, live, promisesSettled, restarted, type Live } from '../../support/live-engine.ts'
import { gate, is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER, withActing } from '../../support/scripted-plugs.ts'

/** What happens until 60 s, with the clock where it is ahead. */
async function rest(t: Live): Promise<string[]> {
  t.clear()
  await t.wait(60_000)
  return t.events.map(withClock)
}

const withClock = (event: EngineEvent) => (event.at === undefined ? line(event) : `${line(event)} at ${event.at}`)

const phases = (t: Live) => saved(t).state.executing?.map(({ node, phase }) => `${node} ${phase}`)

// Holds STEP-6
describe('a task that is saved with work in flight', () => {
  it('is plain JSON, and says the same once it is restored', async () => {
    const t = await inTheMiddle()
    const before = saved(t)
    expect(phases(t)).toEqual([
      'held holding',
      'paused paused',
      'looping called',
      'retried retrying',
      'slow called',
      'slow behind',
    ])
    expect(before.state.evaluation?.due).toEqual(['looping'])
    expect(before.state.links.length).toBeGreaterThan(0)
    const { executing: wanted, ...others } = before.state
    const { executing, ...othersAfter } = saved(await restarted(t)).state
    expect(othersAfter).toEqual(others)
    // What was called is called again, which is counted.
    const withoutCalls = (list: typeof wanted) => list?.map((one) => ({ ...one, calls: 0 }))
    expect(withoutCalls(executing)).toEqual(withoutCalls(wanted))
    const again = executing?.filter(({ calls }, i) => calls !== wanted?.[i]?.calls)
    expect(again?.map(({ node, calls }) => `${node} ${calls}`)).toEqual(['looping 4', 'slow 3'])
  })

  it('says what waits: the input at hand, those behind it, calls in their order, and the places of effects', async () => {
    const t = await inTheMiddle()
    const { state } = saved(t)
    const idOf = (node: string) => state.executing?.find((one) => one.node === node)?.id
    expect(state).toMatchObject({ now: 1500, arrived: 2, calls: [idOf('looping')] })
    expect(state.waiting).toEqual([
      {
        time: 1600,
        number: 2,
        kind: 'data',
        messages: [{ resource: 'q', v: 2, x: { $number: '-Infinity' } }],
      },
    ])
    const effects = state.executing?.filter(({ touches }) => touches !== undefined)
    expect(effects?.map(({ node, touches, rendered, placedAt }) => [node, touches, rendered, placedAt])).toEqual([
      ['retried', ['node:retried'], undefined, 1500],
      ['slow', ['node:slow'], [{ value: 7 }], 1500],
      ['slow', ['node:slow'], [{ value: 7 }], 1500],
    ])
    const info = { inputs: 1, effects: 1, since: 1500 }
    expect(t.task.info().waiting).toEqual(info)
    expect((await restarted(t)).task.info().waiting).toEqual(info)
  })

  it.each([
    ['while a plug is at work', 1600],
    ['while a sensor waits for another attempt', 5000],
    ['while nothing but waits is left', 13_000],
  ])('goes on as if nothing had happened, saved %s', async (_, time) => {
    const saveAt = async () => {
      const t = await inTheMiddle()
      await t.wait(time)
      return t
    }
    const straight = await rest(await saveAt())
    expect(await rest(await restarted(await saveAt()))).toEqual(straight)
    expect(straight.length).toBeGreaterThan(0)
  })

  it('goes on with all of it: held, following, retried, timed out, evicted, polled', async () => {
    const ofPolled = (text: string) => text.includes('polled') && !text.startsWith('7000')
    const all = await rest(await restarted(await inTheMiddle()))
    expect(all.filter((text) => !ofPolled(text))).toEqual([
      '1500 result looping failed: late took longer than 3000 ms at 4600',
      '1600 data q at 4600',
      '1600 result other - at 4600',
      '1600 log WARN busy; attempt 2 of 4 in 8000 ms at 4600',
      '1500 result retried - at 7600',
      '1600 result retrying On at 12600',
      '1600 state retrying ?>On at 12600',
      '6500 result held On at 12600',
      '6500 state held ?>On at 12600',
      '6500 gate both ?>TRUE at 12600',
      '6500 fired both>slow at 12600',
      '7000 tick polled at 12600',
      '7000 result polled - at 12600',
      '7500 state follow Off>On at 12600',
      '10500 evicted evicting On at 12600',
      '1500 result slow failed: act took longer than 20000 ms at 21600',
      '31500 result paused failed: nobody resumed the node within its pause limit',
      '1500 result slow failed: act took longer than 20000 ms at 41600',
    ])
    const polled = all.filter(ofPolled).filter((text) => text.includes('tick'))
    expect(polled).toEqual([14, 21, 28, 35, 42, 49, 56].map((s) => `${s}000 tick polled`))
  })

  it('calls again what was being called, under the same id and with the item of its loop', async () => {
    const t = await inTheMiddle()
    const ids = (node: string) => t.plugs.callsOf(node).map(({ id }) => id)
    const before = ids('looping')
    const effects = ids('slow')
    await restarted(t)
    expect(ids('looping')).toEqual([...before, before.at(-1)])
    expect(t.plugs.callsOf('looping').at(-1)?.properties['value']).toBe(3)
    expect(effects).toHaveLength(1)
    expect(ids('slow')).toEqual([...effects, ...effects])
    expect(t.plugs.callsOf('slow').at(-1)?.properties['value']).toBe(7)
  })

  it('keeps the places of effects: the next on the same thing begins when the one before is over', async () => {
    const before = await inTheMiddle()
    const t = await restarted(before)
    const ids = () => t.plugs.callsOf('slow').map(({ id }) => id)
    const [first, ...again] = ids()
    // The call of the engine before is open as well, and nobody hears its answer.
    t.plugs.settle('slow', undefined)
    await promisesSettled()
    expect(ids()).toEqual([first, ...again])
    t.plugs.settle('slow', undefined)
    await promisesSettled()
    expect(ids()).toHaveLength(3)
    expect(new Set(ids()).size).toBe(2)
  })

  it('keeps raw data, and numbers that JSON does not know in streams', async () => {
    const t = await restarted(await inTheMiddle())
    expect(t.task.node('chained').rawData).toEqual({ n: 7, list: [null] })
    await t.wait(13_000)
    expect(t.task.node('held').rawData).toEqual({ v: -1.5 })
    expect(t.plugs.callsOf('other').at(-1)?.stream).toEqual({
      resource: 'q',
      v: 2,
      w: 1,
      x: Number.NEGATIVE_INFINITY,
    })
  })

  it('keeps values of the stream, each for the rest of its own time', async () => {
    const t = await restarted(await inTheMiddle())
    await t.wait(60_999)
    t.task.run('other')
    const kept = { resource: 'q', v: 2, x: Number.NEGATIVE_INFINITY }
    expect(t.plugs.callsOf('other').at(-1)?.stream).toEqual({ ...kept, w: 1 })
    await t.wait(61_000)
    t.task.run('other')
    expect(t.plugs.callsOf('other').at(-1)?.stream).toEqual(kept)
  })

  it('keeps cool-downs and the way by which things fired', async () => {
    const t = await restarted(await inTheMiddle())
    await t.wait(13_000)
    t.clear()
    t.task.push('chained', { state: 'On' })
    expect(t.lines('held')).toEqual(['13000 held chained>act invocationPolicy'])
    expect(t.task.explain('act').fired?.why.via).toEqual([{ source: 'evicting', destination: 'chained', time: 1500 }])
  })

  it('goes on with the pass of its input: what it selected, what it touched and what is due in it', async () => {
    const parts = rule({
      sensors: { a: on('switch'), slow: on('late'), last: on('switch', { sequence: 2 }) },
      relations: [gate('both', 'AND', ['a', 'On'], ['slow', 'On'])],
      actuators: ['act'],
      triggers: [trigger('both', 'act', is('TRUE'))],
    })
    const before = await live(parts)
    before.send({ a: 'On' })
    const t = await restarted(before)
    t.plugs.settle('slow', 'On')
    t.plugs.settle('slow', 'On')
    await promisesSettled()
    expect(t.fired()).toEqual(['0 act'])
    expect(t.plugs.calls.map(({ node }) => node)).toEqual(['a', 'slow', 'slow', 'act', 'last'])
  })
})

describe('a restored task', () => {
  it('goes on with the same chance', async () => {
    const task = rule({ sensors: { s: on('switch') } })
    const draws = async (restart: boolean) => {
      let t = await live(task, {
        script: (plugs) => plugs.say('s', (context) => ({ rawData: { n: context.random() } })),
      })
      const seen: unknown[] = []
      for (let i = 0; i < 4; i++) {
        if (restart) t = await restarted(t)
        t.send({})
        seen.push(t.task.node('s').rawData)
      }
      return seen
    }
    const straight = await draws(false)
    expect(await draws(true)).toEqual(straight)
    expect(new Set(straight.map((one) => JSON.stringify(one))).size).toBe(4)
  })

  it('that was stopped is stopped, and can be started', async () => {
    const t = await live(rule({ sensors: { s: on('switch') } }))
    await t.engine.stop('t')
    const again = await restarted(t)
    expect(again.task.status).toBe('stopped')
    expect(again.send({})).toBe(false)
    await again.engine.start('t')
    expect(again.lines('started')).toEqual(['0 started 2'])
    expect(again.send({})).toBe(true)
  })

  it('does not say that it started: its run goes on', async () => {
    const t = await restarted(await inTheMiddle())
    expect(t.lines('started')).toEqual([])
    expect(t.task.info()).toMatchObject({ startTime: 0, createTime: 0, invocationCount: 3 })
  })

  it('that waited for its tick takes it at the time that was planned', async () => {
    const t = await restarted(await inTheMiddle())
    await t.wait(100_000)
    expect(t.lines('tick')).toContain('100000 tick')
  })

  it('keeps ticks that wait for their turn', async () => {
    const before = await live(
      rule({ sensors: { s: 'late' }, task: { type: 'periodic', frequency: 1000, overlap: 'queue' } }),
    )
    before.to(3500)
    const t = await restarted(before)
    expect(t.task.info().waiting).toEqual({ inputs: 3, effects: 0, since: 0 })
    await t.wait(3600)
    while (t.plugs.openCalls('s') > 0) {
      t.plugs.settle('s', 'On')
      await promisesSettled()
    }
    expect(t.lines('held')).toEqual([])
    const ticks = t.events.filter((event) => event.type === 'tick')
    expect(ticks.map(({ time, at, scheduledAt }) => [time, at, scheduledAt])).toEqual([
      [1000, 3600, 1000],
      [2000, 3600, 2000],
      [3000, 3600, 3000],
    ])
    expect(t.plugs.callsOf('s').map(({ now }) => now)).toEqual([0, 0, 1000, 2000, 3000])
  })

  // Stored tasks go on under one evaluation per input.
  it('goes on from a state of before, with sensors that were to follow and a tick that waited', async () => {
    const before = await live(
      rule({
        sensors: {
          slow: on('late', { tickTrigger: false }),
          last: on('switch', { sequence: 2, tickTrigger: false }),
          polled: { name: 'switch', pollingPeriod: 1000 },
        },
        relations: [gate('both', 'AND', ['slow', 'On'], ['last', 'On'])],
        actuators: ['act'],
        triggers: [trigger('both', 'act', is('TRUE'))],
      }),
    )
    before.send({ last: 'On' })
    before.to(1000)
    const t = await restarted(before, 1000, ({ state, ...task }) => {
      const { evaluation, waiting, ...rest } = state
      expect(evaluation?.selected.map(([label]) => label)).toEqual(['slow', 'last'])
      expect(waiting).toEqual([{ time: 1000, number: 2, kind: 'tick', nodes: ['polled'], scheduledAt: 1000 }])
      const origins = [evaluation?.selected[0]?.[1] ?? -1]
      const groups = [{ invocation: 2, groups: [['slow'], ['last']], position: 0, origins }]
      const tick = { time: 1000, number: 2, kind: 'tick', node: 'polled', scheduledAt: 1000 } as const
      return { ...task, state: { ...rest, groups, waiting: [tick] } }
    })
    t.plugs.settle('slow', 'On')
    t.plugs.settle('slow', 'On')
    await promisesSettled()
    expect(t.fired()).toEqual(['0 act'])
    expect(t.lines('tick')).toEqual(['1000 tick polled'])
  })

  it('whose messages waited takes them in their order, with their times', async () => {
    const before = await live(rule({ sensors: { s: on('late') } }))
    for (const n of [0, 1, 2]) {
      before.to(n * 100)
      before.send({ n })
    }
    const t = await restarted(before, 9000)
    while (t.plugs.openCalls('s') > 0) {
      t.plugs.settle('s', 'On')
      await promisesSettled()
    }
    const seen = t.plugs.callsOf('s').map(({ now, stream }) => `${now}: ${String(stream['n'])}`)
    expect(seen).toEqual(['0: 0', '0: 0', '100: 1', '200: 2'])
    const results = t.events.filter(({ type }) => type === 'result')
    expect(results.map(withClock)).toEqual([0, 100, 200].map((time) => `${time} result s On at 9000`))
  })

  it('is not held by a call that acts, once that only holds back its result', async () => {
    const before = await live(
      rule({
        sensors: { a: on('switch'), s: on('acting'), q: on('switch', { resource: 'q' }) },
        actuators: ['act'],
        triggers: [trigger('a', 'act')],
      }),
      {
        scripted: withActing(),
        script: (plugs) => {
          plugs.say('act', LATER)
          plugs.say('s', { state: 'On', after: 5000 })
        },
      },
    )
    before.send({})
    expect(phases(before)).toEqual(['s holding', 'act called'])
    const t = await restarted(before)
    t.to(1000)
    t.send({}, 'q')
    expect(t.plugs.callsOf('q').map(({ now }) => now)).toEqual([1000])
    t.to(5000)
    expect(t.lines('result')).toContain('5000 result s On')
  })
})
