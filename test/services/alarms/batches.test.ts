import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JOBS as BATCHES } from '../../../src/jobs/job-record.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

interface Status {
  readonly finishedTime?: string
  readonly results?: {
    readonly success: Readonly<Record<string, { readonly statusCode: number }>>
    readonly failure: Readonly<Record<string, { readonly statusCode: number; readonly error: string }>>
  }
}

async function raiseOn(...sources: readonly string[]): Promise<readonly string[]> {
  const raised = await Promise.all(sources.map((id) => alarms.api.raise(alarmOf({ source: { id } }))))
  return raised.map(({ id }) => id)
}

async function run(body: object): Promise<Status> {
  const { id } = await alarms.api.batches.queue(body)
  await alarms.service.idle()
  return alarms.api.batches.get(id)
}

describe('a batch operation on alarms', () => {
  it('is accepted, and reports its progress at its address', async () => {
    const [one = '', two = ''] = await raiseOn('a', 'b')
    const answer = await alarms.ask('POST', '/batch', {
      entity: 'alarm',
      action: 'delete',
      query: { ids: [one, two, 'none'] },
    })
    expect([answer.statusCode, answer.headers.location]).toEqual([202, 'http://localhost:80/batch/a5'])
    expect(answer.json()).toEqual({
      statusCode: 202,
      uri: 'http://localhost:80/batch/a5',
      entity: {
        id: 'a5',
        queueTime: new Date(NOON).toISOString(),
        operation: { entity: 'alarm', action: 'delete' },
      },
    })
    await alarms.service.idle()
    expect((await alarms.ask('GET', '/batch/a5')).json()).toEqual({
      id: 'a5',
      user: 'tester',
      operation: { entity: 'alarm', action: 'delete', description: 'deleting 3 alarms' },
      queueTime: new Date(NOON).toISOString(),
      finishedTime: new Date(NOON).toISOString(),
      results: {
        success: { [one]: { statusCode: 204 }, [two]: { statusCode: 204 } },
        failure: { none: { statusCode: 404, error: "alarm with id 'none' not found" } },
      },
    })
    expect((await alarms.api.list({})).total).toBe(0)
  })

  it('updates the alarms that its filters select, and reports cleared ones as final', async () => {
    const [one = '', two = '', three = ''] = await raiseOn('a', 'b', 'c')
    await alarms.api.update(two, { status: 'CLEARED' })
    const { results } = await run({
      entity: 'alarm',
      action: 'update',
      query: { source: ['a', 'b'] },
      actionParameters: { status: 'acknowledged', assignee: 'user/1' },
    })
    expect(results).toEqual({
      success: { [one]: { statusCode: 200 } },
      failure: { [two]: { statusCode: 412, error: 'Alarm is in final state' } },
    })
    expect(await alarms.api.get(one)).toMatchObject({ status: 'ACKNOWLEDGED', assignee: 'user/1' })
    expect(await alarms.api.get(three)).toMatchObject({ status: 'ACTIVE' })
  })

  it.each([
    [{ type: 'HEAT' }, 2],
    [{ status: 'active', source: 'a' }, 1],
    [{ severity: ['MAJOR', 'minor'] }, 2],
    [{ dateFrom: NOON, dateTo: NOON }, 2],
    [{ dateFrom: NOON + 1 }, 0],
    [{ assignee: 'nobody' }, 0],
  ])('by %j selects %i alarms', async (query, expected) => {
    await raiseOn('a', 'b')
    const { results } = await run({ entity: 'alarm', action: 'delete', query })
    expect([Object.keys(results?.success ?? {}).length, results?.failure]).toEqual([expected, {}])
  })

  it.each([
    [
      { entity: 'alarm', action: 'delete', query: {} },
      [
        '/query <- selects nothing (use ids, or at least one of type, status, severity, source, dateFrom, dateTo, assignee, lifecycle, suppression, commented)',
      ],
    ],
    [
      { entity: 'alarm', action: 'update', query: { ids: ['x'], type: 'y', more: 1 }, actionParameters: {} },
      [
        '/query/more <- is unknown (known are ids, type, status, severity, source, dateFrom, dateTo, assignee, lifecycle, suppression, commented)',
        '/actionParameters <- does not change anything (set at least one of severity, status, assignee, snoozeUntil)',
        '/query/ids <- is not allowed beside type (use ids or filters)',
      ],
    ],
    [{ entity: 'alarm', action: 'update', query: { status: 'ACTIVE' } }, ['/actionParameters <- is required']],
  ])('with %j is rejected', async (body, details) => {
    const answer = await alarms.ask('POST', '/batch', body)
    expect([answer.statusCode, answer.json<{ details: unknown }>().details]).toEqual([400, details])
  })

  it.each(['delete', 'update'])('(%s) resumes after a stop, and reports every alarm', async (action) => {
    const storage = openMemory()
    const first = await bench({ storage })
    for (let i = 0; i < 450; i++) await first.api.raise(alarmOf({ source: { id: `r${i}` } }), { history: 'newest' })
    const { id } = await first.api.batches.queue({
      entity: 'alarm',
      action,
      query: { type: 'HEAT' },
      actionParameters: { status: 'CLEARED' },
    })
    // one slice is done, but its part is not
    await new Promise((resolve) => setImmediate(resolve))
    await first.close()
    const left = await storage.tenant('acme').collection(BATCHES).get(id)
    expect(left?.value.finishedTime).toBeUndefined()

    const second = await bench({ storage, ids: 'b' })
    await second.service.idle()
    const status = (await second.api.batches.get(id)) as Status
    expect(Object.keys(status.results?.success ?? {})).toHaveLength(450)
    expect(status.results?.failure).toEqual({})
    expect((await second.api.list({ status: 'ACTIVE' })).total).toBe(0)
    await second.close()
  })

  it('is deleted after a week', async () => {
    await raiseOn('a')
    await run({ entity: 'alarm', action: 'delete', query: { type: 'HEAT' } })
    alarms.clock.now += 7 * 86_400_000 + 1
    await alarms.service.keepHouse()
    expect(await alarms.storage.tenant('acme').collection(BATCHES).count()).toBe(0)
  })
})
