import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import { got, listOf, pluck } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, PLUGS, ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
})
afterEach(() => rules.close())

const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))

it('the variables of a graph are listed, declared or not, in either form', async () => {
  const graph = {
    variables: [{ name: 'limit', type: 'double', defaultValue: 5 }],
    sensors: [
      {
        label: 'a',
        name: 'dice',
        resource: '$room',
        properties: { x: '${variables.limit} ${variables.unit}', y: ['{{a.b}}'] },
      },
      { label: 'b', name: 'dice', resource: '$' },
    ],
  }
  const expected = [
    { name: 'limit', type: 'double', defaultValue: 5 },
    { name: 'room', type: 'string', format: { type: 'resource' } },
    { name: 'unit', type: 'object' },
  ]
  expect((await rules.ask('POST', '/api/variableDeclarations', graph)).body).toEqual(expected)
  const nodes = [
    {
      name: 'a',
      states: ['x', 'y'],
      properties: { resource: '$room', sensor: { name: 'dice', requiredProperties: [{ x: '${variables.unit}' }] } },
    },
  ]
  const bn = await rules.ask('POST', '/api/variableDeclarations', { nodes, posterior: [] })
  expect(bn.body).toEqual(expected.slice(1))
  expect((await rules.ask('POST', '/api/variableDeclarations', [])).status).toBe(400)
})

describe('the listing of plugs', () => {
  it('contains the newest version of each, sorted by name', async () => {
    const { body } = await rules.ask('GET', '/api/sensors')
    expect(pluck(body, 'name')).toEqual(['always', 'broken', 'heat'])
    expect(pluck(body, 'version')).toEqual(['1.0.0', '1.0.0', '1.1.0'])
    expect((await rules.ask('GET', '/api/actions')).body).toMatchObject([{ name: 'say', type: 'actuator' }])
  })

  it('contains one plug, all of its versions, or one version', async () => {
    expect((await rules.ask('GET', '/api/sensors/heat')).body).toEqual({
      name: 'heat',
      version: '1.1.0',
      type: 'sensor',
      states: ['COLD', 'HOT'],
      configuration: [{ name: 'limit', type: 'double', mandatory: true }],
      rawData: [{ parameter: 'temperature', dataType: 'double' }],
    })
    const versions = await rules.ask('GET', '/api/sensors/heat/versions')
    expect(pluck(versions.body, 'version')).toEqual(['1.1.0', '1.0.0'])
    expect((await rules.ask('GET', '/api/sensors/heat/versions/1.0.0')).at('version')).toBe('1.0.0')
    expect((await rules.ask('GET', '/api/sensors/heat/versions/1.0.0/script')).status).toBe(404)
  })
})

