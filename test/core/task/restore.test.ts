import { describe, expect, it } from 'vitest'
import type { SavedTask } from '../../../src/core/engine/api.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { live, liveEngine, promisesSettled, restarted, type Live } from '../../support/live-engine.ts'
import { atMostEvery, gate, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

/** What a saved task says, without when it was restored. */
const saved = (t: Live): SavedTask => JSON.parse(JSON.stringify(t.task.save())) as SavedTask

const busy = rule({
  sensors: {
    held: on('switch'),
    follow: on('switch'),
    called: on('late', { timeout: 'PT20S' }),
    retrying: on('switch', { retryConfig: { maxRetries: 3, minBackoff: 'PT8S' } }),
    paused: on('switch', { pauseExecution: true, pauseExecutionTimeout: 'PT30S' }),
    looping: on('late', { loopDef: '[{"n":1},{"n":2}]', properties: { value: '${loop.n}' } }),
    evicting: on('switch', { evictionTime: 9000 }),
    next: on('switch', { sequence: 2 }),
    polled: { name: 'switch', pollingPeriod: 7000 },
    chained: 'switch',
  },
  actuators: ['act', 'slow'],
  relations: [gate('both', 'AND', ['held', 'On'], ['evicting', 'On'])],
  triggers: [
    trigger('evicting', 'chained', turns('*', 'On')),
    trigger('chained', 'act', atMostEvery(60)),
    trigger('both', 'slow', is('TRUE')),
  ],
  task: { type: 'scheduled', cron: '40 1 * * * ?' },
})

async function inTheMiddle(): Promise<Live> {
  const t = await live(busy, {
    script: (plugs) => {
      plugs.say('held', { state: 'On', after: 5000, rawData: { v: Number.NaN } })
      plugs.say('follow', { state: 'Off', then: { state: 'On', after: 6000 } })
      plugs.say('retrying', new Error('busy'), 'On')
      plugs.say('evicting', 'On')
      plugs.say('chained', { state: 'On', rawData: { list: [Infinity] } })
    },
  })
  t.to(1000)
  t.send({ v: Number.NaN, w: 1 })
  t.to(1500)
  t.send({ v: 2 })
  t.plugs.settle('looping', 'On')
  await promisesSettled()
  return t
}

describe('a task that is saved with work in flight', () => {
  it('is plain JSON, and says the same once it is restored', async () => {
    const t = await inTheMiddle()
    const before = saved(t)
    expect(before.state.executing?.map(({ phase }) => phase).toSorted()).toEqual([
      'called',
      'called',
      'holding',
      'paused',
      'retrying',
    ])
    expect(before.state.groups).toHaveLength(1)
    expect(before.state.links.length).toBeGreaterThan(0)
    const { executing: wanted, ...rest } = before.state
    const { executing, ...restAfter } = saved(await restarted(t)).state
    expect(restAfter).toEqual(rest)
    // What was called is called again, which is counted.
    const withoutCalls = (list: typeof wanted) => list?.map((one) => ({ ...one, calls: 0 }))
    expect(withoutCalls(executing)).toEqual(withoutCalls(wanted))
  })

  it('goes on as if nothing had happened: held, following, retried, timed out, evicted, polled', async () => {
    const rest = async (t: Live) => {
      t.clear()
      await t.wait(60_000)
      return t.lines()
    }
    const straight = await rest(await inTheMiddle())
    const t = await restarted(await inTheMiddle())
    expect(await rest(t)).toEqual(straight)
    expect(straight).toContain('6000 result held On')
    expect(straight).toContain('7500 state follow Off>On')
    expect(straight).toContain('9000 result retrying On')
    expect(straight).toContain('21000 result called failed: late took longer than 20000 ms')
    expect(straight).toContain('10500 evicted evicting On')
    expect(straight).toContain('7000 tick polled')
  })

  it('calls again what was being called, under the same id and with the item of its loop', async () => {
    const t = await inTheMiddle()
    const ids = (node: string) => t.plugs.callsOf(node).map(({ id }) => id)
    const before = ids('looping')
    await restarted(t)
    expect(ids('looping')).toEqual([...before, before.at(-1)])
    expect(t.plugs.callsOf('looping').at(-1)?.properties['value']).toBe(2)
  })

  it('keeps numbers that JSON does not know, in streams and in raw data', async () => {
    const t = await restarted(await inTheMiddle())
    expect(t.task.node('chained').rawData).toEqual({ list: [Infinity] })
    await t.wait(6000)
    expect(t.task.node('held').rawData).toEqual({ v: Number.NaN })
  })

  it('keeps values of the stream, each for the rest of its own time', async () => {
    const t = await restarted(await inTheMiddle())
    await t.wait(60_999)
    t.task.run('next')
    expect(t.plugs.callsOf('next').at(-1)?.stream).toEqual({ resource: 'r', v: 2, w: 1 })
    await t.wait(61_000)
    t.task.run('next')
    expect(t.plugs.callsOf('next').at(-1)?.stream).toEqual({ resource: 'r', v: 2 })
  })

  it('keeps cool-downs and the way by which things fired', async () => {
    const t = await restarted(await inTheMiddle())
    t.clear()
    t.task.push('chained', { state: 'On' })
    expect(t.lines('held')).toEqual(['1500 held chained>act invocationPolicy'])
    expect(t.task.explain('act').fired?.why.via).toEqual([{ source: 'evicting', destination: 'chained', time: 1000 }])
  })

  it('goes on to the next group when the last of the group before it ends', async () => {
    const t = await restarted(await inTheMiddle())
    const began = () => t.plugs.callsOf('next').map(({ id }) => id).length
    const before = began()
    t.plugs.settle('called', 'On')
    await promisesSettled()
    expect(began()).toBe(before)
    await t.wait(60_000)
    expect(began()).toBe(before + 1)
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
      rule({ sensors: { s: 'switch' }, task: { type: 'periodic', frequency: 1000, overlap: 'queue' } }),
      { script: (plugs) => plugs.say('s', { state: 'On', after: 2500 }) },
    )
    before.to(2000)
    const t = await restarted(before)
    await t.wait(5000)
    expect(t.lines('tick')).toEqual(['2500 tick', '5000 tick'])
  })
})

