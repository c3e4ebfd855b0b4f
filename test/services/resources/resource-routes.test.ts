/** Tests resources over HTTP: codes, texts and forms. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pluck } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-resources.ts'

let resources: Bench
beforeEach(async () => {
  resources = await bench()
})
afterEach(() => resources.close())

const HAL = { accept: 'application/hal+json' }
const PAGED = { accept: 'application/vnd.service.paged+json' }

describe('creating a resource', () => {
  it('returns its address and the stored resource', async () => {
    const made = await resources.ask('POST', '/api/resources', { id: 'r1', name: 'test' })
    expect([made.status, made.body]).toEqual([
      201,
      { statusCode: 201, uri: 'http://localhost:80/api/resources/r1', entity: { id: 'r1', name: 'test' } },
    ])
    expect(made.headers).toMatchObject({ location: 'http://localhost:80/api/resources/r1', etag: '"1"' })
  })

  it('accepts ids of any characters', async () => {
    const made = await resources.ask('POST', '/api/resources', { id: '/abc/äxx ?#' })
    expect(made.at('uri')).toBe('http://localhost:80/api/resources/%2Fabc%2F%C3%A4xx%20%3F%23')
    expect((await resources.ask('GET', String(made.at('uri')))).at('id')).toBe('/abc/äxx ?#')
  })

  it.each(['.', '..'])('rejects %s, which a URL cannot contain', async (id) => {
    const made = await resources.ask('POST', '/api/resources', { id })
    expect([made.status, made.at('error')]).toEqual([400, expect.stringContaining('/id <- cannot be part of a URL')])
    expect((await resources.ask('POST', '/api/resourcetypes', { id })).status).toBe(400)
    await resources.service.discover([{ resource: id, time: NOON, message: {} }])
    expect((await resources.api.resources.list({})).total).toBe(0)
  })

  it('treats null as absent', async () => {
    const made = await resources.ask('POST', '/api/resources', { id: 'r1', name: null, a: { b: null } })
    expect(made.at('entity')).toEqual({ id: 'r1', a: { b: null } })
  })

  it('reports all problems at once, as a validation error', async () => {
    const refused = await resources.ask('POST', '/api/resources', { id: 'r', name: 1, owner: 2 })
    expect(pluck(refused.at('details'), 'instancePath')).toEqual(['/name', '/owner'])
    expect(refused.at('details.0')).toEqual({
      schemaPath: '#',
      errors: {},
      keyword: 'type',
      msgs: ['Property name must be a string.'],
      value: 1,
      instancePath: '/name',
    })
  })

  it('rejects such keys, cycles and oversized bodies from in-process callers too', async () => {
    const { resources: api } = resources.api
    await expect(api.create(JSON.parse('{"id":"r","__proto__":1}'))).rejects.toThrow('/__proto__ <- ')
    const circle: Record<string, unknown> = { id: 'r' }
    circle['self'] = circle
    await expect(api.create(circle)).rejects.toThrow('/self <- is nested deeper than')
    await expect(api.create({ id: 'r', a: 'x'.repeat(300_000) })).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })
})

describe('changing a resource', () => {
  beforeEach(() => resources.ask('POST', '/api/resources', { id: 'r1', name: 'a', limits: { low: 1 }, tags: ['x'] }))

  it.each(['PUT', 'PATCH'] as const)('rejects another id in the body of a %s', async (method) => {
    const refused = await resources.ask(method, '/api/resources/r1', { id: 'r2' })
    expect([refused.status, refused.at('error')]).toEqual([400, '/id <- is "r2", but the path contains "r1" (omit it)'])
  })

  it('never repeats a version, even after a deletion', async () => {
    const first = await resources.ask('GET', '/api/resources/r1')
    await resources.ask('DELETE', '/api/resources/r1')
    const second = await resources.ask('PUT', '/api/resources/r1', {})
    expect(second.headers['etag']).not.toBe(first.headers['etag'])
  })
})

describe('parents', () => {
  beforeEach(async () => {
    for (const body of [{ id: 'a' }, { id: 'b', parentId: 'a' }, { id: 'c', parentId: 'b' }]) {
      await resources.ask('POST', '/api/resources', body)
    }
  })

  it('may be missing', async () => {
    expect((await resources.ask('POST', '/api/resources', { id: 'x', parentId: 'nobody' })).status).toBe(201)
  })

  it('cannot form a cycle; the error names it', async () => {
    const refused = await resources.ask('PATCH', '/api/resources/a', { parentId: 'c' })
    expect([refused.status, refused.at('error')]).toEqual([
      400,
      '/parentId <- the resource would be its own ancestor: a -> c -> b -> a (choose another parent)',
    ])
    const self = await resources.ask('PATCH', '/api/resources/a', { parentId: 'a' })
    expect(self.at('error')).toContain('a -> a')
  })

  it('cannot form a cycle by two concurrent writers', async () => {
    for (const id of ['p', 'q']) await resources.ask('POST', '/api/resources', { id })
    const both = await Promise.all([
      resources.ask('PATCH', '/api/resources/p', { parentId: 'q' }),
      resources.ask('PATCH', '/api/resources/q', { parentId: 'p' }),
    ])
    expect(both.map(({ status }) => status)).toContain(400)
  })
})

describe('deleting a resource', () => {
  it('is rejected while others have it as parent or refer to it', async () => {
    await resources.ask('POST', '/api/resources', { id: 'r1', me: { $ref: '/resources/r1' } })
    await resources.ask('POST', '/api/resources', { id: 'child', parentId: 'r1' })
    await resources.ask('POST', '/api/resources', { id: 'both', parentId: 'r1', peer: { $ref: '/resources/r1' } })
    await resources.ask('POST', '/api/resources', { id: 'friend', peer: { $ref: '/resources/r1', since: 2020 } })
    const refused = await resources.ask('DELETE', '/api/resources/r1')
    expect([refused.status, refused.at('error')]).toEqual([
      400,
      'Resource is still parent of or referenced by 3 resource(s)',
    ])
  })

  it('deletes the requested dependents', async () => {
    const asked: string[] = []
    await using cascading = await bench({
      cascades: { alarms: async (id) => void asked.push(id) },
    })
    await cascading.ask('POST', '/api/resources', { id: 'r1' })
    const wrong = await cascading.ask('DELETE', '/api/resources/r1?cascade=everything')
    expect([wrong.status, wrong.at('error')]).toEqual([
      400,
      '/cascade <- "everything" is unknown (write one of alarms, measurements, tasks)',
    ])
    const reader = cascading.api.changes()
    expect((await cascading.ask('DELETE', '/api/resources/r1?cascade=alarms&cascade=tasks')).status).toBe(204)
    expect(asked).toEqual(['r1'])
    const told = await reader.next()
    expect(told.value).toMatchObject({ value: { type: 'delete', cascadeDelete: ['alarms', 'tasks'] } })
  })
})

describe('parts of a resource', () => {
  beforeEach(async () => {
    await resources.ask('POST', '/api/resourcetypes', {
      id: 't',
      color: 'red',
      name: 'pump',
      area: { $ref: '/resources/hall' },
    })
    await resources.ask('POST', '/api/resources', { id: 'p' })
    await resources.ask('POST', '/api/resources', { id: 'r1', parentId: 'p', resourceTypeId: 't', name: 'mine' })
  })

  it('are shown with inherited values, or only its own', async () => {
    expect((await resources.ask('GET', '/api/resources/r1')).body).toEqual({
      id: 'r1',
      parentId: 'p',
      resourceTypeId: 't',
      name: 'mine',
      color: 'red',
      area: { $ref: '/resources/hall' },
    })
    expect((await resources.ask('GET', '/api/resources/r1?denormalized=false')).body).toEqual({
      id: 'r1',
      parentId: 'p',
      resourceTypeId: 't',
      name: 'mine',
    })
  })

  it('show the origin of each value', async () => {
    const { body } = await resources.ask('GET', '/api/resources/r1/explain')
    expect(body).toEqual([
      { attribute: 'area', value: { $ref: '/resources/hall' }, from: 'type', id: 't' },
      { attribute: 'color', value: 'red', from: 'type', id: 't' },
      { attribute: 'id', value: 'r1', from: 'resource', id: 'r1' },
      { attribute: 'name', value: 'mine', from: 'resource', id: 'r1', hidden: 'pump' },
      { attribute: 'parentId', value: 'p', from: 'resource', id: 'r1' },
      { attribute: 'resourceTypeId', value: 't', from: 'resource', id: 'r1' },
    ])
  })

  it('have links in HAL', async () => {
    const one = await resources.ask('GET', '/api/resources/r1', undefined, HAL)
    expect(one.headers['content-type']).toContain('application/hal+json')
    expect(one.at('_links')).toEqual({
      self: { href: 'http://localhost:80/api/resources/r1' },
      parent: { href: 'http://localhost:80/api/resources/p', id: 'p' },
      resourceType: { href: 'http://localhost:80/api/resourcetypes/t', id: 't' },
      area: { href: 'http://localhost:80/api/resources/hall', id: 'hall' },
    })
    const parent = await resources.ask('PATCH', '/api/resources/p', {}, HAL)
    expect(parent.at('_links')).toEqual({
      self: { href: 'http://localhost:80/api/resources/p' },
      children: { href: 'http://localhost:80/api/resources/p/children' },
    })
  })
})

describe('the history of a resource', () => {
  it('contains every write, newest first, ten by default', async () => {
    await resources.ask('POST', '/api/resources', { id: 'r1' }, { 'x-user': 'ann' })
    for (let n = 1; n <= 11; n++) await resources.ask('PATCH', '/api/resources/r1', { n: Math.ceil(n / 2) })
    resources.clock.now += 1000
    await resources.ask('DELETE', '/api/resources/r1')
    const plain = await resources.ask('GET', '/api/resources/r1/changes')
    expect(plain.headers['x-count']).toBe('13')
    expect(pluck(plain.body, 'change')).toEqual(['deleted', ...Array.from({ length: 9 }, () => 'updated')])
    expect(plain.at('0')).toEqual({
      time: new Date(NOON + 1000).toISOString(),
      userId: 'tester',
      change: 'deleted',
      resourceId: 'r1',
    })
    const paged = await resources.ask('GET', '/api/resources/r1/changes?skip=12&limit=5', undefined, PAGED)
    expect(paged.body).toEqual({
      values: [
        {
          time: new Date(NOON).toISOString(),
          userId: 'ann',
          change: 'created',
          resourceId: 'r1',
          resource: { id: 'r1' },
        },
      ],
      skip: 12,
      limit: 5,
      total: 13,
    })
  })
})
