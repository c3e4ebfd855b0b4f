import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { got, pluck } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, ONCE, ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
})
afterEach(async () => {
  await rules.close()
})

describe('POST /api/tasks', () => {
  it('starts the task unless start is false', async () => {
    const { status, body, headers } = await rules.ask('POST', '/api/tasks', ruleOf())
    expect([status, body, headers['location']]).toEqual([201, { ID: 't1' }, 'http://localhost:80/api/tasks/t1'])
    await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))
    expect((await rules.ask('GET', '/api/tasks/t1')).at('status')).toBe('running')
    expect((await rules.ask('GET', '/api/tasks/t2')).at('status')).toBe('stopped')
    expect(rules.runner.told).toEqual(['begin t1 1'])
  })

  it('creates the same task from all four forms', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    await rules.ask('POST', '/api/tasks', ruleOf())
    const network = (await rules.ask('GET', '/api/tasks/t1')).at('network') as object
    const settings = { name: 'watch', type: 'reactive', resource: 'boiler-1' }
    await rules.ask('POST', '/api/tasks', { ...network, task: settings })
    await rules.ask('POST', '/api/tasks', { network, ...settings })
    await rules.ask('POST', '/api/tasks', { template: 'overheating', ...settings })
    for (const id of ['t2', 't3', 't4']) {
      const { body } = await rules.ask('GET', `/api/tasks/${id}`)
      expect(got(body, 'network'), id).toEqual(network)
      expect(body, id).toMatchObject({ status: 'running', name: 'watch', type: 'reactive', resource: 'boiler-1' })
    }
  })

  it('runs a replaced plug version with a note, which rejects nothing', async () => {
    const older = { ...ruleOf(), sensors: [{ ...GRAPH.sensors[0], version: '0.3.0' }] }
    const told = await rules.ask('POST', '/api/tasks?failOnWarning=true&returnWarnings=true', older)
    expect(told.status).toBe(201)
    expect(told.at('warnings')).toMatchObject([
      { severity: 'INFO', type: 'VERSION', path: '/sensors/0/version', details: { runs: '1.1.0' } },
    ])
    // shown as written; found by the written version and by the running one
    expect((await rules.ask('GET', '/api/tasks/t1?format=simplified')).at('network.sensors.0.version')).toBe('0.3.0')
    for (const plugin of ['heat:0.3.0', 'heat:1.1.0'])
      expect((await rules.ask('GET', `/api/tasks?plugin=${plugin}`)).body).toHaveLength(1)
    await rules.api.tools.push({ resource: 'boiler-1', data: { parameterName: 'temperature', value: 93 } })
    expect((await rules.ask('GET', '/api/tasks/t1/nodes/hot')).at('mostLikelyState.state')).toBe('HOT')
  })

  it('runs an unknown version as the newest of that major version, unless warnings are rejected', async () => {
    const newer = { ...ruleOf(), sensors: [{ ...GRAPH.sensors[0], version: '1.7.0' }] }
    expect((await rules.ask('POST', '/api/tasks?failOnWarning=true', newer)).status).toBe(400)
    const told = await rules.ask('POST', '/api/tasks?returnWarnings=true', newer)
    expect(told.at('warnings')).toMatchObject([{ severity: 'WARNING', type: 'VERSION', details: { runs: '1.1.0' } }])
    const other = { ...ruleOf(), sensors: [{ ...GRAPH.sensors[0], version: '2.0.0' }] }
    const refused = await rules.ask('POST', '/api/tasks', other)
    expect(refused.body).toMatchObject({ statusCode: 400, error: 'Plugin heat:2.0.0 not found' })
    expect(refused.text).toContain('the versions of heat are 1.0.0, 1.1.0')
  })

  it('warns of nodes that never run on their own, and of nothing else', async () => {
    const sensors = GRAPH.sensors.map(({ resource: _forgotten, ...sensor }) => sensor)
    const odd = sensors.map((sensor) => ({ ...sensor, colour: 'red' }))
    const told = await rules.ask('POST', '/api/tasks', { ...ruleOf(), sensors: odd })
    expect(told.status).toBe(201)
    expect(told.at('warnings')).toMatchObject([{ severity: 'WARNING', type: 'START', path: '/sensors/0' }])
    expect(JSON.stringify(told.body)).toContain('never runs')
    await rules.ask('POST', '/api/templates', templateOf('forgetful', { sensors }))
    const settings = { name: 'watch', type: 'reactive', resource: 'boiler-1' }
    const ofTemplate = await rules.ask('POST', '/api/tasks', { template: 'forgetful', ...settings })
    expect(pluck(ofTemplate.at('warnings'), 'type')).toEqual(['START'])
    expect((await rules.ask('GET', '/api/tasks/t1/explain?node=alarm')).text).toContain('hot never runs')
  })

  it.each([
    ['data', ruleOf()],
    ['a schedule', { ...ONCE, task: { name: 'daily', type: 'scheduled', cron: '0 0 9 * * ?' } }],
    ['one tick', ONCE],
  ])('does not warn of a task that %s runs', async (_, task) => {
    expect((await rules.ask('POST', '/api/tasks', task)).body).toEqual({ ID: 't1' })
  })

  it('stores nothing when the task cannot start', async () => {
    const { status, body } = await rules.ask('POST', '/api/tasks', ruleOf({ resource: '' }))
    expect(status).toBe(400)
    expect(got(body, 'code')).toBe('RESOLUTION')
    expect((await rules.ask('HEAD', '/api/tasks')).headers['x-count']).toBe('0')
  })

  it('keeps the plug version that was newest at its creation', async () => {
    const sensors = GRAPH.sensors.map(({ version: _version, ...sensor }) => sensor)
    await rules.ask('POST', '/api/tasks', { ...ruleOf(), sensors })
    const { body } = await rules.ask('GET', '/api/tasks/t1?format=simplified')
    expect(got(body, 'network.sensors.0.version')).toBe('1.1.0')
    expect((await rules.ask('GET', '/api/tasks/t1/conf')).at('sensors.0')).not.toHaveProperty('version')
  })
})

