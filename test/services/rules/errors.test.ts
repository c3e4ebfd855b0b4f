import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { got, pluck, textOf } from '../support/answer.ts'
import { bench, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
/** Ids: `running`, `stopped`, and `made`, which is made of the template `overheating`. */
const ids: Record<string, string> = {}
beforeAll(async () => {
  rules = await bench()
  await rules.ask('POST', '/api/templates', templateOf())
  await rules.ask(
    'POST',
    '/api/templates',
    templateOf('limited', { variables: [{ name: 'threshold', type: 'double', mandatory: true }] }),
  )
  ids['running'] = textOf((await rules.ask('POST', '/api/tasks', ruleOf())).at('ID'))
  ids['stopped'] = textOf((await rules.ask('POST', '/api/tasks', ruleOf({ start: false }))).at('ID'))
  ids['made'] = textOf(
    (await rules.ask('POST', '/api/tasks', { template: 'overheating', name: 'm', resource: 'x' })).at('ID'),
  )
})
afterAll(() => rules.close())

const sensor = GRAPH.sensors[0]
type Case = readonly [
  what: string,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  /** `{running}` stands for the id of that task */
  url: string,
  body: unknown,
  status: number,
  error: string,
  code: string,
]

const CASES: readonly Case[] = [
  ['a task that is not there', 'GET', '/api/tasks/nope', undefined, 404, 'Task with id nope not found', 'NOT_FOUND'],
  ['a deletion of nothing', 'DELETE', '/api/tasks/nope', undefined, 404, 'Task with id nope not found', 'NOT_FOUND'],
  [
    'a start of nothing',
    'POST',
    '/api/tasks/nope/command/start',
    undefined,
    404,
    'Task with id nope not found',
    'NOT_FOUND',
  ],
  ['a PUT to nothing', 'PUT', '/api/tasks/nope', ruleOf(), 404, 'Task with id nope not found', 'NOT_FOUND'],
  [
    'a template that is not there',
    'GET',
    '/api/templates/nope',
    undefined,
    404,
    'No template with name nope',
    'NOT_FOUND',
  ],
  [
    'a deletion of no template',
    'DELETE',
    '/api/templates/nope',
    undefined,
    404,
    'No template with name nope',
    'NOT_FOUND',
  ],
  [
    'an unknown template in a body',
    'POST',
    '/api/tasks',
    { template: 'nope', name: 'a' },
    400,
    'No template with name nope',
    'VALIDATION',
  ],
  [
    'an unknown plug',
    'POST',
    '/api/tasks',
    { ...ruleOf(), sensors: [{ ...sensor, name: 'heet' }] },
    400,
    'Plugin heet:1.0.0 not found',
    'TRANSFORMATION',
  ],
  [
    'an unknown version of a plug',
    'POST',
    '/api/tasks',
    { ...ruleOf(), sensors: [{ ...sensor, version: '9.9.9' }] },
    400,
    'Plugin heat:9.9.9 not found',
    'TRANSFORMATION',
  ],
  [
    'a variable without a value',
    'POST',
    '/api/tasks',
    { template: 'limited', name: 'a', resource: 'r' },
    400,
    "Variable 'threshold' not found",
    'VALIDATION',
  ],
  [
    'a second template of a name',
    'POST',
    '/api/templates',
    templateOf(),
    400,
    "A template with name 'overheating' already exists",
    'ERR_DUPLICATE_TEMPLATE_NAME',
  ],
  [
    'a copy to a name that is taken',
    'PATCH',
    '/api/templates/limited?newName=overheating',
    undefined,
    400,
    "A template with name 'overheating' already exists",
    'ERR_DUPLICATE_TEMPLATE_NAME',
  ],
  [
    'another name in the body than in the path',
    'PUT',
    '/api/templates/overheating',
    templateOf('other'),
    400,
    "Path name and submitted template name don't match",
    'VALIDATION',
  ],
  [
    'a template in use',
    'DELETE',
    '/api/templates/overheating',
    undefined,
    400,
    'Template with name overheating in use by 1 task(s)',
    'WRONG_STATUS',
  ],
  [
    'a start of a running task',
    'POST',
    '/api/tasks/{running}/command/start',
    undefined,
    400,
    'Not possible to apply action start, for the task in status running',
    'WRONG_STATUS',
  ],
  [
    'a stop of a stopped task',
    'POST',
    '/api/tasks/{stopped}/command/stop',
    undefined,
    400,
    'Not possible to apply action stop, for the task in status stopped',
    'WRONG_STATUS',
  ],
  [
    'a deletion of a running task',
    'DELETE',
    '/api/tasks/{running}',
    undefined,
    400,
    'Not possible to remove task in status running',
    'WRONG_STATUS',
  ],
  [
    'a state that the node cannot have',
    'PATCH',
    '/api/tasks/{running}/nodes/hot',
    { state: 'WARM' },
    400,
    'State WARM is invalid for node hot on task {running}; it can be COLD, HOT',
    'INVALID_STATE',
  ],
  [
    'data that is no object',
    'POST',
    '/api/data',
    { resource: 'a', data: 5 },
    400,
    'Expecting json array or object',
    'VALIDATION',
  ],
  ['a body that is no object', 'POST', '/api/data', 7, 400, 'Expecting json array or object', 'VALIDATION'],
  ['an unknown sensor', 'GET', '/api/sensors/nope', undefined, 404, 'Sensor nope not found', 'NOT_FOUND'],
  [
    'an unknown version of a sensor',
    'POST',
    '/api/sensors/heat/versions/3.0.0',
    {},
    404,
    'Sensor heat:3.0.0 not found',
    'NOT_FOUND',
  ],
  ['an unknown actuator', 'POST', '/api/actions/nope', {}, 404, 'Actuator nope not found', 'NOT_FOUND'],
  [
    'an unknown batch operation',
    'GET',
    '/api/batch/nope',
    undefined,
    404,
    "No batch operation with id 'nope'",
    'NOT_FOUND',
  ],
  [
    'an unknown action',
    'POST',
    '/api/batch',
    { entity: 'task', action: 'strt', query: {} },
    400,
    '/action <- unknown action strt, we support updatePlugins, updateProperties, delete, start, restart, stop, reload, stopAndDelete',
    'VALIDATION',
  ],
  [
    'filter in a batch query',
    'POST',
    '/api/batch',
    { entity: 'task', action: 'stop', query: { filter: 'a' } },
    400,
    '/query/filter <- filter is not allowed in batch queries (use name, tags or another filter)',
    'VALIDATION',
  ],
  [
    'an unknown status',
    'GET',
    '/api/tasks?status=pending',
    undefined,
    400,
    '/status <- "pending" is unknown (write one of running, stopped, failed)',
    'VALIDATION',
  ],
  [
    'an unknown type',
    'GET',
    '/api/tasks?type=cron',
    undefined,
    400,
    '/type <- "cron" is unknown (write one of onetime, scheduled, reactive, periodic)',
    'VALIDATION',
  ],
  [
    'bad paging',
    'GET',
    '/api/tasks?hits=-1',
    undefined,
    400,
    '/hits <- "-1" is not a whole number of at least 0 (write for example hits=0)',
    'VALIDATION',
  ],
  [
    'bad paging, told all at once',
    'GET',
    '/api/tasks?hits=ten&startIndex=1.5',
    undefined,
    400,
    '/hits <- "ten" is not a whole number of at least 0 (write for example hits=0); /startIndex <- "1.5" is not a whole number of at least 0 (write for example startIndex=0)',
    'VALIDATION',
  ],
  [
    'an unknown format',
    'GET',
    '/api/tasks/{running}?format=xml',
    undefined,
    400,
    '/format <- "xml" is unknown (write one of bn, simplified)',
    'VALIDATION',
  ],
  [
    'a reload of a task without a template',
    'POST',
    '/api/tasks/{running}/command/reload',
    undefined,
    400,
    'Not possible to reload task {running}: it was not made from a template',
    'WRONG_STATUS',
  ],
  [
    'a task without a name',
    'POST',
    '/api/tasks',
    GRAPH,
    400,
    '/task/name <- the task has no name (write "name": "my task")',
    'VALIDATION',
  ],
  [
    'a task with too long a name',
    'POST',
    '/api/tasks',
    ruleOf({ name: 'n'.repeat(1501) }),
    400,
    '/task/name <- the name has 1501 bytes, at most 1500 are kept (choose a shorter name)',
    'VALIDATION',
  ],
  [
    'a template with too long a name',
    'POST',
    '/api/templates',
    templateOf('n'.repeat(171)),
    400,
    '/name <- the name has 171 characters, at most 170 are kept',
    'VALIDATION',
  ],
  [
    'no discovery template',
    'GET',
    '/api/discoveryTemplate',
    undefined,
    404,
    'No discovery template is set',
    'NOT_FOUND',
  ],
  [
    'nobody to explain',
    'GET',
    '/api/tasks/{running}/explain',
    undefined,
    400,
    '/node <- is missing (write node=<label of a sensor or actuator>)',
    'VALIDATION',
  ],
  [
    'deletion of everything by a filter that is none',
    'DELETE',
    '/api/tasks?name=a',
    undefined,
    400,
    '/name <- is no parameter of this request (write one of ids, id, forceStop)',
    'VALIDATION',
  ],
]

describe('a refusal', () => {
  it.each(CASES)('of %s', async (_what, method, url, body, status, error, code) => {
    const filled = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '')
    const answer = await rules.ask(method, filled(url), body)
    expect(answer.body).toMatchObject({ statusCode: status, error: filled(error), code })
    expect(answer.status).toBe(status)
  })

  it('of an unknown plug says which node and which plug', async () => {
    const { body } = await rules.ask('POST', '/api/tasks', { ...ruleOf(), sensors: [{ ...sensor, name: 'heet' }] })
    expect(got(body, 'details.0')).toMatchObject({
      type: 'PLUGIN',
      severity: 'ERROR',
      details: { nodeId: 'hot', plugin: { name: 'heet', version: '1.0.0' } },
    })
  })

  it('of a missing variable names it', async () => {
    const { body } = await rules.ask('POST', '/api/tasks', { template: 'limited', name: 'a', resource: 'r' })
    expect(got(body, 'details')).toMatchObject([{ type: 'VARIABLE', details: { variable: 'threshold' } }])
  })

  it('tells all problems of a rule at once', async () => {
    const bad = {
      sensors: [{ ...sensor, sequence: 'first', properties: {} }],
      triggers: [{ sourceLabel: 'x', destinationLabel: 'hot' }],
      task: { type: 'often' },
    }
    const { status, body } = await rules.ask('POST', '/api/tasks', bad)
    expect(status).toBe(400)
    expect(pluck(got(body, 'details'), 'path')).toEqual(
      expect.arrayContaining([
        '/sensors/0/sequence',
        '/sensors/0/properties/limit',
        '/triggers/0/sourceLabel',
        '/task/type',
        '/task/name',
      ]),
    )
  })

  it('of a batch is told whole', async () => {
    const { body } = await rules.ask('POST', '/api/batch', {
      entity: 'alarm',
      action: 'updatePlugins',
      query: { colour: 'red' },
      actionParameters: { updates: [{ name: 'heat', fromVersion: 'any', toVersion: '7.0.0' }] },
    })
    expect(pluck(got(body, 'details'), 'path')).toEqual([
      '/entity',
      '/query/colour',
      '/actionParameters/updates/0/toVersion',
    ])
    expect(got(body, 'error')).toContain('heat:7.0.0 does not exist')
  })

  it.each([
    ['no JSON', '{"sensors":', 'application/json', 400],
    ['a wrong content type', '<task/>', 'application/xml', 415],
    ['a key that reaches a prototype', '{"sensors":[],"__proto__":{"a":1}}', 'application/json', 400],
    ['text where JSON is asked', 'name=a', 'text/plain', 415],
  ])('of %s', async (_what, payload, type, status) => {
    const answer = await rules.ask('POST', '/api/tasks', payload, { 'content-type': type })
    expect(answer.at('statusCode')).toBe(status)
    expect(answer.status).toBe(status)
  })
})
