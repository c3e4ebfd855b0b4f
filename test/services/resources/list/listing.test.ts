/** Tests which resources a listing returns, in which order and form. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { pluck } from '../../support/answer.ts'
import { bench, type Bench } from '../support/bench-of-resources.ts'

const GHENT = { lat: 51.0543, lon: 3.7174 }
const BRUSSELS = { lat: 50.8503, lon: 4.3517 }

const RESOURCES = [
  { id: 'a', name: 'Pump one', tags: ['x', 'y'], provider: 'acme', location: GHENT, limits: { low: 3 }, on: true },
  { id: 'b', name: 'pump two', tags: ['x'], customer: 'c1', location: BRUSSELS, limits: { low: 20 } },
  { id: 'c', resourceTypeId: 't', parentId: 'a', limits: { low: 'many' } },
  { id: 'd', resourceTypeId: 't', provider: 'other', parentId: 'a', near: { $ref: '/resources/a', since: 2020 } },
  { id: 'e', alias: 'Äpfel', metrics: [{ name: 'temperature' }, { name: 'level' }], lastMessageTimestamp: 1000 },
]
const TYPE = { id: 't', name: 'Valve', tags: ['y'], provider: 'acme', location: GHENT, firmware: '2.1.0' }

let resources: Bench
beforeAll(async () => {
  resources = await bench({ storage: openMemory() })
  await resources.api.types.create(TYPE)
  for (const each of RESOURCES) await resources.api.resources.create(each)
})
afterAll(() => resources.close())

const listed = async (query: string): Promise<string> => {
  const answer = await resources.ask('GET', `/api/resources?${query}`)
  expect(answer.status, answer.text).toBe(200)
  const ids = pluck(answer.at('values'), 'id').join('')
  if (!/skip|limit/.test(query)) expect(answer.headers['x-count']).toBe(String(ids.length))
  return ids
}

describe('a listing of resources', () => {
  it.each([
    ['', 'abcde'],
    ['filter=PUMP', 'ab'],
    ['filter=valve', 'cd'],
    ['filter=äpf', 'e'],
    ['filter=acme', 'ac'],
    ['filter=nothing', ''],
    ['tag=x', 'ab'],
    ['tag=y', 'acd'],
    ['tag=x&tag=y', 'a'],
    ['id=b&id=e&id=none', 'be'],
    ['provider=acme', 'ac'],
    ['provider=acm', ''],
    ['customer=c1', 'b'],
    ['resourceTypeId=t', 'cd'],
    ['resourceTypeId=t&provider=acme', 'c'],
    ['toplevelOnly=true', 'abe'],
    ['toplevelOnly=false', 'abcde'],
    ['skip=1&limit=2', 'bc'],
    ['limit=0', ''],
    ['skip=9', ''],
    ['order=descending', 'edcba'],
    ['sort=name', 'acdbe'],
    ['sort=name&order=descending', 'bcdae'],
    ['sort=limits.low', 'abcde'],
    ['sort=limits.low&order=descending', 'cbade'],
    ['sort=limits.low&skip=1&limit=1', 'b'],
    ['sort=lastMessageTimestamp', 'eabcd'],
  ])('with ?%s returns %s', async (query, ids) => {
    expect(await listed(query)).toBe(ids)
  })

  it.each([
    ['1', 'acd'],
    ['0m', 'acd'],
    ['49km', 'acd'],
    ['51 kilometers', 'abcd'],
    ['30000km', 'abcd'],
  ])('within %s of Ghent returns %s', async (distance, ids) => {
    expect(await listed(`lat=${GHENT.lat}&lon=${GHENT.lon}&distance=${encodeURIComponent(distance)}`)).toBe(ids)
  })

  it.each([
    ['name:eq("Pump one")', 'a'],
    ['name:"Pump one"', 'a'],
    ['provider:acme', 'ac'],
    ['provider:in(acme,other)', 'acd'],
    ['tags:x', 'ab'],
    ['tags:in(x,y)', 'a'],
    ['tags:exists()', 'abcd'],
    ['name:like(*ump*)', 'ab'],
    ['name:like(?ump*)', 'ab'],
    ['name:like(P*)', 'a'],
    ['near:ref(/resources/a)', 'd'],
    ['other:ref(/resources/a)', ''],
    ['near.since:2020', 'd'],
    ['near:exists()', 'd'],
    ['metrics.name:level', 'e'],
    ['parentId:a AND provider:acme', 'c'],
    ['provider:other OR tags:x', 'abd'],
    ['provider:other OR limits.low:3', 'ad'],
    ['provider:acme OR provider:other AND tags:x', 'ac'],
    ['(provider:acme OR provider:other) AND tags:x', 'a'],
    ['firmware:2.1.0 and id:in(a,c)', 'c'],
    ['firmware:lt("3")', 'cd'],
    ['firmware:lt(3)', ''],
    ['name:exists() AND (id:a OR (id:b AND tags:x))', 'ab'],
  ])('with the query %s returns %s', async (query, ids) => {
    expect(await listed(`query=${encodeURIComponent(query)}`)).toBe(ids)
  })

  it.each([
    [`filter=${'x'.repeat(257)}`, "/filter <- Bad request: 'filter' parameter can only be 256 characters"],
    ['lat=1&lon=2', '/distance <- is missing (a search by location requires lat, lon and distance)'],
    ['distance=1km', '/lat <- is missing (a search by location requires lat, lon and distance)'],
    ['sort=__proto__.x', '/sort <- "__proto__.x" is not the path of an attribute'],
    ['fields=a,constructor', '/fields <- "constructor" is not the path of an attribute'],
    ['q=x', '/q <- is not supported (use query, such as query=name:like(pump*))'],
  ])('rejects ?%s', async (query, error) => {
    const refused = await resources.ask('GET', `/api/resources?${query}`)
    expect([refused.status, refused.at('error')]).toEqual([400, error])
  })

  it.each([
    ['name', '":" is expected at character 5'],
    ['name:', 'a value or an operator is expected'],
    ['name:above(3)', 'the operator "above" is unknown'],
    ['name:gt(3', '")" is expected'],
    ['name:gt()', 'gt takes one argument, not 0'],
    ['name:exists(1)', 'exists takes no argument, not 1'],
    ['name:"x', 'a closing quote is expected'],
    ['name:x tags:y', 'AND or OR is expected'],
    ['name:x AND', 'the path of an attribute is expected'],
    ['__proto__:x', 'the path of an attribute is expected'],
    ['('.repeat(20), 'nests deeper than 10 brackets'],
    ['a:b AND '.repeat(60), 'has more than 50 terms'],
    [`a:${'x'.repeat(5000)}`, 'has 5002 characters; at most 4000 are accepted'],
  ])('rejects the query %s', async (query, problem) => {
    const refused = await resources.ask('GET', `/api/resources?query=${encodeURIComponent(query)}`)
    expect([refused.status, String(refused.at('error'))]).toEqual([
      400,
      expect.stringContaining(`/query <- ${problem}`),
    ])
  })

  it('reports all problems at once', async () => {
    const refused = await resources.ask('GET', '/api/resources?skip=x&limit=y&order=z')
    expect(pluck(refused.at('details'), 'instancePath')).toEqual(['/order', '/skip', '/limit'])
  })

  it('shows inherited values by default, and finds by them in any case', async () => {
    const shown = await resources.ask('GET', '/api/resources?id=c&tag=y')
    expect(shown.at('values.0')).toMatchObject({ id: 'c', name: 'Valve', firmware: '2.1.0' })
    const own = await resources.ask('GET', '/api/resources?id=c&tag=y&denormalized=false')
    expect(own.at('values.0')).toEqual({ id: 'c', resourceTypeId: 't', parentId: 'a', limits: { low: 'many' } })
  })

  it('returns selected fields', async () => {
    const some = await resources.ask('GET', '/api/resources?id=a&id=c&field=name&fields=limits.low,none')
    expect(some.at('values')).toEqual([
      { id: 'a', name: 'Pump one', limits: { low: 3 } },
      { id: 'c', name: 'Valve', limits: { low: 'many' } },
    ])
  })

  it('is a table if requested', async () => {
    const accept = { accept: 'text/csv' }
    const table = await resources.ask('GET', '/api/resources?id=a&id=b&fields=id,name,limits,on', undefined, accept)
    expect(table.headers['content-type']).toContain('text/csv')
    expect(table.text).toBe('id,name,limits,on\r\na,Pump one,"{""low"":3}",true\r\nb,pump two,"{""low"":20}",\r\n')
    const refused = await resources.ask('GET', '/api/resources', undefined, accept)
    expect([refused.status, refused.at('error')]).toEqual([
      400,
      'Expecting a fields parameter when the Accept header is set to text/csv',
    ])
  })

  it('has links in HAL', async () => {
    const page = await resources.ask('GET', '/api/resources?skip=2&limit=2&tag=y&tag=y', undefined, {
      accept: 'application/hal+json',
    })
    expect(page.body).toMatchObject({ count: 1, total: 3, limit: 2, skip: 2, _embedded: { values: [{ id: 'd' }] } })
    expect(page.at('_links')).toEqual({
      self: { href: 'http://localhost:80/api/resources?skip=2&limit=2&tag=y&tag=y' },
      prev: { href: 'http://localhost:80/api/resources?skip=0&limit=2&tag=y&tag=y' },
    })
    const first = await resources.ask('GET', '/api/resources?limit=2', undefined, { accept: 'application/hal+json' })
    expect(first.at('_links.next.href')).toBe('http://localhost:80/api/resources?limit=2&skip=2')
    expect(first.at('_embedded.values.0._links.children.href')).toBe('http://localhost:80/api/resources/a/children')
  })
})
