/**
 * Tests writes that apply only to the version that the writer has seen: for every entity with an ETag, and for every
 * other writing route.
 */
import { fastify, type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { host } from '../../src/host/index.ts'
import { printedRoutes } from './printed-routes.ts'
import { basic } from './sample-host.ts'

let app: FastifyInstance
beforeAll(async () => {
  app = fastify()
  await app.register(host, { store: 'memory:', key: 'k', secret: 's' })
})
afterAll(() => app.close())

async function ask(method: string, url: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    headers: { authorization: basic('k', 's'), ...headers },
    ...(body && { payload: body }),
  })
  const { statusCode, headers: answered } = answer
  const etag = answered['etag']
  return { statusCode, body: answer.body, etag: typeof etag === 'string' ? etag : '' }
}

const sensors = [{ label: 'warm', name: 'condition', properties: { condition: '1 > 0' } }]
const alarm = { type: 'Hot', text: 'too hot', severity: 'MAJOR', source: { id: 'boiler' } }
const query = { name: 'q', query: { data: [{ metric: 'm', resource: 'r' }] } }

interface Entity {
  readonly name: string
  /** Creates the entity and returns its path */
  readonly made: () => Promise<string>
  readonly write: { readonly method: string; readonly body: (turn: number) => object; readonly below?: string }
}

const made = async (url: string, body: object): Promise<string> => {
  const answer = await ask('POST', url, body)
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  return answer.body
}
const idIn = (body: string): string =>
  (JSON.parse(body) as { ID?: string; id?: string }).ID ?? (JSON.parse(body) as { id: string }).id
const ruleOf = (turn: number) => ({ sensors, task: { name: `task ${turn}`, start: false } })
const contactOf = (turn: number) => ({
  description: `turn ${turn}`,
  channels: [{ type: 'email', to: ['ann@example.com'] }],
})
const windowOf = (turn: number) => ({
  title: `turn ${turn}`,
  effect: 'suppress',
  select: { types: ['HOT'] },
  until: '2090-01-01T00:00:00Z',
})
const ENTITIES: readonly Entity[] = [
  {
    name: 'a template',
    made: async () => (await made('/api/templates', { name: 't', sensors }), '/api/templates/t'),
    write: { method: 'PUT', body: (turn) => ({ name: 't', description: `turn ${turn}`, sensors }) },
  },
  {
    name: 'a task',
    made: async () => `/api/tasks/${idIn(await made('/api/tasks', ruleOf(0)))}`,
    write: { method: 'PUT', body: ruleOf },
  },
  {
    name: 'a task by a command',
    made: async () => `/api/tasks/${idIn(await made('/api/tasks', ruleOf(0)))}`,
    write: { method: 'POST', below: '/command/restart', body: () => ({}) },
  },
  {
    name: 'an alarm',
    made: async () => `/alarm/alarms/${idIn(await made('/alarm/alarms', alarm))}`,
    write: { method: 'PUT', body: (turn) => ({ assignee: `user ${turn}` }) },
  },
  {
    name: 'a type of alarms',
    made: async () => (await ask('PUT', '/alarm/types/HOT', {}), '/alarm/types/HOT'),
    write: { method: 'PUT', body: (turn) => ({ texts: { cause: `leak ${turn}` } }) },
  },
  {
    name: 'a calendar',
    made: async () => (await ask('PUT', '/api/calendars/c', { zone: 'UTC' }), '/api/calendars/c'),
    write: { method: 'PUT', body: (turn) => ({ zone: 'UTC', description: `turn ${turn}` }) },
  },
  {
    name: 'a contact',
    made: async () => (await ask('PUT', '/alarm/contacts/c', contactOf(0)), '/alarm/contacts/c'),
    write: { method: 'PUT', body: contactOf },
  },
  {
    name: 'a policy',
    made: async () => (await ask('PUT', '/alarm/policies/p', { contacts: ['c'] }), '/alarm/policies/p'),
    write: { method: 'PUT', body: (turn) => ({ contacts: ['c'], description: `turn ${turn}` }) },
  },
  {
    name: 'a maintenance window',
    made: async () => (await ask('PUT', '/alarm/windows/w', windowOf(0)), '/alarm/windows/w'),
    write: { method: 'PUT', body: windowOf },
  },
  {
    name: 'a resource',
    made: async () => (await made('/api/resources', { id: 'r' }), '/api/resources/r'),
    write: { method: 'PATCH', body: (turn) => ({ turn }) },
  },
  {
    name: 'a resource type',
    made: async () => (await made('/api/resourcetypes', { id: 'rt' }), '/api/resourcetypes/rt'),
    write: { method: 'PATCH', body: (turn) => ({ turn }) },
  },
  {
    name: 'a stored query',
    made: async () => (await made('/config/query', query), '/config/query/q'),
    write: { method: 'PUT', body: (turn) => ({ ...query, meta: { turn } }) },
  },
]

