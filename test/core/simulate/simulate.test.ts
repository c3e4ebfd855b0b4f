import { describe, expect, it, vi } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { simulate, type SimulateOptions } from '../../../src/core/simulate/simulate.ts'
import type { Message } from '../../../src/core/task/origin.ts'
import { line } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { generate } from '../../support/generate.ts'
import { LATER, ScriptedPlugs } from '../../support/scripted-plugs.ts'
import { node } from '../../support/rule-nodes.ts'

const simple = rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))] })
const ticking = rule({ sensors: { s: 'switch' }, task: { type: 'periodic', frequency: 1000 } })
const at = (timestamp: number | string, values: object = {}): Message => ({ resource: 'r', timestamp, ...values })

async function run(given: Rule, options: Partial<SimulateOptions> & { scripted?: ScriptedPlugs } = {}) {
  const { scripted = new ScriptedPlugs(), ...rest } = options
  const result = await simulate(given, { plugs: scripted.plugs, ...rest })
  return { ...result, scripted, lines: result.events.map(line) }
}

describe('virtual time', () => {
  it('starts with the first message and ends with the last; each message moves it', async () => {
    const result = await run(simple, { messages: [at(5000, { s: 'On' }), at(7500, { s: 'On' })] })
    expect(result).toMatchObject({ from: 5000, until: 7500, messages: 2, late: 0 })
    expect(result.lines).toContain('5000 started 1')
    expect(result.lines.filter((text) => text.includes('fired'))).toEqual(['5000 fired s>act', '7500 fired s>act'])
  })

  it('uses rows while it keeps no events', async () => {
    const start = vi.spyOn(CoreEngine.prototype, 'start')
    const sensor = node('s', 'streamingDataSensor', { parameter: 'a', threshold: 5 }, { resource: 'r' })
    const messages = Array.from({ length: 50 }, (_, i) => at(1000 + i, { a: i % 10 }))
    await simulate({ sensors: [sensor] }, { plugs: builtins, keep: 'none', messages, generate })
    const [engine] = start.mock.contexts as unknown as readonly CoreEngine[]
    start.mockRestore()
    expect(engine?.stats()).toMatchObject({ rows: 49, plain: 1 })
  })

  it('starts and ends at configured times, as number or text', async () => {
    const result = await run(ticking, { from: '1970-01-01T00:00:01Z', until: 3000 })
    expect(result).toMatchObject({ from: 1000, until: 3000, messages: 0 })
    expect(result.lines.filter((text) => text.endsWith('tick'))).toEqual(['1000 tick', '2000 tick', '3000 tick'])
  })

  it('without messages starts and ends at 0, after what is due at once', async () => {
    const result = await run(ticking)
    expect(result).toMatchObject({ from: 0, until: 0 })
    expect(result.lines.filter((text) => text.endsWith('tick'))).toEqual(['0 tick'])
  })

  it.each<[string, object]>([
    ['cron', { type: 'scheduled', cron: '0 0 6 * * ?' }],
    ['a rule with its own start', { type: 'scheduled', rrule: 'DTSTART:20260105T060000Z\nRRULE:FREQ=DAILY' }],
  ])('includes a run of %s at its bounds', async (_, task) => {
    const from = Date.UTC(2026, 0, 5, 6)
    const until = Date.UTC(2026, 0, 6, 6)
    const { events } = await run(rule({ sensors: { s: 'switch' }, task }), { from, until })
    expect(events.flatMap(({ type, time }) => (type === 'tick' ? [time] : []))).toEqual([from, until])
  })

  it.each([
    ['from', 'never'],
    ['until', 'never'],
    ['until', Number.NaN],
  ])('%s %s is rejected', async (name, value) => {
    await expect(run(ticking, { [name]: value })).rejects.toThrow(name)
  })
})

