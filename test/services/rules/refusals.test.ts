/** Requests that are wrong in less usual ways: where the problem is, in the words of whoever sent it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../support/answer.ts'
import { bench, type Bench } from './support/bench-of-rules.ts'
import { ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
let task = ''
beforeAll(async () => {
  rules = await bench()
  await rules.ask('POST', '/api/templates', templateOf())
  task = textOf((await rules.ask('POST', '/api/tasks', ruleOf())).at('ID'))
})
afterAll(() => rules.close())

type Case = readonly [
  what: string,
  method: 'GET' | 'POST' | 'PATCH' | 'HEAD',
  url: string,
  body: unknown,
  error: string,
]

const upgrade = { operation: 'updatePlugins', updates: [{ name: 'heat', fromVersion: 'any', toVersion: '9.9.9' }] }
const values = (...names: readonly string[]) => names.map((parameterName) => ({ parameterName, value: 1 }))
const TAKEN = 'is the name of a field of the message itself (choose another name)'

const CASES: readonly Case[] = [
  [
    'a batch that is no object',
    'POST',
    '/api/batch',
    [],
    'the batch must be an object, not an array (write { "entity": "task", "action": ..., "query": ... })',
  ],
  [
    'a version that no plug has, for templates',
    'PATCH',
    '/api/templates?ids=overheating',
    upgrade,
    '/updates/0/toVersion <- heat:9.9.9 does not exist (write "toVersion": "1.1.0", the newest of heat)',
  ],
  [
    'latest as the version to update templates to',
    'PATCH',
    '/api/templates?ids=overheating',
    { operation: 'updatePlugins', updates: [{ name: 'heat', fromVersion: 'any', toVersion: 'latest' }] },
    '/updates/0/toVersion <- latest is no exact version (write "toVersion": "1.1.0", the newest of heat)',
  ],
  [
    'latest as the version to update tasks to',
    'POST',
    '/api/batch',
    {
      entity: 'task',
      action: 'updatePlugins',
      query: { ids: ['t1'] },
      actionParameters: { updates: [{ name: 'say', fromVersion: 'any', toVersion: 'latest' }] },
    },
    '/actionParameters/updates/0/toVersion <- latest is no exact version (write "toVersion": "1.0.0", the newest of say)',
  ],
  [
    'a command that there is not, for several tasks',
    'PATCH',
    '/api/tasks?ids=t1',
    { operation: 'command', command: 'strt' },
    '/command <- unknown command strt, we support delete, start, restart, stop, reload, stopAndDelete',
  ],
  [
    'a value that would be another resource',
    'POST',
    '/api/data',
    { resource: 'boiler-1', data: values('resource', 'temperature', 'timestamp') },
    `/data/0/parameterName <- "resource" ${TAKEN}; /data/2/parameterName <- "timestamp" ${TAKEN}`,
  ],
  [
    'a schedule in two languages',
    'GET',
    '/api/schedules/next?cron=0+0+*+*+*&rrule=FREQ%3DDAILY',
    undefined,
    '/rrule <- there is an expression already (keep one of expression, cron and rrule)',
  ],
  [
    'a cron that cannot be read',
    'GET',
    '/api/schedules/next?expression=soon',
    undefined,
    '/cron <- "soon" is not a cron expression (write 6 or 7 fields (second minute hour day-of-month month day-of-week [year]), 5 unix fields, or @hourly, @daily, @weekly, @monthly or @yearly)',
  ],
  [
    'a page of the log that nobody gave out',
    'POST',
    '/api/tasklogs',
    { taskId: 't1', pageToken: 'next' },
    '/pageToken <- "next" is no page of this log (send the pageToken of the page before)',
  ],
  [
    'the same in a query',
    'GET',
    '/api/tasklogs?taskId=t1&pageToken=next',
    undefined,
    '/pageToken <- "next" is no page of this log (send the pageToken of the page before)',
  ],
  [
    'a text that cannot be kept',
    'POST',
    '/api/tasks',
    ruleOf({ name: 'a\u0000b' }),
    'what was sent can neither be kept nor searched for: the field name has a NUL or half of a surrogate pair: "a\\u0000b"; the field words has a NUL or half of a surrogate pair: "a\\u0000b\\nt2\\nboiler-1\\n\\ntester"',
  ],
  [
    'a name of a resource that is too long',
    'POST',
    '/api/tasks',
    ruleOf({ resource: 'r'.repeat(3000) }),
    'what was sent can neither be kept nor searched for: a text of the field resource has 3000 bytes (at most 2000 are kept)',
  ],
]

describe('a refusal', () => {
  it.each(CASES)('of %s says what is wrong with it', async (_what, method, url, body, error) => {
    const { status, at } = await rules.ask(method, url, body)
    expect([status, at('error')]).toEqual([400, error])
  })

  it('of bad paging is the same for HEAD as for GET', async () => {
    const { status } = await rules.ask('HEAD', '/api/tasks?hits=-1')
    expect(status).toBe(400)
    expect((await rules.ask('HEAD', '/api/tasks?hits=0&startIndex=5')).headers['x-count']).toBe('1')
  })
})

describe('data whose values have odd names', () => {
  it('reaches the resource that was named, and no other', async () => {
    const data = [{ parameterName: 'temperature', value: 95 }]
    expect((await rules.ask('POST', '/api/data', { resource: 'boiler-1', data })).body).toEqual({ taken: true })
    expect((await rules.ask('GET', `/api/tasks/${task}/nodes/hot`)).at('mostLikelyState')).toEqual({
      state: 'HOT',
      probability: 1,
    })
  })
})