describe('a write with a condition', () => {
  it.each(ENTITIES)('succeeds for $name in the state that the writer read', async ({ made: make, write }) => {
    const url = await make()
    const put = (turn: number, headers: Readonly<Record<string, string>>) =>
      ask(write.method, `${url}${write.below ?? ''}`, write.body(turn), headers)
    const first = (await ask('GET', url)).etag
    expect(first).toMatch(/^"\d+"$/)
    for (const headers of [
      { 'if-match': '"999999"' },
      { 'if-match': 'x' },
      { 'if-none-match': '*' },
      { 'if-none-match': first },
      { 'if-none-match': `"7777", ${first}` },
      { 'if-match': first, 'if-none-match': first },
    ]) {
      const { statusCode, body } = await put(1, headers)
      expect([headers, statusCode], body).toEqual([headers, 412])
      expect(body).toContain('PRECONDITION')
    }
    expect((await ask('GET', url)).etag).toBe(first)
    const done = await put(2, { 'if-match': first })
    expect(done.statusCode, done.body).toBeLessThan(300)
    const second = (await ask('GET', url)).etag
    expect(done.etag).toBe(second)
    expect(second).not.toBe(first)
    expect((await put(3, { 'if-match': first })).statusCode).toBe(412)
    const third = (await put(4, { 'if-none-match': first })).etag
    for (const tags of [`"7777", ${third}`, '*'])
      expect((await put(tags.length, { 'if-match': tags })).statusCode).toBeLessThan(300)
    const last = (await ask('GET', url)).etag
    const removing = url.startsWith('/api/tasks') ? `${url}?forceStop=true` : url
    expect((await ask('DELETE', removing, undefined, { 'if-match': first })).statusCode).toBe(412)
    expect((await ask('DELETE', removing, undefined, { 'if-match': last })).statusCode).toBeLessThan(300)
    expect((await ask('GET', url)).statusCode).toBe(404)
  })

  it.each([
    ['/api/resources/new', {}],
    ['/config/query/new', query.query],
  ])('creates %s only if it does not exist, with If-None-Match: *', async (url, body) => {
    const payload = url.startsWith('/config') ? { query: body } : body
    const only = { 'if-none-match': '*' }
    expect((await ask('PUT', url, payload, only)).statusCode).toBeLessThan(300)
    expect((await ask('PUT', url, payload, only)).statusCode).toBe(412)
  })

  it('fails for a template that was deleted and created again', async () => {
    const url = '/api/templates/again'
    await made('/api/templates', { name: 'again', sensors })
    const { etag } = await ask('GET', url)
    await ask('DELETE', url)
    await made('/api/templates', { name: 'again', sensors })
    expect((await ask('DELETE', url, undefined, { 'if-match': etag })).statusCode).toBe(412)
  })

  it('loses none of many writes of one version', async () => {
    const url = `/alarm/alarms/${idIn(await made('/alarm/alarms', { ...alarm, type: 'Cold' }))}`
    const headers = { 'if-match': (await ask('GET', url)).etag }
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => ask('PUT', url, { assignee: `u${i}` }, headers)),
    )
    expect(answers.map(({ statusCode }) => statusCode).sort((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(7).fill(412),
    ])
  })
})

/** Webscripts and object contents read headers themselves; a session and a signed link have no caller. */
const PUBLIC = /^\/(?:reflexarc-ws-one|api\/v1|functions\/v1|auth\/v1\/session|alarm\/links)(?:\/|$)/
/** Routes that evaluate `If-Match` and `If-None-Match`. */
const READ =
  /^(?:PUT|DELETE) \/api\/(?:templates|tasks)\/one$|^POST \/api\/tasks\/one\/command\/|^POST \/api\/templates\/one\/versions\/one\/publish$|^POST \/api\/tasks\/one\/versions\/one\/restore$|^(?:PUT|DELETE) \/alarm\/(?:alarms|types|windows|contacts|policies)\/one$|^(?:PUT|DELETE) \/api\/calendars\/one$|^(?:PUT|PATCH|DELETE) \/api\/resource(?:s|types)\/one$|^(?:PUT|DELETE) \/config\/query\/one$|^PUT \/retention\/v1\/rules$/

describe('a condition that a route does not support', () => {
  it('is rejected by name by every route that writes', async () => {
    const odd: string[] = []
    const routes = printedRoutes(app).filter(({ method, url }) => method !== 'GET' && !PUBLIC.test(url))
    expect(routes.length).toBeGreaterThan(120)
    for (const { method, url } of routes) {
      for (const name of ['if-match', 'if-none-match', 'if-unmodified-since']) {
        if (READ.test(`${method} ${url}`) && name !== 'if-unmodified-since') continue
        const { statusCode, body } = await ask(method, url, {}, { [name]: '"1"' })
        if (![400, 422].includes(statusCode) || !body.toLowerCase().includes(name))
          odd.push(`${method} ${url} ${name}: ${statusCode}`)
      }
    }
    expect(odd).toEqual([])
  })
})
