/**
 * Tests rejections that no schema expresses, because they depend on stored data or on combinations, worded for the
 * sender.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { got, pluck, textOf } from '../support/answer.ts'
import { bench, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
let task = ''
beforeAll(async () => {
  rules = await bench()
  await rules.ask('POST', '/api/templates', templateOf())
  const variables = [{ name: 'threshold', type: 'double' as const, mandatory: true }]
  await rules.ask('POST', '/api/templates', templateOf('limited', { variables }))
  task = textOf((await rules.ask('POST', '/api/tasks', ruleOf())).at('ID'))
  await rules.ask('POST', '/api/tasks', { template: 'overheating', name: 'm', resource: 'x' })
})
afterAll(() => rules.close())

/** Request, body, error text and error code; the default code is VALIDATION */
type Case = readonly [ask: string, body: unknown, error: string, code?: string]

const [sensor] = GRAPH.sensors
const upgrade = (toVersion: string) => ({
  operation: 'updatePlugins',
  updates: [{ name: 'heat', fromVersion: 'any', toVersion }],
})
const batchOf = (action: string, query: object, actionParameters: object = {}) => ({
  entity: 'task',
  action,
  query,
  actionParameters,
})
const values = (...names: readonly string[]) => names.map((parameterName) => ({ parameterName, value: 1 }))
const TAKEN = 'is the name of a field of the message itself (choose another name)'
const DUPLICATE = "A template with name 'overheating' already exists"
const NO_PAGE = '/pageToken <- "next" is not a page of this log (send the pageToken of the previous page)'

const CASES: readonly Case[] = [
  ['POST /api/tasks', { template: 'nope', name: 'a' }, 'No template with name nope'],
  ['POST /api/templates', templateOf(), DUPLICATE, 'ERR_DUPLICATE_TEMPLATE_NAME'],
  ['PATCH /api/templates/limited?newName=overheating', undefined, DUPLICATE, 'ERR_DUPLICATE_TEMPLATE_NAME'],
  ['PUT /api/templates/overheating', templateOf('other'), "Path name and submitted template name don't match"],
  [
    'DELETE /api/templates/overheating',
    undefined,
    'Template with name overheating in use by 1 task(s)',
    'WRONG_STATUS',
  ],
  [
    'PATCH /api/tasks/t1/nodes/hot',
    { state: 'WARM' },
    'State WARM is invalid for node hot on task t1; it can be COLD, HOT',
    'INVALID_STATE',
  ],
  [
    'POST /api/tasks/t1/command/reload',
    undefined,
    'Not possible to reload task t1: it was not created from a template',
    'WRONG_STATUS',
  ],
  [
    'DELETE /api/tasks?name=a',
    undefined,
    '/name <- is not a parameter of this request (write one of ids, id, forceStop)',
  ],
  [
    'PATCH /api/templates?ids=overheating',
    upgrade('9.9.9'),
    '/updates/0/toVersion <- heat:9.9.9 does not exist (write "toVersion": "1.1.0", the newest of heat)',
  ],
  [
    'PATCH /api/templates?ids=overheating',
    upgrade('latest'),
    '/updates/0/toVersion <- latest is not an exact version (write "toVersion": "1.1.0", the newest of heat)',
  ],
  [
    'POST /api/batch',
    batchOf('updatePlugins', { ids: ['t1'] }, { updates: upgrade('latest').updates }),
    '/actionParameters/updates/0/toVersion <- latest is not an exact version (write "toVersion": "1.1.0", the newest of heat)',
  ],
  [
    'POST /api/data',
    { resource: 'boiler-1', data: values('resource', 'temperature', 'timestamp') },
    `/data/0/parameterName <- "resource" ${TAKEN}; /data/2/parameterName <- "timestamp" ${TAKEN}`,
  ],
  [
    'GET /api/schedules/next?cron=0+0+*+*+*&rrule=FREQ%3DDAILY',
    undefined,
    '/rrule <- duplicates the expression (keep one of expression, cron and rrule)',
  ],
  [
    'GET /api/schedules/next?expression=soon',
    undefined,
    '/cron <- "soon" is not a cron expression (use 6 or 7 fields (second minute hour day-of-month month day-of-week [year]), 5 unix fields, or @hourly, @daily, @weekly, @monthly or @yearly)',
    'SCHEDULE',
  ],
  ['POST /api/tasks/simulate', { rule: GRAPH, source: [] }, '/source <- is unknown (did you mean resource?)'],
  ['POST /api/tasks/simulate', { rule: GRAPH, mesages: [] }, '/mesages <- is unknown (did you mean messages?)'],
  [
    'POST /api/batch',
    batchOf('updateProperties', { ids: ['t1'] }, { variabels: {} }),
    '/actionParameters/variabels <- is unknown (did you mean variables?)',
  ],
  ['POST /api/tasklogs', { taskId: 't1', pageToken: 'next' }, NO_PAGE],
  ['GET /api/tasklogs?taskId=t1&pageToken=next', undefined, NO_PAGE],
  [
    'POST /api/tasks',
    ruleOf({ name: 'a\u0000b' }),
    'the sent data can neither be stored nor searched: the field name has a NUL or half of a surrogate pair: "a\\u0000b"; the field words has a NUL or half of a surrogate pair: "a\\u0000b\\nt3\\nboiler-1\\n\\ntester"',
  ],
  [
    'POST /api/tasks',
    ruleOf({ resource: 'r'.repeat(3000) }),
    'the sent data can neither be stored nor searched: a text of the field resource has 3000 bytes (use at most 2000)',
    'TOO_LARGE',
  ],
]

