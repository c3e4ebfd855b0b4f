/** Tests queries in PromQL over samples and alarms in memory. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type AlarmSpan, createPrometheusService } from '../../../src/services/prometheus/service.ts'
import type { PrometheusApi, PromParameters } from '../../../src/services/prometheus/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

const MINUTE = 60_000
const NOW = 1_800_000_000_000
const seconds = (minutes: number): string => String((NOW + minutes * MINUTE) / 1_000)

let api: PrometheusApi
let alarms: AlarmSpan[]
beforeEach(async () => {
  const store = openMemory().tenant('acme')
  alarms = []
  api = createPrometheusService({
    store,
    now: () => NOW,
    readable: async () => undefined,
    alarms: async () => alarms,
  }).as({ tenant: 'acme', user: 'u' })
  const line = (resource: string, metric: string, values: readonly (number | string | boolean)[]) =>
    values.map((value, i) => ({ resource, metric, time: NOW + (i - values.length + 1) * MINUTE, value }))
  await store.series.append({
    samples: [
      ...line('a', 't', [1, 2, 3, 4, 5, 6]),
      ...line('b', 't', [10, 20, 30, 40, 50, 60]),
      ...line('a', 'count', [0, 60, 120, 0, 60, 120]),
      ...line('a', 'on', [true, false, true]),
      ...line('a', 'mode', ['x', 'y']),
      { resource: 'a', metric: 'old', time: NOW - 6 * MINUTE, value: 1 },
      { resource: 'c', metric: 'a.b', time: NOW, value: 7 },
    ],
  })
})

interface Vector {
  readonly result: readonly { readonly metric: Readonly<Record<string, string>>; readonly value: [number, string] }[]
}

/** Values by the labels other than the name, such as `a` or `a t`. */
async function ask(query: string, more: PromParameters = {}): Promise<Readonly<Record<string, number>>> {
  const { data } = await api.query({ query, ...more })
  const { result } = data as Vector
  return Object.fromEntries(result.map(({ metric, value }) => [Object.values(metric).join(' '), Number(value[1])]))
}

describe('a query at one time', () => {
  it.each([
    ['t', { 't a': 6, 't b': 60 }],
    ['t{resource="a"}', { 't a': 6 }],
    ["t{resource!='a'}", { 't b': 60 }],
    ['t{resource=~"a|x"}', { 't a': 6 }],
    ['t{resource=~".+"}', { 't a': 6, 't b': 60 }],
    ['t{resource!~"(a)"}', { 't b': 60 }],
    ['{__name__="a.b"}', { 'a.b c': 7 }],
    ['{"a.b", resource="c"}', { 'a.b c': 7 }],
    ['on', { 'on a': 1 }],
    ['mode', {}],
    ['old', {}],
    ['t * 2 + 1', { a: 13, b: 121 }],
    ['100 - (t)', { a: 94, b: 40 }],
    ['-t', { a: -6, b: -60 }],
    ['sum(t)', { '': 66 }],
    ['sum by (resource) (t)', { a: 6, b: 60 }],
    ['avg(t) by (nothing)', { '': 33 }],
    ['max(t) - 1', { '': 59 }],
    ['count({resource="a"})', { '': 3 }],
    ['avg_over_time(t[3m])', { a: 5, b: 50 }],
    ['sum_over_time(t[2m])', { a: 11, b: 110 }],
    ['min_over_time(t[5m])', { a: 2, b: 20 }],
    ['max_over_time(t[5m])', { a: 6, b: 60 }],
    ['count_over_time(t[5m])', { a: 5, b: 5 }],
    ['last_over_time(old[10m])', { 'old a': 1 }],
    // 60, 120, 0, 60, 120 in four minutes: 180 with the reset, extrapolated to the start of the range
    ['increase(count[5m])', { a: 225 }],
    ['rate(count[5m])', { a: 0.75 }],
    ['rate(old[10m])', {}],
  ])('%s', async (query, expected) => {
    expect(await ask(query)).toEqual(expected)
  })

  it('may be a number, as clients send to test the connection', async () => {
    expect(await api.query({ query: '1+1' })).toEqual({
      status: 'success',
      data: { resultType: 'scalar', result: [NOW / 1_000, '2'] },
    })
  })

  it('has its own time and lookback', async () => {
    expect(await ask('t', { time: seconds(-3) })).toEqual({ 't a': 3, 't b': 30 })
    expect(await ask('t', { time: new Date(NOW - 3 * MINUTE).toISOString() })).toEqual({ 't a': 3, 't b': 30 })
    expect(await ask('old', { lookback_delta: '1h' })).toEqual({ 'old a': 1 })
  })
})

