import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BatchStatus } from '../../../src/services/rules/contract.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { got, textOf } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
})
afterEach(() => rules.close())

async function finished(id: string): Promise<BatchStatus> {
  await expect.poll(async () => (await rules.ask('GET', `/api/batch/${id}`)).at('finishedTime')).toBeDefined()
  return rules.api.batches.get(id)
}

/** Runs an operation and returns ids with their status codes. */
async function done(body: object): Promise<Record<string, number>> {
  const queued = await rules.ask('POST', '/api/batch', { entity: 'task', ...body })
  expect(queued.status).toBe(202)
  const { results } = await finished(textOf(queued.at('entity.id')))
  const entries = Object.entries({ ...results?.success, ...results?.failure })
  return Object.fromEntries(entries.map(([id, { statusCode }]) => [id, statusCode]))
}

it.each([{ tags: { x: {} } }, { tags: { x: { a: 1 } } }])(
  'an impossible tag is rejected, with its path: %j',
  async (query) => {
    const answer = await rules.ask('POST', '/api/batch', { entity: 'task', action: 'stop', query })
    expect([answer.status, answer.at('details.0.path')]).toEqual([400, '/query/tags/x'])
  },
)

const statusOf = async (id: string): Promise<string> =>
  String((await rules.ask('GET', `/api/tasks/${id}`)).at('status'))