describe('a downtime', () => {
  const silence: Rule = { sensors: [{ label: 's', name: 'noDataFor', resource: '$', properties: { duration: '8s' } }] }

  it.each<[string, Partial<SimulateOptions>, readonly string[]]>([
    ['is none unless it is asked for', {}, ['0 Data', '8000 No Data']],
    ['has silence begin again', { down: { from: 5000, until: 17_000 } }, ['0 Data', '25000 No Data']],
    [
      'delivers what came meanwhile at its end, at its own time',
      { down: { from: 5000, until: 17_000 }, messages: [at(0), at(6000), at(30_000)] },
      ['0 Data', '6000 Data', '25000 No Data', '30000 Data', '38000 No Data'],
    ],
  ])('%s', async (_, options, states) => {
    const messages = [at(0)]
    const { events } = await run(silence, { plugs: builtins, resource: 'r', messages, until: 60_000, ...options })
    expect(events.flatMap((event) => (event.type === 'state' ? [`${event.time} ${event.to}`] : []))).toEqual(states)
  })
})

describe('messages', () => {
  it('older than the clock are late: dropped, or processed at its time if the task accepts them', async () => {
    const messages = [at(5000, { s: 'Off' }), at(2000, { s: 'On' }), at(6000)]
    const dropped = await run(simple, { messages })
    expect(dropped).toMatchObject({ late: 1, messages: 3 })
    expect(dropped.lines.filter((text) => text.includes('fired'))).toEqual([])
    expect(dropped.task.info().health).toMatchObject({ late: 1, duplicate: 0, skewed: 0 })
    const taken = await run(simple, { messages, settings: { late: 'take' } })
    expect(taken.lines).toContain('5000 fired s>act')
  })

  it('with NaN values reach plugs as they are', async () => {
    const { scripted } = await run(simple, { messages: [at(1, { v: Number.NaN })] })
    expect(scripted.calls[0]?.stream['v']).toBeNaN()
  })

  it('of resources without a task are counted and advance time', async () => {
    const result = await run(simple, { messages: [at(0), { resource: 'x', timestamp: 900 }] })
    expect(result).toMatchObject({ messages: 2, until: 900 })
  })

  it('without a time are rejected with their index, and the source is closed', async () => {
    let closed = false
    function* messages() {
      try {
        yield at(1)
        yield { resource: 'r' }
        yield at(3)
      } finally {
        closed = true
      }
    }
    await expect(run(simple, { messages: messages() })).rejects.toThrow('message 2 lacks a timestamp')
    expect(closed).toBe(true)
  })

  it('can come from any iterable, also an asynchronous one, with the same result', async () => {
    const list = [at(1, { s: 'On' }), at(2, { s: 'Off' })]
    async function* slowly() {
      for (const message of list) yield await Promise.resolve(message)
    }
    const expected = (await run(simple, { messages: list })).events
    expect((await run(simple, { messages: new Set(list) })).events).toEqual(expected)
    expect((await run(simple, { messages: slowly() })).events).toEqual(expected)
  })

  it('are read one at a time: a recording can exceed memory', async () => {
    let given = 0
    let ahead = 0
    function* many() {
      for (let i = 0; i < 60_000; i++) {
        given++
        yield at(i, { s: 'Off' })
      }
    }
    const progress: number[] = []
    const result = await run(simple, {
      messages: many(),
      keep: 'none',
      onEvent: (event) => (ahead = event.type === 'data' ? Math.max(ahead, given - event.time) : ahead),
      onProgress: ({ messages }) => progress.push(messages),
      scripted: Object.assign(new ScriptedPlugs(), { calls: { push: () => 0 } }),
    })
    expect(result).toMatchObject({ messages: 60_000, events: [] })
    expect(ahead).toBe(1)
    expect(progress.length).toBeGreaterThan(10)
    expect(progress.at(-1)).toBe(60_000)
  })
})

