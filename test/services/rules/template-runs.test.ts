/** Tests runs of templates that store nothing: the request body determines what runs. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import { got, pluck } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { PLUGS, templateOf } from './support/rules.ts'

/** Shows the inputs of its calls. */
const shows = definePlug({
  name: 'shows',
  version: '1.0.0',
  kind: 'sensor',
  states: ['SEEN'],
  input: { value: { type: 'double' }, of: { type: 'any' } },
  openOutput: true,
  execute: (context) => ({
    state: 'SEEN',
    rawData: {
      ...context.properties,
      resource: context.node.RESOURCE ?? null,
      task: context.task.RESOURCE ?? null,
      temperature: context.streamValue('temperature') ?? null,
    },
  }),
})
const called: string[] = []
const told = definePlug({
  name: 'told',
  version: '1.0.0',
  kind: 'actuator',
  input: { text: { type: 'string' } },
  execute: ({ properties }) => {
    called.push(String(properties.text))
    return { message: String(properties.text) }
  },
})

let rules: Bench
beforeEach(async () => {
  called.length = 0
  rules = await bench({ plugs: [...PLUGS, shows, told] })
})
afterEach(() => rules.close())

const reports = async (path: string, body: object): Promise<readonly unknown[]> => {
  const { status, text } = await rules.ask('POST', `/api/templates/${path}`, body)
  expect([status, text]).toEqual([200, text])
  return text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}
const message = (temperature: number, minutes = 0, resource = 'b') => ({
  resource,
  timestamp: NOON + minutes * 60_000,
  temperature,
})
const sensor = (properties: object, more: object = {}) => ({
  label: 'seen',
  name: 'shows',
  version: '1.0.0',
  properties,
  ...more,
})
const override = (properties: object) => [
  { name: 'seen', properties: { sensor: { requiredProperties: [properties] } } },
]

const PATHS = ['run', 'debug?nodeToDebug=seen'] as const