describe('GET /api/tasks/{id}', () => {
  it('shows the task, its rule, and its nodes with their current states', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf({ tags: { site: 'ghent', floor: 2 } }))
    rules.clock.advanceTo(NOON + 5000)
    await rules.api.tools.push({ resource: 'boiler-1', data: { parameterName: 'temperature', value: 93 } })
    const { body } = await rules.ask('GET', '/api/tasks/t1?includeHealth=true')
    expect(body).toMatchObject({
      ID: 't1',
      name: 'watch',
      status: 'running',
      user: 'tester',
      createTime: NOON,
      resource: 'boiler-1',
      resourceIds: ['boiler-1'],
      type: 'reactive',
      resetObservations: true,
      parallel: true,
      gatesNeedFullObservation: false,
      tags: { site: 'ghent', floor: 2 },
      startTime: NOON,
      lastExecutionTime: NOON + 5000,
      invocationCount: 1,
      health: { errorsCount: 0, errorsRate: 0 },
    })
    expect(body).not.toHaveProperty('template')
    expect(got(body, 'nodes')).toEqual([
      {
        name: 'hot',
        states: [{ COLD: 0 }, { HOT: 1 }],
        mostLikelyState: { state: 'HOT', probability: 1 },
        sensor: { name: 'heat', version: '1.0.0', label: 'hot' },
        properties: got(body, 'network.nodes.0.properties'),
        rawData: { temperature: 93 },
        collectedTime: NOON + 5000,
      },
    ])
    expect(got(body, 'network.nodes.0')).toMatchObject({ name: 'hot', states: ['COLD', 'HOT'], priors: [0.5, 0.5] })
  })

  it('returns the frequency in ms, for any unit in the request', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf({ type: 'periodic', pollingInterval: 900, start: false }))
    expect((await rules.ask('GET', '/api/tasks/t1')).body).toMatchObject({ type: 'periodic', frequency: 900_000 })
  })
})

describe('GET /api/tasks/{id}/conf', () => {
  it.each([
    ['a rule', ruleOf({ tags: { a: 1 } })],
    ['a template request', { template: 'overheating', name: 'x', resource: 'b', nodes: [], variables: { limit: 3 } }],
  ])('returns %s as it was posted', async (_what, posted) => {
    await rules.ask('POST', '/api/templates', templateOf())
    await rules.ask('POST', '/api/tasks', posted)
    expect((await rules.ask('GET', '/api/tasks/t1/conf')).body).toEqual(posted)
  })

  it('converts a rule to the other form and back', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    const { body: bn } = await rules.ask('GET', '/api/tasks/t1/conf?format=bn')
    expect(bn).toMatchObject({ nodes: [{ name: 'hot' }], task: ruleOf().task })
    await rules.ask('POST', '/api/tasks', bn)
    const { body: simplified } = await rules.ask('GET', '/api/tasks/t2/conf?format=simplified')
    expect(simplified).toEqual({ ...ruleOf(), relations: [], notes: [] })
  })
})