describe('a batch operation', () => {
  it('is queued with 202, and reports its results when it has ended', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))
    const queued = await rules.ask('POST', '/api/batch', {
      entity: 'task',
      action: 'delete',
      query: { type: 'reactive', status: 'stopped' },
    })
    const operation = {
      entity: 'task',
      action: 'delete',
      description: 'Remove tasks filtered by type=reactive AND status=stopped',
    }
    const queueTime = new Date(NOON).toISOString()
    expect(queued.headers['location']).toBe('http://localhost:80/api/batch/t2')
    expect(queued.body).toEqual({
      statusCode: 202,
      uri: 'http://localhost:80/api/batch/t2',
      entity: { id: 't2', user: 'tester', queueTime, operation },
    })
    expect(await finished('t2')).toEqual({
      id: 't2',
      user: 'tester',
      operation,
      queueTime,
      finishedTime: queueTime,
      results: { success: { t1: { statusCode: 200 } }, failure: {} },
    })
  })

  it('has neither results nor a finish while it runs', async () => {
    for (let i = 0; i < 60; i++) await rules.api.tasks.create(ruleOf({ start: false }))
    const { body } = await rules.ask('POST', '/api/batch', { entity: 'task', action: 'start', query: {} })
    const early = await rules.api.batches.get(textOf(got(body, 'entity.id')))
    expect(Object.keys(early)).toEqual(['id', 'user', 'operation', 'queueTime'])
    expect(Object.keys((await finished(textOf(got(body, 'entity.id')))).results?.success ?? {})).toHaveLength(60)
  })

  it.each([
    ['delete', { t1: 400, t2: 200, nope: 404 }],
    ['start', { t1: 400, t2: 200, nope: 404 }],
    ['stop', { t1: 200, t2: 400, nope: 404 }],
    ['restart', { t1: 200, t2: 200, nope: 404 }],
    ['reload', { t1: 400, t2: 400, nope: 404 }],
    ['stopAndDelete', { t1: 200, t2: 200, nope: 404 }],
  ])('%s reports the result for each task', async (action, codes) => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))
    expect(await done({ action, query: { ids: ['t1', 't2', 'nope'] } })).toEqual(codes)
  })

  it.each<[string, object, readonly string[]]>([
    ['all keys', { tags: { site: 'a', kind: 'b' } }, ['t2']],
    ['one of the values of a key', { tags: { site: ['a', 'c'], kind: 'b' } }, ['t2', 't3']],
    ['names with dots', { 'tags.site': 'a', 'tags.kind': 'b' }, ['t2']],
    ['a key whatever it is', { tags: { kind: null, site: 'c' } }, ['t3']],
    ['one of several keys', { tagKeys: ['kind', 'none'] }, ['t2', 't3']],
  ])('deletes tasks that have %s', async (_, query, ids) => {
    for (const tags of [{ site: 'a' }, { site: 'a', kind: 'b' }, { site: 'c', kind: 'b' }]) {
      await rules.ask('POST', '/api/tasks', ruleOf({ start: false, tags }))
    }
    expect(Object.keys(await done({ action: 'delete', query }))).toEqual(ids)
  })

  it('reloads tasks from their current templates, and keeps their status', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    await rules.ask('POST', '/api/tasks', { template: 'overheating', name: 'a', resource: 'r' })
    await rules.ask('POST', '/api/tasks', { template: 'overheating', name: 'b', resource: 'r', start: false })
    const hotter = [{ ...GRAPH.sensors[0], properties: { limit: 95 } }]
    await rules.ask('PUT', '/api/templates/overheating', { ...templateOf(), sensors: hotter })
    expect(await done({ action: 'reload', query: { template: 'overheating' } })).toEqual({ t1: 200, t2: 200 })
    expect([await statusOf('t1'), await statusOf('t2')]).toEqual(['running', 'stopped'])
    const { body } = await rules.ask('GET', '/api/tasks/t2?format=simplified')
    expect(got(body, 'network.sensors.0.properties.limit')).toBe(95)
  })

  it('upgrades versions of plugs, in tasks of rules and of templates', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    await rules.ask('POST', '/api/tasks', ruleOf())
    await rules.ask('POST', '/api/tasks', { template: 'overheating', name: 'b', resource: 'r' })
    const updates = [{ name: 'heat', fromVersion: '1.0.0', toVersion: '1.1.0' }]
    expect(
      await done({ action: 'updatePlugins', query: { plugin: 'heat:1.0.0' }, actionParameters: { updates } }),
    ).toEqual({ t1: 200, t2: 200 })
    expect((await rules.ask('GET', '/api/tasks?plugin=heat:1.1.0')).body).toHaveLength(2)
    expect((await rules.ask('GET', '/api/templates/overheating?format=simplified')).at('sensors.0.version')).toBe(
      '1.0.0',
    )
  })

  it('merges properties over earlier ones, and keeps ids', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    const nodes = [{ name: 'hot', properties: { resource: 'boiler-7' } }]
    await rules.ask('POST', '/api/tasks', {
      template: 'overheating',
      name: 'a',
      resource: 'r',
      tags: { a: 1, b: 2 },
      nodes,
    })
    const update = {
      nodes: [{ name: 'hot', properties: { sensor: { requiredProperties: [{ limit: 50 }] } } }],
      tags: { b: null, c: 3 },
    }
    expect(await done({ action: 'updateProperties', query: { ids: ['t1'] }, actionParameters: update })).toEqual({
      t1: 200,
    })
    const { body } = await rules.ask('GET', '/api/tasks/t1?format=simplified')
    expect(got(body, 'network.sensors.0')).toMatchObject({ resource: 'boiler-7', properties: { limit: 50 } })
    expect(got(body, 'resourceIds')).toEqual(['boiler-7'])
    expect((await rules.ask('GET', '/api/tasks?resource=boiler-7')).body).toHaveLength(1)
    expect(got(body, 'tags')).toEqual({ a: 1, c: 3 })
    expect((await rules.ask('GET', '/api/tasks/t1/conf')).at('nodes')).toEqual(nodes)
  })

  it('does not interrupt tasks without a change', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    await rules.ask('POST', '/api/tasks', { template: 'overheating', name: 'a', resource: 'r' })
    const updates = [{ name: 'always', fromVersion: 'any', toVersion: '1.0.0' }]
    expect(await done({ action: 'updatePlugins', query: {}, actionParameters: { updates } })).toEqual({ t1: 200 })
    expect(await done({ action: 'reload', query: {} })).toEqual({ t1: 200 })
    expect(rules.runner.told).toEqual(['begin t1 1'])
  })

  it('fails for a task that does not have the node', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    const update = { nodes: [{ name: 'cold', properties: { cost: 3 } }] }
    expect(await done({ action: 'updateProperties', query: {}, actionParameters: update })).toEqual({ t1: 400 })
    expect(await statusOf('t1')).toBe('running')
  })

  it('as a dry run changes nothing, and reports the changes', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))
    const request = { entity: 'task', action: 'stop', query: { name: 'watch' } }
    const { status, body } = await rules.ask('POST', '/api/batch?dryRun=true', request)
    expect(status).toBe(200)
    expect(body).toEqual({
      dryRun: true,
      operation: { entity: 'task', action: 'stop', description: 'Stop tasks filtered by name=watch' },
      total: 2,
      tasks: [
        { ID: 't1', name: 'watch', changed: true, changes: [{ path: '/status', from: 'running', to: 'stopped' }] },
        {
          ID: 't2',
          name: 'watch',
          changed: false,
          changes: [],
          error: 'Not possible to apply action stop, for the task in status stopped',
        },
      ],
    })
    expect(await statusOf('t1')).toBe('running')
    const updates = [{ name: 'heat', fromVersion: 'any', toVersion: '1.1.0' }]
    const upgrade = await rules.ask('POST', '/api/batch?dryRun=true', {
      ...request,
      action: 'updatePlugins',
      actionParameters: { updates },
    })
    expect(upgrade.at('tasks.0.changes')).toEqual([{ path: '/sensors/0/version', from: '1.0.0', to: '1.1.0' }])
  })

  it('applies to the tasks that matched when it was queued', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))
    const first = rules.ask('POST', '/api/batch', { entity: 'task', action: 'start', query: { status: 'stopped' } })
    const queued = await first
    await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))
    await finished(textOf(queued.at('entity.id')))
    expect([await statusOf('t1'), await statusOf('t3')]).toEqual(['running', 'stopped'])
  })
})

