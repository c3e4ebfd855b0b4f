/** Tests how much of a run an update of its task preserves: everything, if no node can tell the difference. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Rule } from '../../../src/index.ts'
import { got } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
})
afterEach(() => rules.close())

/** Builds a rule that fires at most once a minute. */
const slow = (task: Rule['task'] = {}): Rule => ({
  ...ruleOf(task),
  triggers: [{ ...GRAPH.triggers[0], sourceLabel: 'hot', destinationLabel: 'alarm', invocationPolicy: 60 }],
})
const measured = (temperature: number) =>
  rules.ask('POST', '/api/data', { resource: 'boiler-1', data: { parameterName: 'temperature', value: temperature } })
const stateOf = async () => (await rules.ask('GET', '/api/tasks/t1/nodes/hot')).at('mostLikelyState.state')
const update = async (action: string, actionParameters: Record<string, unknown>) => {
  const batch = { entity: 'task', action, query: { ids: ['t1'] }, actionParameters } as const
  expect((await rules.ask('POST', '/api/batch?dryRun=true', batch)).status).toBe(200)
  const answer = await rules.ask('PATCH', '/api/tasks?ids=t1', { operation: action, ...actionParameters })
  expect(answer.body).toEqual({ successful: ['t1'] })
}

describe('a run continues', () => {
  const cases: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a new name', () => rules.ask('PUT', '/api/tasks/t1', slow({ name: 'other' }))],
    ['new tags', () => rules.ask('PUT', '/api/tasks/t1', slow({ tags: { site: 'x' } }))],
    ['tags of a batch', () => update('updateProperties', { tags: { site: 'x' } })],
    ['the same rule', () => rules.ask('PUT', '/api/tasks/t1', slow())],
    ['the same rule, to be started', () => rules.ask('PUT', '/api/tasks/t1', slow({ start: true }))],
    [
      'nodes at another place, and notes',
      () =>
        rules.ask('PUT', '/api/tasks/t1', {
          ...slow(),
          sensors: GRAPH.sensors.map((sensor) => ({ ...sensor, position: [1, 2], description: 'd' })),
          notes: [{ text: 'n' }],
        }),
    ],
    ['an update to the version it has', () => update('updatePlugins', { updates: [raise('1.0.0')] })],
  ]
  it.each(cases)('after %s, with its states and cool-downs', async (_what, change) => {
    await rules.api.tasks.create(slow())
    await measured(93)
    rules.clock.advanceTo(NOON + 1000)
    await change()
    expect(rules.runner.told).toEqual(['begin t1 1'])
    expect(await stateOf()).toBe('HOT')
    await measured(95)
    const { body } = await rules.ask('GET', '/api/tasks/t1')
    expect(body).toMatchObject({ status: 'running', startTime: NOON, invocationCount: 2 })
    const held = await rules.ask('GET', '/api/tasks/t1/explain?node=alarm')
    expect(held.at('fired.time')).toBe(NOON)
    expect((await rules.ask('GET', '/api/tasks/t1/childRuns')).body).toHaveLength(1)
  })

  it('and shows the new name and tags, in its specification too', async () => {
    await rules.api.tasks.create(slow())
    const specification = slow({ name: 'other', tags: { site: 'x' } })
    const put = await rules.ask('PUT', '/api/tasks/t1', specification)
    expect(put.body).toMatchObject({ name: 'other', tags: { site: 'x' }, lastUpdateTime: NOON })
    expect((await rules.ask('GET', '/api/tasks/t1/conf')).body).toEqual(specification)
    expect((await rules.ask('GET', '/api/tasks?name=other&tags.site=x')).body).toHaveLength(1)
  })

  it('after a reload to a template with other texts and tags', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    await rules.api.tasks.create({ template: 'overheating', name: 'm', resource: 'boiler-1' })
    await rules.ask('PUT', '/api/templates/overheating', templateOf('overheating', { description: 'd' }))
    await rules.ask(
      'PUT',
      '/api/templates/overheating',
      templateOf('overheating', { taskDefaults: { tags: { a: 1 } } }),
    )
    const { body } = await rules.ask('POST', '/api/tasks/t1/command/reload')
    expect(body).toMatchObject({ tags: { a: 1 }, templateVersion: 2 })
    expect(rules.runner.told).toEqual(['begin t1 1'])
  })
})

describe('a run continues under another rule', () => {
  const cases: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['another property', () => rules.ask('PUT', '/api/tasks/t1', { ...slow(), sensors: [warmer] })],
    ['another resource', () => rules.ask('PUT', '/api/tasks/t1', slow({ resource: 'boiler-2' }))],
    ['another setting', () => update('updateProperties', { parallel: false })],
    ['another variable', () => update('updateProperties', { variables: { v: 1 } })],
    ['another trigger', () => rules.ask('PUT', '/api/tasks/t1', ruleOf())],
    ['a newer plug', () => update('updatePlugins', { updates: [raise('1.1.0')] })],
  ]
  const warmer = { ...GRAPH.sensors[0], properties: { limit: 80 } }
  it.each(cases)('after %s', async (_what, change) => {
    await rules.api.tasks.create(slow())
    await measured(93)
    await change()
    expect(rules.runner.told).toEqual(['begin t1 1', 'change t1 1'])
    expect((await rules.ask('GET', '/api/tasks/t1/childRuns')).body).toHaveLength(1)
  })
})

describe('the response to a change of a running task', () => {
  it('lists what the changed nodes lost', async () => {
    await rules.api.tasks.create(slow())
    await measured(93)
    const put = (body: object) => rules.ask('PUT', '/api/tasks/t1', body)
    expect((await put(slow({ tags: { a: 1 } }))).body).not.toHaveProperty('lost')
    const sensors = [{ ...GRAPH.sensors[0], properties: { limit: 80 } }]
    expect((await put({ ...slow(), sensors })).at('lost')).toEqual([{ node: 'hot', what: ['state'] }])
  })
})

describe('a run ends', () => {
  it('after a new name, if the specification says that the task does not start', async () => {
    await rules.api.tasks.create(slow())
    expect((await rules.ask('PUT', '/api/tasks/t1', slow({ name: 'x', start: false }))).at('status')).toBe('stopped')
    expect(rules.runner.told).toEqual(['begin t1 1', 'end t1'])
  })
})

describe('a dry run of an update', () => {
  const lostBy = async (action: string, actionParameters: Record<string, unknown>) => {
    const batch = { entity: 'task', action, query: { ids: ['t1'] }, actionParameters }
    return got((await rules.ask('POST', '/api/batch?dryRun=true', batch)).body, 'tasks.0.lost')
  }

  it('lists the nodes whose states the run would lose', async () => {
    await rules.api.tasks.create(slow())
    await measured(93)
    expect(await lostBy('updateProperties', { parallel: false })).toEqual([])
    expect(await lostBy('updateProperties', { tags: { a: 1 } })).toEqual([])
    expect(await lostBy('updatePlugins', { updates: [raise('1.1.0')] })).toEqual([{ node: 'hot', what: ['state'] }])
  })

  it('lists no nodes for a task that does not run', async () => {
    await rules.api.tasks.create(slow({ start: false }))
    expect(await lostBy('updateProperties', { parallel: false })).toBeUndefined()
  })
})

function raise(toVersion: string) {
  return { name: 'heat', fromVersion: 'any', toVersion }
}