describe('a saved task that does not fit', () => {
  async function refusal(change: (task: SavedTask) => unknown): Promise<unknown> {
    const t = await inTheMiddle()
    const changed = change(saved(t)) as SavedTask
    const { engine } = liveEngine()
    const outcome = await engine.restore(changed).catch((error: unknown) => error)
    expect(engine.tasks.size).toBe(0)
    return outcome
  }
  const withRule = (change: (rule: Rule) => Rule) => (task: SavedTask) => ({ ...task, rule: change(task.rule) })
  const without = (label: string) =>
    withRule((given) => ({
      ...given,
      sensors: (given.sensors ?? []).filter((sensor) => sensor.label !== label),
      triggers: (given.triggers ?? []).filter((one) => one.sourceLabel !== label && one.destinationLabel !== label),
    }))

  it.each<[string, (task: SavedTask) => unknown, string]>([
    ['a sensor that is gone', without('polled'), 'the saved task names sensor polled, which its rule does not have'],
    ['a trigger that is gone', withRule((given) => ({ ...given, triggers: [] })), 'names trigger'],
    [
      'an actuator that is gone',
      withRule((given) => ({
        ...given,
        actuators: [{ label: 'slow', name: 'act' }],
        triggers: (given.triggers ?? []).filter((one) => one.destinationLabel !== 'act'),
      })),
      'actuator act',
    ],
    [
      'a state that the plug does not have',
      withRule((given) => ({
        ...given,
        sensors: (given.sensors ?? []).map((one) => (one.label === 'chained' ? { ...one, name: 'band' } : one)),
        triggers: (given.triggers ?? []).map((one) => one),
      })),
      'state On',
    ],
    [
      'another number of resources',
      withRule((given) => ({
        ...given,
        sensors: (given.sensors ?? []).map((one) => (one.label === 'next' ? { ...one, resource: 'q' } : one)),
      })),
      'the saved task has 1 resources, its rule 2',
    ],
    ['another format', (task) => ({ ...task, format: 2 }), 'has format 2; this version reads format 1'],
  ])('is refused for %s', async (_, change, text) => {
    expect(await refusal(change)).toMatchObject({
      code: 'SAVED_STATE',
      message: expect.stringContaining(text) as string,
    })
  })

  it('is refused for a rule that is not valid, with all its problems', async () => {
    const outcome = await refusal(withRule((given) => ({ ...given, sensors: [{ label: 'x', name: 'nothing' }] })))
    expect(outcome).toMatchObject({ code: 'VALIDATION' })
  })

  it('is refused while there is a task of its id', async () => {
    const t = await live(rule({ sensors: { s: { name: 'switch' } } }), { script: (plugs) => plugs.say('s', LATER) })
    await expect(t.engine.restore(t.task.save())).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})