describe('a query over a range', () => {
  it('has a value for each step with a current sample', async () => {
    const { data } = await api.queryRange({ query: 't', start: seconds(-6), end: seconds(0), step: '2m' })
    expect(data).toEqual({
      resultType: 'matrix',
      result: [
        ['a', 1],
        ['b', 10],
      ].map(([resource, by]) => ({
        metric: { __name__: 't', resource },
        values: [-4, -2, 0].map((at, i) => [Number(seconds(at)), String((2 + 2 * i) * Number(by))]),
      })),
    })
  })

  it.each([
    [{}, '`start` is missing'],
    [{ start: seconds(0), end: seconds(-1), step: '1' }, 'is before `start`'],
    [{ start: seconds(-600), end: seconds(0), step: '1' }, 'more than 11000; use a longer step'],
    [{ start: seconds(-1), end: seconds(0), step: '0' }, 'is not a step'],
    [{ start: 'soon', end: seconds(0), step: '1' }, '"soon" is not a time'],
  ])('rejects %j', async (parameters, text) => {
    await expect(api.queryRange({ query: 't', ...parameters })).rejects.toThrow(text)
  })
})

describe('alarms', () => {
  it('are ALERTS while they are open', async () => {
    const about = { severity: 'MAJOR', resource: 'a' }
    alarms = [
      { ...about, type: 'Hot', from: NOW - 30 * MINUTE, until: NOW - 10 * MINUTE },
      { ...about, type: 'Cold', from: NOW - MINUTE, until: undefined },
    ]
    expect(await ask('count by (alertname) (ALERTS)')).toEqual({ Cold: 1 })
    expect(await ask('sum(ALERTS{severity="MAJOR"})', { time: seconds(-11) })).toEqual({ '': 1 })
    expect(await ask('sum(ALERTS)', { time: seconds(-10) })).toEqual({})
    expect(await ask('ALERTS{resource="b"}')).toEqual({})
  })
})

// Holds PROMQL-1
describe('outside the subset', () => {
  it.each([
    ['histogram_quantile(0.9, t)', 'histogram_quantile is not supported'],
    ['topk(3, t)', 'topk is not supported'],
    ['sum without (resource) (t)', 'without is not supported'],
    ['t / t', '/ between series is not supported'],
    ['t > 5', '> is not supported'],
    ['t and t', 'and is not supported'],
    ['t offset 5m', 'offset is not supported'],
    ['t @ 1', '@ is not supported'],
    ['max_over_time(t[5m:1m])', 'a subquery is not supported'],
    ['rate(sum(t)[5m])', 'sum inside rate is not supported'],
    ['t{resource=~"a[0-9]"}', 'is not a supported pattern'],
    ['t[5m]', '[ is not supported'],
    ['{}', 'would select all series'],
    ['t{resource=a}', 'expected a text in quotes'],
    ['sum(t', 'expected )'],
    ['t)', 'unexpected )'],
    ['§', 'unexpected "§"'],
    ['', '`query` is missing'],
    [`${'('.repeat(60)}t${')'.repeat(60)}`, 'levels deep'],
    ['t'.repeat(10_001), 'more than 10000 characters'],
  ])('%s is rejected', async (query, text) => {
    await expect(api.query({ query })).rejects.toThrow(text)
  })
})

// Holds PROMQL-2
describe('a query that is too large', () => {
  it('is rejected, with what to change', async () => {
    const store = openMemory().tenant('acme')
    const many = Array.from({ length: 1_001 }, (_, i) => ({ resource: `r${i}`, metric: 't', time: NOW, value: 1 }))
    const dense = Array.from({ length: 20_000 }, (_, i) => ({ resource: 'd', metric: 'd', time: NOW - i, value: 1 }))
    await store.series.append({ samples: [...many, ...dense] })
    const of = createPrometheusService({
      store,
      now: () => NOW,
      readable: async () => undefined,
      alarms: async () => [],
    })
    const large = of.as({ tenant: 'acme', user: 'u' })
    await expect(large.query({ query: 't' })).rejects.toThrow('more than 1000 series; add matchers')
    const range = { start: seconds(-1), end: seconds(0), step: '0.01' }
    await expect(large.queryRange({ query: '{resource=~"r1.*|r2.*"}', ...range })).rejects.toThrow(
      'more than 1000000 points',
    )
    await expect(large.queryRange({ query: 'rate(d[1m])', ...range, step: '0.006' })).rejects.toThrow(
      'overlap too often',
    )
    expect(await large.query({ query: 't{resource="r1"}' })).toMatchObject({ status: 'success' })
  })
})

describe('labels', () => {
  it('are listed by selectors', async () => {
    expect((await api.labels({})).data).toEqual(['__name__', 'resource'])
    expect((await api.values('__name__', { 'match[]': ['{resource="b"}', 't'] })).data).toEqual(['t'])
    expect((await api.values('resource', {})).data).toEqual(['a', 'b', 'c'])
    expect((await api.values('none', {})).data).toEqual([])
    expect((await api.series({ 'match[]': ['t'] })).data).toEqual([
      { __name__: 't', resource: 'a' },
      { __name__: 't', resource: 'b' },
    ])
    await expect(api.series({})).rejects.toThrow('`match[]` is missing')
    await expect(api.series({ 'match[]': ['sum(t)'] })).rejects.toThrow('is not a selector')
  })
})
