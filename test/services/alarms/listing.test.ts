import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Alarm, AlarmQuery } from '../../../src/services/alarms/contract.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

interface Listed {
  readonly self: string
  readonly next?: string
  readonly previous?: string
  readonly total: number
  readonly alarms: readonly Alarm[]
}

/** Returns the texts of the alarms found. */
async function found(query: AlarmQuery): Promise<readonly string[]> {
  return (await alarms.api.list(query)).alarms.map(({ text }) => text)
}

describe('a listing of alarms', () => {
  beforeEach(async () => {
    const raise = (text: string, more: object) => alarms.api.raise(alarmOf({ text, ...more }))
    await raise('one', { source: { id: 'r1' }, timestamp: NOON + 1, task: 3425, where: { floor: 2, door: 'a' } })
    await raise('two', { source: { id: 'r2' }, timestamp: NOON + 3, severity: 'MINOR', task: '3425', tags: ['x', 'y'] })
    alarms.clock.now += 10
    await raise('three', { source: { id: 'r2' }, type: 'COLD', timestamp: NOON + 2, on: true, nothing: null })
    const { id } = await raise('four', { source: { id: 'r3' }, timestamp: NOON + 4, assignee: 'user/1' })
    await alarms.api.update(id, { status: 'ACKNOWLEDGED' })
    alarms.clock.now += 10
    await raise('one again', { source: { id: 'r1' } })
  })

  it.each<[AlarmQuery, readonly string[]]>([
    [{}, ['four', 'two', 'three', 'one']],
    [{ order: 'ascending' }, ['one', 'three', 'two', 'four']],
    [{ order: 'asc' }, ['one', 'three', 'two', 'four']],
    [{ sort: 'lastTriggeredTime', order: 'desc' }, ['one', 'three', 'four', 'two']],
    [{ sort: 'creationTime', order: 'ascending' }, ['one', 'two', 'three', 'four']],
    [{ source: 'r2' }, ['two', 'three']],
    [{ source: ['r1', 'r3'] }, ['four', 'one']],
    [{ source: ['r1', 'r2'], type: 'COLD' }, ['three']],
    [{ status: ['acknowledged', 'CLEARED'] }, ['four']],
    [{ severity: 'minor' }, ['two']],
    [{ assignee: 'user/1' }, ['four']],
    [{ dateFrom: NOON + 2, dateTo: NOON + 3 }, ['two', 'three']],
    [{ creationTimeFrom: NOON + 1 }, ['four', 'three']],
    [{ creationTimeTo: NOON }, ['two', 'one']],
    [{ lastUpdatedFrom: NOON + 11 }, ['one']],
    [{ lastTriggeredTo: NOON + 10 }, ['four', 'two', 'three']],
    [{ task: '3425' }, ['two', 'one']],
    [{ task: 3425, source: 'r1' }, ['one']],
    [{ 'where.floor': '2' }, ['one']],
    [{ 'where.floor': '2', 'where.door': ['b', 'a'] }, ['one']],
    [{ 'where.floor': '3' }, []],
    [{ tags: 'y' }, ['two']],
    [{ on: 'true' }, ['three']],
    [{ nothing: 'null' }, ['three']],
    [{ nobody: 'knows' }, []],
    [{ all: 'true', source: 'r3' }, ['four']],
    [{ size: 2 }, ['four', 'two']],
    [{ size: 2, page: 2 }, ['three', 'one']],
    [{ size: 2, page: 9 }, []],
  ])('for %j returns %j', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

  it('links its pages and keeps its filters', async () => {
    const seen: string[] = []
    let url: string | undefined = '/alarm/alarms?source=r1&source=r2&size=1'
    for (const [self, previous] of [
      ['', undefined],
      ['&page=2', ''],
      ['&page=3', '&page=2'],
    ] as const) {
      const answer = await alarms.ask('GET', url ?? 'no next')
      const body: Listed = answer.json()
      const base = 'http://localhost:80/alarm/alarms?source=r1&source=r2&size=1'
      expect([body.self, body.previous, body.total, answer.headers['x-count']]).toEqual([
        `${base}${self}`,
        previous === undefined ? undefined : `${base}${previous}`,
        3,
        '3',
      ])
      seen.push(...body.alarms.map(({ text }) => text))
      url = body.next
    }
    expect([url, seen]).toEqual([undefined, ['two', 'three', 'one']])
  })

  it('beyond the last page is empty and links back', async () => {
    const body: Listed = (await alarms.ask('GET', '/alarm/alarms?page=7&size=3')).json()
    expect(body).toEqual({
      self: 'http://localhost:80/alarm/alarms?page=7&size=3',
      previous: 'http://localhost:80/alarm/alarms?page=6&size=3',
      total: 4,
      alarms: [],
    })
  })

  it('contains histories unless the request excludes them', async () => {
    const [one] = (await alarms.api.list({ source: 'r1' })).alarms
    expect(one?.history).toHaveLength(2)
    const [brief] = (await alarms.api.list({ source: 'r1', history: false })).alarms
    expect([brief?.count, brief?.history]).toEqual([2, []])
  })

  it.each([
    ['statsu=ACTIVE', '299 - "statsu is not a parameter; did you mean status?"'],
    ['statsu.of=1&zone=1', undefined],
  ])('warns of misspelt parameters: %s', async (query, warning) => {
    const { statusCode, headers } = await alarms.ask('GET', `/alarm/alarms?${query}`)
    expect([statusCode, headers['warning']]).toEqual([200, warning])
  })
})

describe('additional properties', () => {
  it('are searchable by long names and long values', async () => {
    const long = 'z'.repeat(5000)
    await alarms.api.raise(alarmOf({ text: 'long', [`k${long}`]: long }))
    expect(await found({ [`k${long}`]: long })).toEqual(['long'])
    expect(await found({ [`k${long}`]: `${long}!` })).toEqual([])
  })
})
