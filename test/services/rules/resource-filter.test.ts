/** Tests tasks selected by a filter on resources, which is rejected without a resources service. */
import { describe, expect, it } from 'vitest'
import type { ResourceFinder } from '../../../src/services/rules/tasks/resource-filter.ts'
import { pluck } from '../support/answer.ts'
import { bench, type Bench } from './support/bench-of-rules.ts'
import { ruleOf } from './support/rules.ts'

/** Boilers with numbers; the odd ones are hot. */
class Boilers implements ResourceFinder {
  readonly asked: unknown[] = []
  readonly #count: number

  constructor(count: number) {
    this.#count = count
  }

  async find(...[wanted, limit]: Parameters<ResourceFinder['find']>): Promise<readonly string[]> {
    this.asked.push(wanted)
    const numbers = Array.from({ length: Math.min(this.#count, limit) }, (_, i) => i + 1)
    if (wanted.type !== undefined && wanted.type !== 'boiler') return []
    return numbers.filter((n) => wanted.expression !== 'hot' || n % 2 === 1).map((n) => `boiler-${n}`)
  }
}

async function withTasks(resources?: ResourceFinder): Promise<Bench> {
  const rules = await bench(resources && { resources })
  for (const resource of ['boiler-1', 'boiler-2', 'pump-1']) await rules.ask('POST', '/api/tasks', ruleOf({ resource }))
  return rules
}

describe('a filter over resources', () => {
  it.each([
    ['resourceType=boiler', ['t1', 't2'], { type: 'boiler' }],
    ['resourceType=pump', [], { type: 'pump' }],
    ['resourceMetadataExpression=hot', ['t1'], { expression: 'hot' }],
    [
      'resourceType=boiler&resourceMetadataExpression=hot&status=running',
      ['t1'],
      { type: 'boiler', expression: 'hot' },
    ],
    ['resourceType=boiler&resource=pump-1', [], { type: 'boiler' }],
  ])('in a listing by %s returns %j', async (query, ids, wanted) => {
    const boilers = new Boilers(3)
    const rules = await withTasks(boilers)
    const { body, headers } = await rules.ask('GET', `/api/tasks?${query}`)
    expect([pluck(body, 'ID'), headers['x-count']]).toEqual([ids, String(ids.length)])
    expect(boilers.asked).toEqual([wanted])
    expect((await rules.ask('HEAD', `/api/tasks?${query}`)).headers['x-count']).toBe(String(ids.length))
    await rules.close()
  })

  it('works beyond the number of resources that storage compares at once', async () => {
    const rules = await withTasks(new Boilers(2500))
    await rules.ask('POST', '/api/tasks', ruleOf({ resource: 'boiler-2500' }))
    const { body } = await rules.ask('GET', '/api/tasks?resourceType=boiler')
    expect(pluck(body, 'ID')).toEqual(['t1', 't2', 't4'])
    await rules.close()
  })

  it('that matches too many resources is rejected', async () => {
    const rules = await withTasks(new Boilers(20_000))
    const { status, body } = await rules.ask('GET', '/api/tasks?resourceType=boiler')
    expect([status, body]).toMatchObject([
      400,
      { code: 'TOO_LARGE', error: 'More than 10000 resources match; narrow the filters of resources' },
    ])
    await rules.close()
  })

  it('in a batch selects the tasks to change', async () => {
    const rules = await withTasks(new Boilers(3))
    const query = { resourceMetadataExpression: 'hot' }
    const seen = await rules.api.batches.preview({ entity: 'task', action: 'stop', query })
    expect(seen.tasks.map(({ ID }) => ID)).toEqual(['t1'])
    const done = await rules.api.batches.run({ entity: 'task', action: 'stop', query })
    expect(done.operation.description).toBe('Stop tasks filtered by resourceMetadataExpression=hot')
    expect(done.results).toEqual({ success: { t1: { statusCode: 200 } }, failure: {} })
    await rules.close()
  })

  it('is rejected without a resources service, and nothing is changed', async () => {
    const rules = await withTasks()
    const text =
      'this host does not serve resources, so it cannot select tasks by attributes of resources (name the resource with resource=<id>)'
    const listed = await rules.ask('GET', '/api/tasks?resourceType=boiler&resourceMetadataExpression=hot')
    expect([listed.status, listed.at('error')]).toEqual([
      400,
      `/resourceType <- ${text}; /resourceMetadataExpression <- ${text}`,
    ])
    const body = { entity: 'task', action: 'delete', query: { resourceType: 'boiler' } }
    const queued = await rules.ask('POST', '/api/batch', body)
    expect([queued.status, queued.at('error')]).toEqual([400, `/query/resourceType <- ${text}`])
    expect((await rules.ask('GET', '/api/tasks')).headers['x-count']).toBe('3')
    await rules.close()
  })
})