describe('a single call of a plug', () => {
  it('of a sensor returns its state, data and log', async () => {
    const { status, body } = await rules.ask('POST', '/api/sensors/heat', {
      properties: { limit: 90 },
      resource: 'b',
      streamData: { temperature: 93 },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ result: true, state: 'HOT', rawData: { temperature: 93 } })
    expect(got(body, 'log')).toContainEqual({
      time: new Date(NOON).toISOString(),
      level: 'INFO',
      message: 'measured 93',
      node: 'heat',
    })
  })

  it('of a sensor without a message runs it once', async () => {
    expect((await rules.ask('POST', '/api/sensors/always/versions/1.0.0', {})).body).toMatchObject({
      result: true,
      state: 'ON',
    })
    expect((await rules.ask('POST', '/api/sensors/always')).body).toMatchObject({ result: true, state: 'ON' })
  })

  it('of an actuator really runs it', async () => {
    const { status, body } = await rules.ask('POST', '/api/actions/say', { properties: { text: 'hello' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({ result: true, message: 'hello', rawData: { said: 'hello' } })
    expect(body).not.toHaveProperty('state')
  })

  it.each([
    ['a plug that fails', '/api/sensors/broken', {}, 'it smokes'],
    ['missing properties', '/api/sensors/heat', {}, 'limit'],
  ])('with %s returns 400 and the reason', async (_what, url, body, reason) => {
    const answer = await rules.ask('POST', url, body)
    expect(answer.status).toBe(400)
    expect(answer.at('result')).toBe(false)
    expect(answer.at('error')).toContain(reason)
  })
})

describe('pushed data', () => {
  beforeEach(async () => {
    await rules.ask('POST', '/api/tasks', ruleOf())
    await rules.ask('POST', '/api/tasks', ruleOf({ resource: 'boiler-2' }))
  })

  it('reaches the tasks of its resource', async () => {
    const value = { parameterName: 'temperature', value: 93, collectedTime: '2026-11-20T11:00:00Z' }
    expect((await rules.ask('POST', '/api/data', { resource: 'boiler-1', data: [value] })).body).toEqual({
      taken: true,
    })
    expect((await rules.ask('POST', '/api/data', { resource: 'boiler-9', data: value })).body).toEqual({ taken: false })
    expect((await rules.ask('GET', '/api/tasks/t1')).at('invocationCount')).toBe(1)
    expect((await rules.ask('GET', '/api/tasks/t2')).at('invocationCount')).toBe(0)
  })

  it('is one message unless a name occurs twice', async () => {
    const data = [
      { parameterName: 'temperature', value: 20 },
      { parameterName: 'pressure', value: 1 },
      { parameterName: 'temperature', value: 95 },
    ]
    await rules.ask('POST', '/api/data', { resource: 'boiler-1', data })
    const { body } = await rules.ask('GET', '/api/tasks/t1')
    expect(got(body, 'invocationCount')).toBe(2)
    expect(got(body, 'nodes.0.mostLikelyState.state')).toBe('HOT')
  })

  it('as states reaches every task with that node on that resource', async () => {
    await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))
    const { body } = await rules.ask('POST', '/api/data', {
      resource: 'boiler-1',
      nodes: [{ node: 'hot', state: 'HOT' }],
    })
    expect(body).toEqual({ taken: true, tasks: ['t1'] })
    expect((await rules.ask('GET', '/api/tasks/t1/nodes/hot')).at('mostLikelyState.state')).toBe('HOT')
  })
})

describe('a run of a template', () => {
  const message = (temperature: number, minutes: number) => ({
    resource: 'b',
    timestamp: NOON + minutes * 60_000,
    temperature,
  })

  beforeEach(() => rules.ask('POST', '/api/templates', templateOf()))

  it('reports each invocation, with simulated actuators', async () => {
    const body = { data: [[message(20, 0)], [message(93, 1)]], conf: { resource: 'b' } }
    const { status, text, headers } = await rules.ask('POST', '/api/templates/overheating/run', body)
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('application/x-ndjson')
    expect(lines(text)).toMatchObject([
      {
        invocationId: '1',
        sensors: { hot: { executed: true, result: true, state: 'COLD' } },
        actuators: { alarm: { executed: false } },
      },
      {
        invocationId: '2',
        sensors: { hot: { executed: true, state: 'HOT', rawData: { temperature: 93 } } },
        actuators: { alarm: { executed: false, simulated: true } },
      },
    ])
    expect(got(lines(text), '0.actuators.alarm')).not.toHaveProperty('simulated')
    expect((await rules.ask('HEAD', '/api/tasks')).headers['x-count']).toBe('0')
  })

  it('reports only a node and its sources, if requested', async () => {
    const body = { data: [[message(93, 0)]], conf: { resource: 'b' } }
    const [report] = lines((await rules.ask('POST', '/api/templates/overheating/run?targetNode=hot', body)).text)
    expect([Object.keys(got(report, 'sensors') as object), Object.keys(got(report, 'actuators') as object)]).toEqual([
      ['hot'],
      [],
    ])
  })
})

describe('a simulation', () => {
  const messages = [20, 93, 20].map((temperature, i) => ({ resource: 'b', timestamp: NOON + i * 1000, temperature }))

  it('returns the events of virtual time', async () => {
    const { status, body } = await rules.ask('POST', '/api/tasks/simulate', {
      rule: GRAPH,
      resource: 'b',
      messages,
      explain: 'alarm',
    })
    expect(status).toBe(200)
    const fired = listOf(got(body, 'events')).filter((event) => got(event, 'type') === 'fired')
    expect(fired).toMatchObject([{ time: NOON + 1000, node: 'alarm', source: 'hot' }])
    expect(body).toMatchObject({
      messages: 3,
      late: 0,
      from: '2026-11-20T12:00:00.000Z',
      until: '2026-11-20T12:00:02.000Z',
      left: 0,
    })
    expect(got(body, 'explanation.fired.time')).toBe(NOON + 1000)
  })

  it('is deterministic, also for a stored template', async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    const ofRule = await rules.ask('POST', '/api/tasks/simulate', { rule: templateOf(), resource: 'b', messages })
    const ofTemplate = await rules.ask('POST', '/api/tasks/simulate', {
      template: 'overheating',
      resource: 'b',
      messages,
    })
    expect(ofTemplate.text).toBe(ofRule.text)
  })

  it.each([
    [{}, 'a rule is missing'],
    [{ template: 'nope' }, 'No template with name nope'],
    [{ rule: GRAPH, resource: 'b', from: NOON + 1, until: NOON }, 'before from'],
    [{ rule: GRAPH, resource: 'b', messages: [{ resource: 'b' }] }, 'timestamp'],
    [{ rule: { ...GRAPH, sensors: [{ label: 'a', name: 'nope' }] } }, 'Plugin nope:latest not found'],
  ])('of %j is rejected', async (body, reason) => {
    const answer = await rules.ask('POST', '/api/tasks/simulate', body)
    expect(answer.status).toBe(400)
    expect(answer.at('error')).toContain(reason)
  })
})

