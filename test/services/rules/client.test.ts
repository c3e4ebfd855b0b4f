import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { createClient } from '../../../src/client.ts'
import type { RulesApi } from '../../../src/services/rules/contract.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, ruleOf, templateOf } from './support/rules.ts'

describe('the client of the rules service', () => {
  let rules: Bench
  let api: RulesApi
  beforeEach(async () => {
    rules = await bench()
    await rules.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = rules.app.server.address() as AddressInfo
    api = createClient({ url: `http://127.0.0.1:${port}` }).rules
  })
  afterEach(() => rules.close())

  it('creates, changes, lists and removes a task', async () => {
    const { ID } = await api.tasks.create(ruleOf({ tags: { site: 'ghent' } }))
    expect(await api.tasks.get(ID)).toMatchObject({ ID, status: 'running', nodes: [{ name: 'hot' }] })
    expect((await api.tasks.get(ID, { format: 'simplified' })).network).toMatchObject({ sensors: GRAPH.sensors })
    expect(await api.tasks.conf(ID)).toEqual(ruleOf({ tags: { site: 'ghent' } }))
    expect(await api.tasks.stop(ID)).toMatchObject({ status: 'stopped' })
    expect(await api.tasks.start(ID)).toMatchObject({ status: 'running' })
    expect(await api.tasks.restart(ID)).toMatchObject({ status: 'running' })
    expect(await api.tasks.resync(ID)).toMatchObject({ status: 'running' })
    expect((await api.tasks.runs(ID)).map(({ run }) => run)).toEqual([3, 2, 1])
    expect(await api.tasks.replace(ID, ruleOf({ name: 'other' }))).toMatchObject({ ID, name: 'other' })
    const where = { name: 'oth*', status: 'running' } as const
    expect(await api.tasks.list({ where, hits: 5, startIndex: 0 })).toMatchObject({
      total: 1,
      skip: 0,
      limit: 5,
      values: [{ ID }],
    })
    expect(await api.tasks.count(where)).toBe(1)
    expect(await api.tasks.remove(ID, { forceStop: true })).toBeUndefined()
    expect(await api.tasks.count({})).toBe(0)
  })

  it.each([
    [{ ids: [] }, 0],
    [{ ids: ['t1', 'nope'] }, 1],
    [{ tags: [{ key: 'a', value: '2' }, { key: 'b' }] }, 1],
    [{ tags: [{ key: 'a', value: '1' }, { key: 'b' }] }, 0],
    [
      {
        tags: [
          { key: 'a', value: '1' },
          { key: 'a', value: '2' },
        ],
      },
      2,
    ],
    [{ tagKeys: ['a', 'b'] }, 2],
    [{ tags: [{ key: 'a=b', value: 'c=d' }] }, 1],
    [{ template: null }, 3],
    [{ filter: 'one' }, 1],
  ])('counts tasks by %j', async (where, expected) => {
    await api.tasks.create(ruleOf({ name: 'one', tags: { a: 1 }, start: false }))
    await api.tasks.create(ruleOf({ name: 'two', tags: { a: 2, b: '' }, start: false }))
    await api.tasks.create(ruleOf({ name: 'three', tags: { 'a=b': 'c=d' }, start: false }))
    expect(await api.tasks.count(where)).toBe(expected)
  })

  it('rejects with the code and text of the service', async () => {
    const refusal = async (work: Promise<unknown>): Promise<readonly [string, string] | undefined> => {
      try {
        await work
        return undefined
      } catch (error) {
        return error instanceof AppError ? [error.code, error.message] : undefined
      }
    }
    await api.tasks.create(ruleOf())
    expect(await refusal(api.tasks.get('a b/c'))).toEqual(['NOT_FOUND', 'Task with id a b/c not found'])
    expect(await refusal(api.tasks.start('t1'))).toEqual([
      'WRONG_STATUS',
      'Not possible to apply action start, for the task in status running',
    ])
    expect(await refusal(api.templates.remove('nope'))).toEqual(['NOT_FOUND', 'No template with name nope'])
    expect((await refusal(api.tasks.create({ ...ruleOf(), sensors: [] })))?.[0]).toBe('VALIDATION')
    expect((await refusal(api.templates.upgrade({}, { operation: 'updatePlugins', updates: [] })))?.[0]).toBe(
      'VALIDATION',
    )
    expect((await refusal(api.inspection.push('t1', 'hot', { state: 'WARM' })))?.[0]).toBe('INVALID_STATE')
  })

  it('creates, changes, lists and removes templates', async () => {
    const created = await api.templates.create(templateOf('over/heating'))
    expect(created).toMatchObject({
      statusCode: 201,
      uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/templates\/over%2Fheating$/) as unknown,
      entity: { name: 'over/heating' },
    })
    expect(
      await api.templates.replace('over/heating', templateOf('over/heating', { description: 'new' })),
    ).toMatchObject({ description: 'new' })
    expect(await api.templates.copy('over/heating', 'copy')).toMatchObject({ name: 'copy' })
    await api.templates.setDiscovery('copy')
    expect(await api.templates.discovery()).toMatchObject({ name: 'copy' })
    await api.templates.setDiscovery('over/heating')
    expect((await api.templates.get('copy')).discoveryTemplate).toBe(false)
    const page = await api.templates.list({ where: {}, hits: 10, startIndex: 0, format: 'bn', includeGraph: false })
    expect(page.values.map(({ name }) => name)).toEqual(['copy', 'over/heating'])
    const updates = [{ name: 'heat', fromVersion: 'any', toVersion: '1.1.0' }]
    expect(await api.templates.upgrade({ ids: ['copy'] }, { operation: 'updatePlugins', updates })).toEqual({
      successful: ['copy'],
    })
    await api.templates.remove('copy')
    await expect(api.templates.get('copy')).rejects.toThrow('No template with name copy')
  })

  it('forwards the validation of a body', async () => {
    const sensors = GRAPH.sensors.map((sensor) => ({ ...sensor, properties: { limit: 90, limt: 80 } }))
    const template = templateOf('overheating', { sensors })
    await expect(api.templates.create(template, { strict: true })).rejects.toMatchObject({
      code: 'VALIDATION',
      issues: [{ type: 'UNKNOWN_PROPERTY' }],
    })
    expect((await api.templates.create(template)).warnings).toHaveLength(1)
  })

  it('addresses versions of templates', async () => {
    await api.templates.create(templateOf())
    const hotter = GRAPH.sensors.map((sensor) => ({ ...sensor, properties: { limit: 95 } }))
    await api.templates.replace('overheating', templateOf('overheating', { sensors: hotter }))
    const versions = await api.templates.versions('overheating', { hits: 1, startIndex: 1 })
    expect(versions).toMatchObject({ values: [{ version: 1 }], skip: 1, limit: 1, total: 2 })
    expect(await api.templates.get('overheating', 'simplified', 1)).toMatchObject({
      version: 1,
      sensors: GRAPH.sensors,
    })
    const { ID } = await api.tasks.create({ template: 'overheating', name: 'm', resource: 'b' })
    expect(await api.batches.previewReload(ID, { templateVersion: 1 })).toMatchObject({ templateVersion: 1 })
    expect(await api.batches.reload(ID, { templateVersion: 1 })).toMatchObject({ templateVersion: 1 })
    expect(await api.tasks.count({ templateVersion: 1 })).toBe(1)
    const data = [[{ resource: 'b', timestamp: NOON, temperature: 93 }]]
    for await (const report of api.templates.run('overheating', { data, conf: { resource: 'b' } }, { version: 1 })) {
      expect(report.sensors['hot']?.state).toBe('HOT')
    }
  })

  it('runs batches', async () => {
    await api.tasks.create(ruleOf())
    const request = { entity: 'task', action: 'stop', query: { ids: ['t1', 'nope'] } } as const
    expect(await api.batches.preview(request)).toMatchObject({ dryRun: true, total: 1 })
    expect((await api.batches.run(request)).results).toEqual({
      success: { t1: { statusCode: 200 } },
      failure: { nope: { statusCode: 404, error: 'No task with id nope' } },
    })
  })

  it('inspects tasks', async () => {
    await api.tasks.create(ruleOf())
    expect(await api.inspection.states('t1', 'hot')).toEqual(['COLD', 'HOT'])
    expect(await api.inspection.push('t1', 'hot', { state: 'HOT' })).toMatchObject({
      mostLikelyState: { state: 'HOT' },
    })
    expect(await api.inspection.command('t1', 'hot', { state: 'COLD' })).toMatchObject({
      mostLikelyState: { state: 'COLD' },
    })
    expect(await api.inspection.explain('t1', 'alarm')).toMatchObject({ node: 'alarm', fired: { time: NOON } })
    expect((await api.inspection.log({ taskId: 't1', messageContains: 'fired' })).logs).toHaveLength(1)
    expect(await api.inspection.deliveries('t1', { limit: 5 })).toEqual({ values: [] })
  })

  it('resumes a stream of events after the last id', async () => {
    await api.tasks.create(ruleOf())
    const read = async (lastEventId: string, last: string): Promise<readonly { id: string; type: string }[]> => {
      const controller = new AbortController()
      const seen: { id: string; type: string }[] = []
      for await (const { id, event } of api.inspection.events('t1', { lastEventId, signal: controller.signal })) {
        seen.push({ id, type: event.type })
        if (event.type === last) controller.abort()
      }
      return seen
    }
    const [gap, started] = await read('elsewhere.1', 'started')
    expect([gap?.type, started?.type]).toEqual(['gap', 'started'])
    await api.inspection.push('t1', 'hot', { state: 'HOT' })
    const seen = await read(started?.id ?? '', 'fired')
    expect(seen.map(({ type }) => type)).toContain('fired')
    expect(seen.map(({ type }) => type)).not.toContain('started')
    await expect.poll(() => rules.service.gauges().eventStreams).toBe(0)
  })

  it('calls tools that need no task', async () => {
    expect((await api.tools.plugs('sensors')).map(({ name }) => name)).toEqual(['always', 'broken', 'heat'])
    expect(await api.tools.plug('sensors', 'heat', '1.0.0')).toMatchObject({ version: '1.0.0' })
    expect(await api.tools.versions('actions', 'say')).toHaveLength(1)
    expect(await api.tools.call('sensors', 'broken', undefined, {})).toMatchObject({
      result: false,
      error: 'it smokes',
    })
    await expect(api.tools.call('sensors', 'nope', undefined, {})).rejects.toThrow('Sensor nope not found')
    expect(await api.tools.push({ resource: 'x', data: [] })).toEqual({ taken: false })
    expect((await api.tools.nextRuns({ expression: '0 0 9 * * ?', count: 3 })).runs).toHaveLength(3)
    expect(await api.tools.simulate({ rule: GRAPH, resource: 'b', from: 0, until: 10 })).toMatchObject({ messages: 0 })
  })
})
