import { describe, expect, it } from 'vitest'
import { executeQueryPlug } from '../../../../plugins/execute-query/plug.ts'
import { definePlug, type Rule } from '../../../../src/index.ts'
import { actingPlugs, type QueryPort } from '../../../../src/plug.ts'
import { Ground, runnableOf } from './support/lives.ts'

const seen = definePlug({
  name: 'seen',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Seen'],
  input: { site: { type: 'string' } },
  execute: (context) => {
    const count = Number(context.internalState ?? 0) + 1
    return { state: 'Seen', internalState: count, rawData: { count, site: context.properties.site ?? 'none' } }
  },
})
const ruleOf = (properties: Record<string, string>): Rule => {
  return {
    sensors: [{ label: 'seen', name: 'seen', version: '1.0.0', resource: '$', properties }],
    task: { type: 'reactive' },
  }
}
const asking = runnableOf('asking', ruleOf({ site: '${task.resource.meta.site}' }), { resource: 'boiler' })
const plain = runnableOf('plain', ruleOf({}), { resource: 'pump' })
// only inputs are stored, so that everything is replayed
const OPTIONS = { plugs: [seen], ports: { metadata: async () => ({ site: 'cellar' }) }, checkpointMs: 1e9 }

// Holds RECOVERY-1
describe('a plug that returns synchronously', () => {
  it('is replayed although its other calls first had to fetch data, and those are not repeated', async () => {
    const ground = new Ground()
    const first = ground.open(OPTIONS)
    for (const task of [asking, plain]) await first.begin(task)
    await first.send('boiler', { level: 1 })
    await first.rest()
    for (const level of [1, 2, 3]) await first.send('pump', { level })
    const look = (life: typeof first) => ['asking', 'plain'].map((id) => life.runner.nodes.view(id, 'seen')[0]?.rawData)
    const shown = [
      { count: 1, site: 'cellar' },
      { count: 3, site: 'none' },
    ]
    expect(look(first)).toEqual(shown)
    await first.crash()
    const second = ground.open(OPTIONS)
    await second.runner.resume([asking, plain])
    expect(look(second)).toEqual(shown)
    await second.crash()
  })
})

describe('external calls of a task', () => {
  it('keep their recorded answer, even if a call after a crash would return another one', async () => {
    const ground = new Ground()
    let site = 'cellar'
    const options = { ...OPTIONS, ports: { metadata: () => ({ site }) } }
    const first = ground.open(options)
    await first.begin(asking)
    await first.send('boiler', { level: 1 })
    await first.rest()
    const look = (life: typeof first) => life.runner.nodes.view('asking', 'seen')[0]?.rawData
    expect(look(first)).toEqual({ count: 1, site: 'cellar' })
    await first.crash()
    site = 'attic'
    const second = ground.open(options)
    await second.runner.resume([asking])
    expect(look(second)).toEqual({ count: 1, site: 'cellar' })
    await second.send('boiler', { level: 2 })
    await second.rest()
    expect(look(second)).toEqual({ count: 2, site: 'attic' })
    await second.crash()
  })
})

describe('a sensor that executes a query', () => {
  it('is not called during a replay: its result is recorded', async () => {
    const ground = new Ground()
    const asked: number[] = []
    const queries: QueryPort = {
      execute: async (_source, { now }) => {
        asked.push(now)
        return { columns: [{ resource: 'boiler', metric: 'heat' }], rows: [[now, 40 + asked.length]], messages: [] }
      },
    }
    const options = { ...OPTIONS, plugs: [executeQueryPlug(queries)] }
    const rule: Rule = {
      sensors: [{ label: 'mean', name: 'executeQuery', resource: '$', properties: { name: 'means', high: 41 } }],
      task: { type: 'reactive' },
    }
    const task = runnableOf('means', rule, { resource: 'boiler' })
    const first = ground.open(options)
    await first.begin(task)
    for (const level of [1, 2]) {
      await first.send('boiler', { level })
      await first.rest()
    }
    const look = (life: typeof first) => life.runner.nodes.view('means', 'mean')[0]
    const shown = look(first)
    expect([asked.length, shown]).toMatchObject([2, { rawData: { value: 42 }, mostLikelyState: { state: 'Above' } }])
    await first.crash()
    const second = ground.open(options)
    await second.runner.resume([task])
    await second.rest()
    expect([asked.length, look(second)]).toEqual([2, shown])
    await second.send('boiler', { level: 3 })
    await second.rest()
    expect([asked.length, look(second)?.rawData]).toMatchObject([3, { value: 43 }])
    await second.crash()
  })
})

// Holds RECOVERY-2
describe('a replay', () => {
  const sends: Rule = {
    sensors: [{ label: 'level', name: 'level', version: '1.0.0', resource: '$' }],
    actuators: [{ label: 'send', name: 'send', version: '1.0.0' }],
    triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'] }],
    task: { type: 'reactive' },
  }

  /** Returns what the next life wrote, reported and called before its tasks continued after a crash. */
  async function lifeAfter(messages: number) {
    const ground = new Ground()
    const task = runnableOf('sends', sends, { resource: 'boiler' })
    const first = ground.open({ checkpointMs: 1e9 })
    await first.begin(task)
    for (let n = 0; n < messages; n++) await first.send('boiler', { level: 12 + n })
    await first.rest()
    const called = ground.outside.calls.length
    await first.crash()
    const second = ground.open({ checkpointMs: 1e9 })
    const told = second.events('sends')
    second.runner.reports.lifecycle$.subscribe((event) => told.push(event))
    await second.runner.resume([task])
    await second.rest()
    const after = { commits: second.commits, told, ended: second.ended, calls: ground.outside.calls.length - called }
    const count = second.runner.nodes.info('sends')?.invocationCount
    await second.crash()
    return { called, count, after }
  }

  it('has no effects: it writes, calls and reports nothing', async () => {
    const none = await lifeAfter(0)
    const many = await lifeAfter(20)
    expect([many.called, many.count]).toEqual([20, 20])
    expect(many.after).toEqual(none.after)
  })
})

// Holds RECOVERY-1
describe('a plug with outside effects', () => {
  it('is not called during a replay, even if its calls are not in the log yet', async () => {
    const ground = new Ground()
    const performed: string[] = []
    const plugs = [
      seen,
      ...actingPlugs({
        name: 'act',
        version: '1.0.0',
        description: 'Acts',
        category: 'Debug',
        input: {},
        output: {},
        touches: () => [],
        async perform(context) {
          performed.push(context.id)
          await new Promise(() => undefined)
          return { message: 'done', rawData: {} }
        },
      }),
    ]
    const rule: Rule = {
      ...ruleOf({}),
      actuators: [{ label: 'act', name: 'act', version: '1.0.0' }],
      triggers: [{ sourceLabel: 'seen', destinationLabel: 'act', statesTrigger: ['Seen'] }],
    }
    const task = runnableOf('acts', rule, { resource: 'pump' })
    // the begin and the message are durable; later writes are lost
    const first = ground.open({ ...OPTIONS, plugs, commits: 2 })
    await first.begin(task)
    await first.send('pump', { level: 1 })
    await first.rest()
    await first.crash()
    expect(performed).toHaveLength(1)
    const second = ground.open({ ...OPTIONS, plugs })
    await second.runner.resume([task])
    await second.rest()
    expect(performed).toEqual([performed[0], performed[0]])
    await second.crash()
  })
})