describe.each(PATHS)('POST /api/templates/%s', (path) => {
  /** Returns what the node shows in the last report */
  const shown = async (body: object) => got((await reports(path, body)).at(-1), 'sensors.seen.rawData')
  const onVariable = sensor({ value: '$${variables.v}' })

  it.each([
    ['the graph', { graph: { sensors: [sensor({ value: 1 })] } }, { value: 1 }],
    ['variables', { graph: { sensors: [onVariable] }, variables: { v: 2 } }, { value: 2 }],
    [
      'defaults of variables',
      { graph: { sensors: [onVariable], variables: [{ name: 'v', type: 'integer', defaultValue: 3 }] } },
      { value: 3 },
    ],
    [
      'variables in their declared types, over those of the defaults',
      {
        graph: {
          name: 'any',
          sensors: [onVariable],
          variables: [{ name: 'v', type: 'integer' }],
          taskDefaults: { variables: { v: 1 } },
        },
        variables: { v: '4' },
      },
      { value: 4 },
    ],
    ['overrides', { graph: { sensors: [sensor({ value: 1 })] }, nodes: override({ value: 5 }) }, { value: 5 }],
    [
      'overrides over those of the defaults',
      {
        graph: {
          sensors: [sensor({ value: 1 })],
          taskDefaults: { nodes: override({ value: 2, of: 'x' }) },
        },
        nodes: override({ value: 6 }),
      },
      { value: 6, of: 'x' },
    ],
    [
      'settings of a rule',
      { graph: { sensors: [onVariable], task: { variables: { v: 7 }, resource: 'r' } } },
      { value: 7, task: 'r' },
    ],
    [
      'the resource',
      { graph: { sensors: [sensor({}, { resource: '$' })] }, conf: { resource: 'r' } },
      { resource: 'r', task: 'r' },
    ],
    [
      'the resource of the defaults',
      { graph: { sensors: [sensor({}, { resource: '$' })], taskDefaults: { resource: 'r' } } },
      { resource: 'r' },
    ],
    [
      'metadata of the resource',
      {
        graph: { sensors: [sensor({ value: 'META.$.limit' })] },
        conf: { resource: 'r' },
        resourceMetaData: { limit: 8 },
      },
      { value: 8 },
    ],
    [
      'metadata of the resource of the defaults',
      {
        graph: { sensors: [sensor({ value: 'META.$.limit' })], taskDefaults: { resource: 'r' } },
        resourceMetaData: { limit: 9 },
      },
      { value: 9 },
    ],
    [
      'raw data of nodes',
      {
        graph: { sensors: [sensor({ value: '$${nodes.other.rawData.n}' }), { label: 'other', name: 'broken' }] },
        nodesRawData: { other: { n: 10 } },
      },
      { value: 10 },
    ],
    [
      'messages',
      {
        graph: { sensors: [sensor({ value: '$${streamdata.temperature}' }, { resource: '$' })] },
        conf: { resource: 'b' },
        data: [[message(20)], [message(21, 1)]],
      },
      { temperature: 21, value: 21 },
    ],
    [
      'a graph in bn form',
      {
        graph: {
          nodes: [
            {
              name: 'seen',
              states: ['SEEN'],
              properties: {
                sensor: { name: 'shows', version: '1.0.0', label: 'seen', requiredProperties: [{ value: 11 }] },
              },
            },
          ],
          posterior: [],
        },
      },
      { value: 11 },
    ],
  ])('runs %s', async (_what, body, expected) => {
    expect(await shown(body)).toMatchObject(expected)
  })

  it('resets observations as configured', async () => {
    const graph = {
      sensors: [sensor({}, { resource: '$' })],
      relations: [],
      actuators: [{ label: 'say', name: 'told', properties: { text: 'x' } }],
      triggers: [
        { sourceLabel: 'seen', destinationLabel: 'say', stateChangeTrigger: { stateFrom: '*', stateTo: 'SEEN' } },
      ],
    }
    const data = [[message(1)], [message(2, 1)]]
    for (const [resetObservations, times] of [
      [true, 2],
      [false, 1],
    ] as const) {
      called.length = 0
      await reports('run', { graph, data, conf: { resource: 'b', resetObservations, executeActuators: true } })
      expect(called).toHaveLength(times)
    }
  })

  it.each([
    [{ graph: { sensors: [{ ...sensor({}), name: 'nope' }] } }, '/graph/sensors/0/name'],
    [{ graph: { sensors: [{ ...sensor({}), name: 'heat' }] } }, '/graph/sensors/0/properties/limit'],
    [
      {
        graph: { sensors: [{ ...sensor({ limit: 1 }), name: 'heat' }] },
        nodes: override({ limit: 'x' }),
      },
      '/nodes/0/properties/sensor/requiredProperties/0/limit',
    ],
    [{ graph: { sensors: [sensor({})] }, nodes: [{ name: 'seem', properties: {} }] }, '/nodes/0/name'],
    [
      { graph: { sensors: [sensor({})], variables: [{ name: 'v', type: 'integer', mandatory: true }] } },
      '/variables/v',
    ],
  ])('rejects %j before it begins, with the path in the body', async (body, place) => {
    const answer = await rules.ask('POST', `/api/templates/${path}`, body)
    expect(answer.status).toBe(400)
    expect(pluck(answer.at('details'), 'path')).toContain(place)
  })
})