describe('asynchronous plugs', () => {
  it('that never return time out after the patience', async () => {
    const scripted = new ScriptedPlugs()
    scripted.say('s', LATER)
    let asked = 0
    const patience = (giveUp: () => void) => {
      asked++
      const waiting = setImmediate(giveUp)
      return () => clearImmediate(waiting)
    }
    const result = await run(simple, { scripted, patience, messages: [at(0)], until: 60_000 })
    expect(asked).toBeGreaterThan(0)
    expect(result.until).toBe(60_000)
    const failed = result.events.filter(({ type }) => type === 'result')
    expect(failed.map((event) => [event.at, line(event)])).toEqual([
      [50_000, '0 result s failed: switch took longer than 50000 ms'],
    ])
  })

  it('are still awaited when another one was abandoned', async () => {
    const scripted = new ScriptedPlugs()
    scripted.say('a', LATER)
    scripted.say('s', async () => {
      await Promise.resolve()
      return 'On'
    })
    const two = rule({
      sensors: { a: on('switch', { timeout: 'PT1S' }), s: on('switch') },
      actuators: ['act'],
      triggers: [trigger('s', 'act', is('On'))],
    })
    const patience = (giveUp: () => void) => {
      const waiting = setImmediate(() => setImmediate(giveUp))
      return () => clearImmediate(waiting)
    }
    const result = await run(two, { scripted, patience, messages: [at(0), at(5000), at(10_000)], until: 11_000 })
    const fired = result.events.filter(({ type }) => type === 'fired')
    expect(fired.map((event) => [event.at, line(event)])).toEqual([
      [1000, '0 fired s>act'],
      [6000, '5000 fired s>act'],
      [11_000, '10000 fired s>act'],
    ])
  })
})

describe('the result of a run', () => {
  const messages = [at(1, { s: 'On' }), at(2, { s: 'Off' })]

  it.each<[NonNullable<SimulateOptions['keep']>, readonly string[]]>([
    ['all', ['started', 'data', 'result', 'state', 'fired', 'result', 'data', 'result', 'state']],
    ['none', []],
    [
      ['fired', 'data'],
      ['data', 'fired', 'data'],
    ],
  ])('contains %j', async (keep, expected) => {
    const heard: string[] = []
    const result = await run(simple, { messages, keep, onEvent: ({ type }) => heard.push(type) })
    expect(result.events.map(({ type }) => type)).toEqual(expected)
    expect(heard).toHaveLength(9)
  })

  it('contains the final state of the task, and the cause of each firing', async () => {
    const result = await run(simple, { messages, until: 500 })
    expect(result.task).toMatchObject({ id: 'task', status: 'running' })
    expect(result.task.node('s').mostLikelyState?.state).toBe('Off')
    expect(result.explain('act')).toMatchObject({ time: 500, fired: { time: 1 } })
  })

  it('omits the causes from events if so configured', async () => {
    const fired = (await run(simple, { messages, why: false })).events.find(({ type }) => type === 'fired')
    expect(fired).not.toHaveProperty('why')
  })

  it('starts a rule with start false', async () => {
    const result = await run({ ...simple, task: { ...simple.task, start: false } }, { messages })
    expect(result.lines).toContain('1 fired s>act')
  })

  it('uses resource, variables, settings and metadata over those of the rule', async () => {
    const given = rule({
      sensors: { s: { name: 'switch', resource: 'META.$.sensor', properties: { value: '${variables.limit}' } } },
      task: { variables: { limit: 1, other: 2 } },
    })
    const { scripted, task } = await run(given, {
      messages: [at(1)],
      resource: 'house',
      variables: { limit: 5 },
      settings: { name: 'mine' },
      metadata: { house: { sensor: 'r' } },
    })
    expect(scripted.calls[0]?.properties['value']).toBe(5)
    expect(task.name).toBe('mine')
  })

  it('has no metadata unless passed, for any resource name', async () => {
    const given = rule({ sensors: { s: { name: 'switch', resource: 'META.$.name' } } })
    for (const resource of ['constructor', '__proto__', 'house'])
      await expect(run(given, { resource, metadata: {} })).rejects.toMatchObject({ code: 'RESOLUTION' })
  })

  it('is equal for equal seeds, and different for others', async () => {
    const draws = async (seed?: number) => {
      const scripted = new ScriptedPlugs()
      scripted.say('s', (context) => ({ rawData: { n: context.random() } }))
      return JSON.stringify((await run(simple, { scripted, messages, ...(seed !== undefined && { seed }) })).events)
    }
    expect(await draws()).toBe(await draws(1))
    expect(await draws(2)).not.toBe(await draws(1))
  })

  it('is an error for an invalid rule', async () => {
    await expect(run(rule({ sensors: { s: 'nothing' } }))).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})
