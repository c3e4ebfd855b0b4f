import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../../../src/client.ts'
import type { QueriesApi } from '../../../src/services/queries/contract.ts'
import { bench, NOW, type Bench } from './support/bench-of-queries.ts'

const QUERY = { resource: 'A', metric: 't' }
const TIME = '2021-05-06T12:34:56.000Z'

describe.each(['in process', 'over HTTP'] as const)('stored queries, %s', (way) => {
  let queries: Bench
  let api: QueriesApi
  beforeEach(async () => {
    queries = await bench()
    if (way === 'in process') api = queries.api
    else {
      await queries.app.listen({ port: 0, host: '127.0.0.1' })
      const { port } = queries.app.server.address() as AddressInfo
      api = createClient({ url: `http://127.0.0.1:${port}` }).queries
    }
  })
  afterEach(() => queries.close())

  it('can be created, replaced, executed and deleted', async () => {
    const { stored } = api
    const made = await stored.create({ name: 'a/b c', query: QUERY, meta: { tags: ['x'] } })
    expect(made).toMatchObject({
      value: {
        name: 'a/b c',
        query: QUERY,
        meta: { tags: ['x'] },
        attrs: { created: TIME, created_by: 'users/tester', modified: TIME },
      },
      version: 1,
    })
    queries.clock.now += 1_000
    const changed = await stored.replace(
      'a/b c',
      { name: 'a/b c', query: { ...QUERY, freq: 'PT1H' } },
      { ifVersion: 1 },
    )
    expect(changed).toMatchObject({
      value: { meta: {}, attrs: { created: TIME, modified: '2021-05-06T12:34:57.000Z' } },
      version: 2,
    })
    expect(await stored.get('a/b c')).toMatchObject(changed)
    // a shown query can be sent back
    expect(await stored.replace('a/b c', { ...changed.value, _links: {}, messages: [] })).toMatchObject({ version: 3 })
    await queries.put('A', 't', { [NOW - 3_600_000]: 4 })
    expect(await api.execute({ stored: 'a/b c' }, { overrides: { aggregation: 'max' } })).toMatchObject({
      query: { aggregation: 'max' },
    })
    await stored.remove('a/b c', { ifVersion: 3 })
    await expect(stored.get('a/b c')).rejects.toMatchObject({ code: 'NOT_FOUND', message: "Query 'a/b c' not found" })
    await expect(stored.remove('a/b c')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('are rejected when the name exists, is invalid or differs, and when the version differs', async () => {
    const { stored } = api
    await stored.create({ query: QUERY }, 'q')
    await expect(stored.create({ name: 'q', query: QUERY })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: "Query 'q' already exists",
    })
    await expect(stored.replace('q', { name: 'p', query: QUERY })).rejects.toMatchObject({
      code: 'VALIDATION',
      issues: [{ path: '/name' }],
    })
    await expect(stored.replace('q', { query: QUERY }, { ifVersion: 7 })).rejects.toMatchObject({
      code: 'PRECONDITION',
    })
    await expect(stored.remove('q', { ifVersion: 7 })).rejects.toMatchObject({ code: 'PRECONDITION' })
    await expect(stored.create({ name: '..', query: QUERY })).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('may be incomplete, and may refer to unknown resources', async () => {
    await expect(api.stored.create({ name: 'half', query: {} })).resolves.toMatchObject({ version: 1 })
    await expect(api.execute({ stored: 'half' })).rejects.toMatchObject({ code: 'VALIDATION' })
    await expect(api.execute({ stored: 'half' }, { overrides: QUERY })).resolves.toMatchObject({ query: QUERY })
  })

  it('are found by a filter, in pages, sorted by name', async () => {
    const put = (name: string, meta: object, query: object = QUERY) => api.stored.create({ name, query, meta })
    await put('151CF-temperature', { tags: ['stable', 'demo'], description: 'Hot water', owner: 'ann lee' })
    await put('boiler-2', { tags: ['demo'] }, { data: [{ resource: 'B', metric: 'p' }] })
    queries.clock.now += 86_400_000
    await put('boiler-10', { tags: ['dummy'] }, { resources: ['C'], metric: 't' })
    await put('other', {})
    const names = async (q: string) => (await api.stored.search({ q })).queries.map(({ name }) => name)
    const all = ['151CF-temperature', 'boiler-10', 'boiler-2', 'other']
    for (const [q, expected] of [
      ['', all],
      ['name:Temperature', [all[0]]],
      ['boiler', [all[1], all[2]]],
      ['name:boiler-?', [all[2]]],
      ['name:boiler*', [all[1], all[2]]],
      ['-boiler', [all[0], all[3]]],
      ['tag:demo', [all[0], all[2]]],
      ['tag:stable,demo', [all[0]]],
      ['tag:stable,demo tag:dummy', [all[0], all[1]]],
      ['tag:demo -tag:stable', [all[2]]],
      ['resource:B', [all[2]]],
      ['resource:C metric:t', [all[1]]],
      ['-metric:t', [all[2]]],
      ['user:tester', all],
      ['user:nobody', []],
      ['created:/now-PT1H', [all[0], all[2]]],
      ['modified:2021-05-07/', [all[1], all[3]]],
      ['created:2021-05-06', [all[0], all[2]]],
      ['meta.owner:like(ann*)', [all[0]]],
      ["meta.description:contains('hot w')", [all[0]]],
      ['meta.owner:ann', []],
      ['meta.tags:dummy', [all[1]]],
      ['tag:demo name:boiler', [all[2]]],
    ] as const) {
      expect([q, await names(q)]).toEqual([q, expected])
    }
    if (way === 'in process') expect(await names('user:@me')).toEqual(all)
    const page = await api.stored.search({ limit: 1, offset: 1, q: 'boiler' })
    expect(page).toMatchObject({
      total: 2,
      offset: 1,
      limit: 1,
      queries: [{ name: 'boiler-2', meta: { tags: ['demo'] } }],
    })
    expect(page.queries[0]).not.toHaveProperty('query')
    expect(await api.stored.search({ limit: 0 })).toMatchObject({ total: 4, queries: [] })
  })

  it.each(['colour:red', 'created:yesterday', 'created:/', 'modified:now-P/'])('reject %s as a filter', async (q) => {
    await expect(api.stored.search({ q })).rejects.toMatchObject({ code: 'VALIDATION', issues: [{ path: '/q' }] })
  })
})

describe('stored queries over HTTP', () => {
  it('have links, messages and a version', async () => {
    await using queries = await bench()
    const made = await queries.ask('POST', '/config/query/a%20b', { query: QUERY })
    expect([made.status, made.headers['etag'], made.body]).toEqual([
      200,
      '"1"',
      {
        _links: {
          self: { href: 'http://localhost:80/config/query/a%20b' },
          execute: { href: 'http://localhost:80/data/query/a%20b' },
        },
        name: 'a b',
        query: QUERY,
        meta: {},
        attrs: { created: TIME, created_by: 'users/tester', modified: TIME, modified_by: 'users/tester' },
        messages: [],
      },
    ])
    const taken = await queries.ask('POST', '/config/query', { name: 'a b', query: QUERY })
    expect([taken.status, taken.at('error')]).toEqual([409, "Query 'a b' already exists"])
    const late = await queries.ask('PUT', '/config/query/a%20b', { query: QUERY }, { 'if-match': '"9"' })
    expect(late.status).toBe(412)
    const page = await queries.ask('GET', '/config/query?q=a&limit=1')
    expect(page.body).toMatchObject({
      messages: [],
      queries: [{ name: 'a b', _links: { execute: { href: 'http://localhost:80/data/query/a%20b' } } }],
      _links: { self: { href: 'http://localhost:80/config/query?q=a&limit=1&offset=0' }, first: {}, last: {} },
      count: 1,
      offset: 0,
      limit: 1,
      total: 1,
    })
    await queries.ask('POST', '/config/query/b', { query: QUERY })
    const links = (await queries.ask('GET', '/config/query?limit=1&offset=1')).at('_links')
    expect(links).toMatchObject({ prev: { href: expect.stringMatching(/offset=0$/) as string } })
    expect(links).not.toHaveProperty('next')
    const gone = await queries.ask('DELETE', '/config/query/a%20b')
    expect([gone.status, gone.body]).toEqual([200, { messages: [] }])
  })
})