describe('a debugged node', () => {
  const graph = {
    sensors: [
      { label: 'hot', name: 'heat', resource: '$', properties: { limit: 90 } },
      { label: 'counted', name: 'shows', resource: '$', pollingPeriod: 1000, properties: {} },
      { label: 'then', name: 'shows', properties: { value: '$${nodes.hot.rawData.temperature}' } },
    ],
    actuators: [{ label: 'say', name: 'told', properties: { text: 'it has ${streamdata.temperature}' } }],
    triggers: [
      { sourceLabel: 'hot', destinationLabel: 'then' },
      { sourceLabel: 'hot', destinationLabel: 'say', statesTrigger: ['HOT'] },
      { sourceLabel: 'then', destinationLabel: 'say', statesTrigger: ['SEEN'] },
    ],
  }
  const conf = { resource: 'b', executeActuators: true }

  it('runs alone for each list of messages: no other node runs, and nothing fires', async () => {
    const data = [[message(20)], [message(93, 1)]]
    const found = await reports('debug?nodeToDebug=hot&logLevel=DEBUG', { graph, conf, data })
    expect(found).toMatchObject([{ sensors: { hot: { state: 'COLD' } } }, { sensors: { hot: { state: 'HOT' } } }])
    expect(pluck(found, 'actuators')).toEqual([{}, {}])
    expect(called).toEqual([])
    const nodes = found.flatMap((report) => pluck(got(report, 'log'), 'node'))
    expect(new Set(nodes.filter((node) => node !== undefined))).toEqual(new Set(['hot']))
  })

  it('that a trigger runs is started by the messages themselves, and sees the given states of nodes', async () => {
    const nodesRawData = { hot: { temperature: 7 } }
    const [report] = await reports('debug?nodeToDebug=then', { graph, conf, nodesRawData, data: [[message(93)]] })
    expect(got(report, 'sensors.then')).toMatchObject({ executed: true, rawData: { value: 7, temperature: 93 } })
    const [tick] = await reports('debug?nodeToDebug=then', { graph, conf, nodesRawData })
    expect(got(tick, 'sensors.then')).toMatchObject({ executed: true, rawData: { value: 7, temperature: null } })
  })

  it('can be an actuator, which is called if requested', async () => {
    const body = { graph, data: [[message(93)]] }
    const [real] = await reports('debug?nodeToDebug=say', { ...body, conf })
    expect(got(real, 'actuators.say')).toMatchObject({ executed: true, message: 'it has 93' })
    expect(called).toEqual(['it has 93'])
    const [dry] = await reports('debug?nodeToDebug=say', { ...body, conf: { resource: 'b' } })
    expect(got(dry, 'actuators.say')).toEqual({ executed: false, simulated: true })
    expect(called).toHaveLength(1)
  })

  it('applies overrides of the node that fires it', async () => {
    const nodes = [{ name: 'hot', properties: { actions: [{ label: 'say', requiredProperties: [{ text: 'so' }] }] } }]
    const [report] = await reports('debug?nodeToDebug=say', { graph, conf, nodes })
    expect(got(report, 'actuators.say.message')).toBe('so')
  })

  it('with its own resource does not run for messages of another', async () => {
    const data = [[message(93, 0, 'elsewhere')], [message(93, 1)]]
    const found = await reports('debug?nodeToDebug=hot', { graph, conf, data })
    expect(pluck(found, 'sensors.hot.executed')).toEqual([false, true])
  })

  it('shows its label beside the ones that start it', async () => {
    const sensors = [{ label: 'go_1', name: 'always' }]
    expect(await reports('debug?nodeToDebug=go_1', { graph: { sensors } })).toMatchObject([
      { sensors: { go_1: { executed: true, state: 'ON' } } },
    ])
  })

  it.each([
    ['nope', 'is not in the rule'],
    ['both', 'is a relation'],
  ])('%s is rejected', async (label, reason) => {
    const relations = [{ label: 'both', type: 'AND', parentLabels: ['hot'], combinations: [['HOT']] }]
    const answer = await rules.ask('POST', `/api/templates/debug?nodeToDebug=${label}`, {
      graph: { ...graph, relations },
      conf,
    })
    expect([answer.status, answer.at('error')]).toEqual([404, expect.stringContaining(reason)])
  })
})

describe('a stored template', () => {
  const data = [[message(93)]]
  beforeEach(async () => {
    await rules.ask('POST', '/api/templates', templateOf())
    const hotter = templateOf().sensors?.map((one) => ({ ...one, properties: { limit: 95 } })) ?? []
    await rules.ask('PUT', '/api/templates/overheating', templateOf('overheating', { sensors: hotter }))
  })

  it.each([
    ['run', 'COLD'],
    ['run?version=1', 'HOT'],
    ['debug?nodeToDebug=hot', 'COLD'],
    ['debug?nodeToDebug=hot&version=1', 'HOT'],
  ])('runs in the requested version: %s', async (path, state) => {
    const [report] = await reports(`overheating/${path}`, { data, conf: { resource: 'b' } })
    expect(got(report, 'sensors.hot.state')).toBe(state)
  })

  it('cannot be run with another graph', async () => {
    const answer = await rules.ask('POST', '/api/templates/overheating/debug?nodeToDebug=hot', {
      graph: { sensors: [sensor({})] },
    })
    expect(answer.status).toBe(400)
    expect(answer.at('error')).toContain('/graph <- there is a graph, but template "overheating" (version 2)')
  })
})