describe('a task', () => {
  it('stops and starts, and counts each run', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    rules.clock.advanceTo(NOON + 1000)
    const stopped = await rules.ask('POST', '/api/tasks/t1/command/stop')
    expect(stopped.status).toBe(200)
    expect(stopped.body).toMatchObject({ ID: 't1', status: 'stopped', finishedTime: NOON + 1000 })
    rules.clock.advanceTo(NOON + 2000)
    const started = await rules.ask('POST', '/api/tasks/t1/command/start')
    expect(started.body).toMatchObject({ status: 'running', startTime: NOON + 2000 })
    expect(started.body).not.toHaveProperty('finishedTime')
    expect((await rules.ask('GET', '/api/tasks/t1/childRuns')).body).toEqual([
      { run: 2, startTime: NOON + 2000, status: 'running' },
      { run: 1, startTime: NOON, finishedTime: NOON + 1000, status: 'stopped' },
    ])
    expect(rules.runner.told).toEqual(['begin t1 1', 'end t1', 'begin t1 2'])
  })

  it('keeps its invocation count across restarts', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    const push = { resource: 'boiler-1', data: { parameterName: 'temperature', value: 20 } }
    await rules.ask('POST', '/api/data', push)
    await rules.ask('POST', '/api/tasks/t1/command/restart')
    await rules.ask('POST', '/api/data', push)
    expect((await rules.ask('GET', '/api/tasks/t1')).at('invocationCount')).toBe(2)
  })

  it('fails when a later start is impossible', async () => {
    await rules.ask('POST', '/api/tasks', {
      ...ruleOf({ start: false }),
      sensors: [{ ...GRAPH.sensors[0], resource: 'META.$.other' }],
    })
    const { status, body } = await rules.ask('POST', '/api/tasks/t1/command/start')
    expect(status).toBe(400)
    const shown = (await rules.ask('GET', '/api/tasks/t1')).body
    expect(shown).toMatchObject({ status: 'failed', error: got(body, 'error') })
  })

  it.each([
    ['keeps running', ruleOf({ name: 'other' }), true, 'running'],
    ['stays stopped', ruleOf({ name: 'other' }), false, 'stopped'],
    ['is started by start: true', ruleOf({ name: 'other', start: true }), false, 'running'],
    ['is stopped by start: false', ruleOf({ name: 'other', start: false }), true, 'stopped'],
  ])('%s when it is replaced', async (_what, specification, ran, status) => {
    await rules.ask('POST', '/api/tasks', ruleOf({ start: ran }))
    const put = await rules.ask('PUT', '/api/tasks/t1', specification)
    expect(put.body).toMatchObject({ ID: 't1', name: 'other', status, createTime: NOON })
    expect((await rules.ask('GET', '/api/tasks/t1')).at('status')).toBe(status)
  })

  it('is unchanged when its replacement cannot start', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))
    const put = await rules.ask('PUT', '/api/tasks/t1', ruleOf({ name: 'other', resource: '', start: true }))
    expect(put.status).toBe(400)
    expect((await rules.ask('GET', '/api/tasks/t1')).body).toMatchObject({ name: 'watch', status: 'stopped' })
  })

  it('loses its template when it is replaced by a rule', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    await rules.ask('POST', '/api/tasks', { template: 'overheating', name: 'a', resource: 'b' })
    await rules.ask('PUT', '/api/tasks/t1', ruleOf())
    expect((await rules.ask('GET', '/api/tasks/t1')).body).not.toHaveProperty('template')
    expect((await rules.ask('DELETE', '/api/templates/overheating')).status).toBe(204)
  })
})

describe('the end of a run that the runner reports', () => {
  const told = (epoch: number) => ({
    id: 't1',
    epoch,
    status: 'failed' as const,
    finishedTime: NOON + 7,
    error: 'it broke',
  })
  const shown = async () => (await rules.ask('GET', '/api/tasks/t1')).body

  it('is stored, and counts once for any number of reports', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    await rules.ask('POST', '/api/data', { resource: 'boiler-1', data: { parameterName: 'temperature', value: 1 } })
    rules.runner.ended$.next(told(1))
    rules.runner.ended$.next(told(1))
    await expect.poll(shown).toMatchObject({ status: 'failed', error: 'it broke', finishedTime: NOON + 7 })
    expect(await shown()).toMatchObject({ invocationCount: 1 })
    expect((await rules.ask('GET', '/api/tasks/t1/childRuns')).body).toEqual([
      { run: 1, startTime: NOON, finishedTime: NOON + 7, status: 'failed', error: 'it broke' },
    ])
  })

  it('has no effect on a later run, or on a deleted task', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    await rules.ask('POST', '/api/tasks/t1/command/restart')
    rules.runner.ended$.next(told(1))
    rules.runner.ended$.next({ ...told(1), id: 'gone' })
    await rules.service.stop()
    expect(await shown()).toMatchObject({ status: 'running' })
  })
})

it('two concurrent writers both succeed, one after the other', async () => {
  await rules.ask('POST', '/api/tasks', ruleOf())
  const answers = ['stop', 'stop', 'start'].map((command) => rules.ask('POST', `/api/tasks/t1/command/${command}`))
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 400, 200])
})

it('several tasks in one request are all deleted, or none', async () => {
  for (const start of [false, false, true]) await rules.ask('POST', '/api/tasks', ruleOf({ start }))
  expect((await rules.ask('DELETE', '/api/tasks?ids=t1,t3')).status).toBe(400)
  expect((await rules.ask('GET', '/api/tasks/t1')).status).toBe(200)
  const { status, body } = await rules.ask('DELETE', '/api/tasks?id=t1&id=t2')
  expect([status, body]).toEqual([200, { successful: ['t1', 't2'] }])
  expect((await rules.ask('HEAD', '/api/tasks')).headers['x-count']).toBe('1')
})