describe('an interrupted batch operation', () => {
  it.each(['start', 'stop', 'delete', 'restart'] as const)(
    'continues at the next start: %s is applied once to each task',
    async (action) => {
      const disk = new MemoryDisk()
      const before = await bench({ storage: openMemory({ disk }) })
      const count = 230
      const start = action === 'stop'
      for (let i = 0; i < count; i++) await before.api.tasks.create(ruleOf({ start }))
      const { entity } = await before.api.batches.queue({ entity: 'task', action, query: {} })
      // some items are done, but no result is stored
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      await before.storage.close()
      const after = await bench({ storage: openMemory({ disk }), firstId: 1000 })
      await expect.poll(async () => (await after.api.batches.get(entity.id)).finishedTime).toBeDefined()
      const { results } = await after.api.batches.get(entity.id)
      expect(results?.failure).toEqual({})
      expect(Object.keys(results?.success ?? {})).toHaveLength(count)
      expect(
        await after.api.tasks.count(
          action === 'stop' ? { status: 'stopped' } : action === 'delete' ? {} : { status: 'running' },
        ),
      ).toBe(action === 'delete' ? 0 : count)
      await after.close()
    },
  )
})

describe('a batch operation over many tasks', () => {
  it('yields to the event loop after every few tasks', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    const count = 1000
    for (let i = 0; i < count; i++) {
      await rules.api.tasks.create({ template: 'overheating', name: `n${i}`, resource: `r${i}` })
    }
    let most = 0
    let watching = true
    const watch = (before: number): void => {
      const now = rules.runner.told.length
      most = Math.max(most, now - before)
      if (watching) setImmediate(watch, now)
    }
    watch(rules.runner.told.length)
    await rules.api.batches.run({ entity: 'task', action: 'stop', query: {} })
    watching = false
    expect(await rules.api.tasks.count({ status: 'stopped' })).toBe(count)
    expect(most).toBeLessThanOrEqual(50)
  })
})