describe('a rejection', () => {
  it.for(CASES)('of %s, case %#,', async ([ask, body, error, code = 'VALIDATION']) => {
    const [method = '', url = ''] = ask.split(' ')
    const answer = await rules.ask(method, url, body)
    expect([answer.status, answer.at('code'), answer.at('error')]).toEqual([400, code, error])
  })

  it('of a discovery template that was not configured is 404', async () => {
    const { status, at } = await rules.ask('GET', '/api/discoveryTemplate')
    expect([status, at('error')]).toEqual([404, 'No discovery template is set'])
  })

  it('of an unknown plug names the node and the plug', async () => {
    const { body } = await rules.ask('POST', '/api/tasks', { ...ruleOf(), sensors: [{ ...sensor, name: 'heet' }] })
    expect(body).toMatchObject({ error: 'Plugin heet:1.0.0 not found', code: 'TRANSFORMATION' })
    expect(got(body, 'details.0')).toMatchObject({
      type: 'PLUGIN',
      severity: 'ERROR',
      details: { nodeId: 'hot', plugin: { name: 'heet', version: '1.0.0' } },
    })
  })

  it('of a missing variable names it', async () => {
    const { body } = await rules.ask('POST', '/api/tasks', { template: 'limited', name: 'a', resource: 'r' })
    expect(got(body, 'error')).toBe("Variable 'threshold' not found")
    expect(got(body, 'details')).toMatchObject([{ type: 'VARIABLE', details: { variable: 'threshold' } }])
  })

  it('reports all problems of a rule at once', async () => {
    const bad = {
      sensors: [{ ...sensor, sequence: 'first', properties: {} }],
      triggers: [{ sourceLabel: 'x', destinationLabel: 'hot' }],
      task: { type: 'often' },
    }
    const { status, body } = await rules.ask('POST', '/api/tasks', bad)
    expect(status).toBe(400)
    const places = ['/sensors/0/sequence', '/sensors/0/properties/limit', '/triggers/0/sourceLabel', '/task/type']
    expect(pluck(got(body, 'details'), 'path')).toEqual(expect.arrayContaining([...places, '/task/name']))
  })

  it('of invalid paging is equal for HEAD and GET', async () => {
    const { status } = await rules.ask('HEAD', '/api/tasks?hits=-1')
    expect(status).toBe(400)
    expect((await rules.ask('HEAD', '/api/tasks?hits=0&startIndex=5')).headers['x-count']).toBe('2')
  })
})

describe('data whose values have unusual names', () => {
  it('reaches only the named resource', async () => {
    const data = [{ parameterName: 'temperature', value: 95 }]
    expect((await rules.ask('POST', '/api/data', { resource: 'boiler-1', data })).body).toEqual({ taken: true })
    expect((await rules.ask('GET', `/api/tasks/${task}/nodes/hot`)).at('mostLikelyState')).toEqual({
      state: 'HOT',
      probability: 1,
    })
  })
})
