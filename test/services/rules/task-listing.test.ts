import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { got, pluck } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { ONCE, ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
  await rules.ask('POST', '/api/templates', templateOf())
})
afterEach(() => rules.close())

const PAGED = 'application/vnd.service.paged+json'

async function idsOf(query: string): Promise<readonly unknown[]> {
  const { status, body } = await rules.ask('GET', `/api/tasks?hits=100&${query}`)
  expect(status, query).toBe(200)
  return pluck(body, 'ID')
}

describe('a listing', () => {
  beforeEach(async () => {
    await rules.ask('POST', '/api/tasks', ruleOf({ name: 'boiler north', tags: { site: 'ghent', floor: 2 } }))
    rules.clock.advanceTo(NOON + 1000)
    await rules.ask(
      'POST',
      '/api/tasks',
      ruleOf({
        name: 'boiler south',
        start: false,
        resource: 'boiler-2',
        tags: { site: 'bruges', note: { deep: true } },
      }),
    )
    rules.clock.advanceTo(NOON + 2000)
    await rules.ask(
      'POST',
      '/api/tasks',
      { template: 'overheating', name: 'made', resource: 'boiler-1' },
      { 'x-user': 'ann' },
    )
    rules.clock.advanceTo(NOON + 3000)
    await rules.ask('POST', '/api/tasks', ONCE)
    rules.clock.advanceTo(NOON + 4000)
    await rules.api.tasks.runs('t4')
  })

  it('is an array, newest first, with the total in X-Count', async () => {
    const { body, headers } = await rules.ask('GET', '/api/tasks')
    expect(pluck(body, 'ID')).toEqual(['t4', 't3', 't2', 't1'])
    expect(headers['x-count']).toBe('4')
    expect(got(body, '0')).toMatchObject({ ID: 't4', name: 'once', network: { nodes: [{ name: 'on' }] } })
  })

  it.each([
    ['name=boiler%20north', ['t1']],
    ['name=boiler*', ['t2', 't1']],
    ['resource=boiler-1', ['t3', 't1']],
    ['type=onetime', ['t4']],
    ['status=running', ['t3', 't1']],
    ['ids=t1,t4,nope', ['t4', 't1']],
    ['id=t2&id=t3', ['t3', 't2']],
    ['id=t2&ids=t1', ['t2', 't1']],
    ['ids=', []],
    ['plugin=heat', ['t3', 't2', 't1']],
    ['plugin=heat:1.0.0', ['t3', 't2', 't1']],
    ['plugin=heat@1.0.0', ['t3', 't2', 't1']],
    ['plugin=heat:1.1.0', []],
    ['template=overheating', ['t3']],
    ['template=null', ['t4', 't2', 't1']],
    ['tags.site=ghent', ['t1']],
    ['tags.site=ghent&tags.site=bruges', ['t2', 't1']],
    ['tags.site=bruges&tags=floor,note', ['t2']],
    ['tags.site', ['t2', 't1']],
    ['tags.note', ['t2']],
    ['tags=floor,note', ['t2', 't1']],
    ['user=ann', ['t3']],
    ['filter=BOILER', ['t3', 't2', 't1']],
    ['filter=south%20bruges', ['t2']],
    ['filter=t4', ['t4']],
    [`createdAfter=${NOON}&createdBefore=${NOON + 3000}`, ['t3', 't2']],
    [`finishedBefore=${NOON + 3500}`, ['t4']],
  ])('by %s returns %j', async (query, expected) => {
    expect(await idsOf(query)).toEqual(expected)
  })

  it('honours format, and omits the graph if requested', async () => {
    const simplified = await rules.ask('GET', '/api/tasks?id=t4&format=simplified')
    expect(simplified.at('0.network.sensors')).toHaveLength(1)
    const bare = await rules.ask('GET', '/api/tasks?id=t4&includegraph=false')
    expect(bare.at('0')).not.toHaveProperty('network')
  })

  it('in the paged media type states its position', async () => {
    const { body, headers } = await rules.ask('GET', '/api/tasks?hits=2&startIndex=1', undefined, { accept: PAGED })
    expect(headers['content-type']).toBe(`${PAGED}; charset=utf-8`)
    expect(body).toMatchObject({ skip: 1, limit: 2, total: 4, values: [{ ID: 't3' }, { ID: 't2' }] })
    expect(Object.keys(body as object)).toEqual(['values', 'skip', 'limit', 'total'])
  })

  it('in HAL links to its adjacent pages', async () => {
    const { body } = await rules.ask('GET', '/api/tasks?hits=1&startIndex=2&tags.a=b', undefined, {
      accept: 'application/hal+json',
    })
    expect(body).toMatchObject({
      count: 0,
      total: 0,
      limit: 1,
      skip: 2,
      _links: { prev: { href: 'http://localhost:80/api/tasks?hits=1&startIndex=1&tags.a=b' } },
    })
    expect(got(body, '_links')).not.toHaveProperty('next')
    const middle = await rules.ask('GET', '/api/tasks?hits=1&startIndex=1', undefined, {
      accept: 'application/hal+json',
    })
    expect(middle.at('_links')).toEqual({
      self: { href: 'http://localhost:80/api/tasks?hits=1&startIndex=1' },
      next: { href: 'http://localhost:80/api/tasks?hits=1&startIndex=2' },
      prev: { href: 'http://localhost:80/api/tasks?hits=1&startIndex=0' },
    })
    expect(middle.at('_embedded.values')).toMatchObject([{ ID: 't3' }])
  })

  it('counts without values by HEAD and by hits=0', async () => {
    const head = await rules.ask('HEAD', '/api/tasks?status=running')
    expect([head.status, head.headers['x-count'], head.text]).toEqual([200, '2', ''])
    const none = await rules.ask('GET', '/api/tasks?hits=0')
    expect([none.body, none.headers['x-count']]).toEqual([[], '4'])
  })

  it('returns ten by default and at most a hundred', async () => {
    for (let i = 0; i < 102; i++) await rules.api.tasks.create(ruleOf({ start: false }))
    expect((await rules.ask('GET', '/api/tasks')).body).toHaveLength(10)
    expect((await rules.ask('GET', '/api/tasks?hits=1000')).body).toHaveLength(100)
    const paged = await rules.ask('GET', '/api/tasks?hits=1000', undefined, { accept: PAGED })
    expect(paged.at('limit')).toBe(100)
  })
})
