/** Tests what the services of one host share: templates of types, which rules evaluate, and the length of ids. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wholeHost, type WholeHost } from './whole-host.ts'

let host: WholeHost
const ask = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
  host.send(method, url, payload)

beforeAll(async () => {
  host = await wholeHost({ empty: true })
  const sensors = [{ label: 'any', name: 'stream', resource: '$' }]
  await ask('POST', '/api/templates', { name: 'plain', sensors })
  const taskDefaults = { type: 'periodic', frequency: 60_000 }
  await ask('POST', '/api/templates', { name: 'timed', sensors, taskDefaults })
})
afterAll(() => host[Symbol.asyncDispose]())

describe('a template of a resource type', () => {
  it.each<[object, string]>([
    [{ templateName: 'plain', type: 'sometimes' }, '/templates/0/type <- "sometimes" is not a type of tasks'],
    [{ templateName: 'plain', type: 'periodic' }, '/templates/0/frequency <- is missing'],
    [{ templateName: 'none', type: 'periodic' }, '/templates/0/frequency <- is missing'],
    [{ templateName: 'plain', type: 'scheduled' }, '/templates/0/cron <- is missing'],
    [{ templateName: 'plain', type: 'scheduled', cron: 'every day' }, '/templates/0/cron <- '],
    [{ templateName: 'plain', type: 'scheduled', rrule: 'FREQ=SOMETIMES' }, '/templates/0/rrule <- '],
  ])('without a possible start is rejected: %j', async (template, problem) => {
    for (const [method, url] of [
      ['POST', '/api/resourcetypes'],
      ['PATCH', '/api/resourcetypes/never'],
    ] as const) {
      const refused = await ask(method, url, { ...(method === 'POST' && { id: 'never' }), templates: [template] })
      expect([refused.statusCode, refused.json<{ error: string }>().error]).toEqual([
        400,
        expect.stringContaining(problem),
      ])
    }
    expect((await ask('GET', '/api/resourcetypes/never')).statusCode).toBe(404)
  })

  it.each([
    { templateName: 'plain' },
    { templateName: 'plain', type: 'periodic', frequency: 60_000 },
    { templateName: 'plain', type: 'scheduled', cron: '0 0 12 * * ?' },
    { templateName: 'timed', type: 'periodic' },
    { templateName: 'none', type: 'reactive' },
    { templateName: 'plain', type: 'sometimes', diagnosticTemplate: true },
  ])('with a possible start is accepted: %j', async (template) => {
    expect((await ask('PATCH', '/api/resourcetypes/fine', { templates: [template] })).statusCode).toBeLessThan(300)
  })

  it('that does not exist shows its reason on the type and on the resource', async () => {
    await ask('POST', '/api/resourcetypes', { id: 'lacks', templates: [{ templateName: 'gone', type: 'reactive' }] })
    await ask('POST', '/api/resources', { id: 'r', resourceTypeId: 'lacks' })
    const typeNow = async (): Promise<unknown> =>
      (await ask('GET', '/api/resourcetypes/lacks')).json<Record<string, unknown>>()['$lackingTasks']
    const reason = { templates: ['gone'], error: expect.stringContaining('gone') as unknown, resources: 1 }
    await expect.poll(typeNow).toEqual([reason])
    expect((await ask('GET', '/api/resources/r/explain')).json()).toContainEqual({
      attribute: '$lackingTasks',
      value: [reason],
      from: 'type',
      id: 'lacks',
    })
    const shown = (await ask('GET', '/api/resourcetypes/lacks')).json<object>()
    expect((await ask('PUT', '/api/resourcetypes/lacks', shown)).json()).not.toHaveProperty('$lackingTasks')
  })
})

describe.each(['é'.repeat(256), 'a'.repeat(512)])('an id of 512 bytes', (id) => {
  const path = encodeURIComponent(id)

  it('is accepted by every service, with the managed task of the resource', async () => {
    const name = `${id.slice(0, 1)}${'n'.repeat(169)}`
    await ask('POST', '/api/templates', { name, sensors: [{ label: 'any', name: 'stream', resource: '$' }] })
    await ask('POST', '/api/resourcetypes', { id, templates: [{ templateName: name, type: 'reactive' }] })
    const made = await ask('POST', '/api/resources', { id, resourceTypeId: id })
    expect(made.statusCode, made.body).toBe(201)
    expect((await ask('POST', `/resources/${path}/events`, { t: 1 })).statusCode).toBe(200)
    const alarm = { type: 'HEAT', text: 'hot', severity: 'MAJOR', source: { id } }
    expect((await ask('POST', '/alarm/alarms', alarm)).statusCode).toBe(200)
    const tasks = async (): Promise<unknown> => (await ask('GET', `/api/tasks?resource=${path}`)).headers['x-count']
    await expect.poll(tasks).toBe('1')
  })

  it('is the longest that any service accepts', async () => {
    const longer = `${id}x`
    const alarm = { type: 'HEAT', text: 'hot', severity: 'MAJOR', source: { id: longer } }
    for (const [url, body, place] of [
      ['/api/resources', { id: longer }, '/id'],
      ['/api/resourcetypes', { id: longer }, '/id'],
      [`/resources/${encodeURIComponent(longer)}/events`, { t: 1 }, '/resource'],
      ['/messages', { resource: longer, t: 1 }, '/resource'],
      ['/alarm/alarms', alarm, '/source/id'],
    ] as const) {
      const refused = await ask('POST', url, body)
      expect([url, refused.statusCode]).toEqual([url, 400])
      expect(refused.body).toContain(place)
      expect(refused.body).toContain('has more than 512 bytes')
    }
  })
})

const ALARM = { type: 'HEAT', text: 'hot', severity: 'MAJOR', source: { id: 'boiler-1' } }
const TASK = { sensors: [{ label: 'any', name: 'stream', resource: '$' }], task: { name: 't', resource: 'boiler-1' } }

it.each<[string, object, string]>([
  ['/api/tasks', TASK, 'Task with id none not found'],
  ['/api/resources', { id: 'own' }, 'No resource with id none'],
  ['/alarm/alarms', ALARM, "alarm with id 'none' not found"],
])('data of a tenant at %s is as invisible to another tenant as data that does not exist', async (url, body, error) => {
  const made = await host.ask('POST', url, body)
  expect(made.status, JSON.stringify(made.body)).toBeLessThan(300)
  const { entity = made.body } = made.body as { entity?: { ID?: string; id?: string } }
  const own = `${url}/${String(entity['ID'] ?? entity['id'])}`
  expect([
    (await host.send('GET', own)).statusCode,
    (await host.ask('GET', own, undefined, 'umbrella')).status,
  ]).toEqual([200, 404])
  expect((await host.ask('GET', `${url}/none`)).body).toEqual({ statusCode: 404, error, code: 'NOT_FOUND' })
})

it('a resource is deleted with what the request names', async () => {
  await ask('POST', '/resources/boiler-8/events', { temperature: 90 })
  await expect.poll(async () => (await ask('GET', '/api/resources/boiler-8')).statusCode).toBe(200)
  const alarm = { type: 'HOT', text: 'hot', severity: 'MAJOR', source: { id: 'boiler-8' } }
  expect((await ask('POST', '/alarm/alarms', alarm)).statusCode).toBeLessThan(300)
  const alarms = async () => (await ask('GET', '/alarm/alarms?source=boiler-8')).json<{ total: number }>().total
  expect(await alarms()).toBe(1)
  const gone = await ask('DELETE', '/api/resources/boiler-8?cascade=alarms&cascade=measurements&cascade=tasks')
  expect(gone.statusCode, gone.body).toBe(204)
  await expect.poll(() => alarms()).toBe(0)
  expect((await ask('GET', '/resources/boiler-8/current')).statusCode).toBe(404)
})