describe('a sensor with an outside effect', () => {
  const doors: string[] = []
  const door = definePlug({
    name: 'door',
    version: '1.0.0',
    kind: 'sensor',
    acts: ({ open }) => open,
    states: ['Error', 'Success'],
    input: { open: { type: 'boolean', mandatory: true } },
    execute: ({ properties }) => {
      doors.push(properties.open ? 'opened' : 'looked at')
      return { state: 'Success', rawData: { doors: doors.length } }
    },
  })
  const ruleOfDoor = (open: boolean) => ({
    sensors: [{ label: 'in', name: 'door', properties: { open } }],
    actuators: [{ label: 'tell', name: 'say', properties: { text: 'in' } }],
    triggers: [{ sourceLabel: 'in', destinationLabel: 'tell', statesTrigger: ['Success'] }],
  })

  beforeEach(async () => {
    doors.length = 0
    await rules.close()
    rules = await bench({ plugs: [...PLUGS, door] })
  })

  it('is not called by a run of a template, which continues as if the call had succeeded', async () => {
    const [report] = lines((await rules.ask('POST', '/api/templates/run', { graph: ruleOfDoor(true) })).text)
    expect(got(report, 'sensors.in')).toEqual({ executed: false, simulated: true, state: 'Success' })
    expect(got(report, 'actuators.tell')).toEqual({ executed: false, simulated: true })
    expect(pluck(got(report, 'log'), 'message')).toContain(
      'door has an effect and was not called; its state is assumed to be Success',
    )
    expect(doors).toEqual([])
  })

  it.each([
    [false, ['in', 'tell'], []],
    [true, [], ['opened']],
  ])('is called by a simulation only if requested: %s', async (executeActuators, simulated, opened) => {
    const settings = { type: 'onetime' }
    const { body } = await rules.ask('POST', '/api/tasks/simulate', {
      rule: ruleOfDoor(true),
      settings,
      executeActuators,
    })
    expect(got(body, 'simulated')).toEqual(simulated)
    expect(doors).toEqual(opened)
    expect(pluck(got(body, 'events'), 'type')).toContain('fired')
  })
})

describe('the next runs', () => {
  it('of a cron expression are listed with their time zone', async () => {
    const { body } = await rules.ask('GET', '/api/schedules/next?cron=0%200%209%20*%20*%20%3F&zone=Europe/Brussels&n=2')
    expect(got(body, 'runs')).toEqual([
      { at: Date.UTC(2026, 10, 21, 8), scheduledAt: '2026-11-21T09:00:00+01:00' },
      { at: Date.UTC(2026, 10, 22, 8), scheduledAt: '2026-11-22T09:00:00+01:00' },
    ])
  })
})
