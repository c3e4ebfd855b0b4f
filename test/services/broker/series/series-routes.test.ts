import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { brokerBench, type BrokerBench } from '../support/bench-of-broker.ts'
import { DAY, HOUR, NOW } from './support/series-in-memory.ts'

const HAL = 'application/hal+json'
const FROM = NOW - 2 * HOUR

let host: BrokerBench
beforeEach(async () => {
  host = await brokerBench({ clock: { now: NOW } })
  await host.ask('POST', '/resources/r%2F1/events', [
    { timestamp: FROM, t: 1, mode: 'on' },
    { timestamp: FROM + 1_000, t: 3 },
    { timestamp: FROM + HOUR, t: 8 },
  ])
  await host.ask('POST', '/resources/s/events', { timestamp: NOW, t: 5 })
})
afterEach(() => host[Symbol.asyncDispose]())

const range = `from=${FROM}&until=${NOW}`

describe('GET /resources/:id/series/:metric', () => {
  it('is what was posted, as soon as the post was answered', async () => {
    const { status, body } = await host.ask('GET', `/resources/r%2F1/series/t?${range}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      query: { from: FROM, until: NOW, metric: 't', aggregates: null, grouping: 'auto', resources: ['r/1'] },
      series: [
        [FROM, 1],
        [FROM + 1_000, 3],
        [FROM + HOUR, 8],
      ],
    })
  })

  it('reports when it was cut, and address of the next page: in the body and in a header', async () => {
    const url = '/resources/r%2F1/series/t'
    const response = await host.ask('GET', `${url}?from=0&until=${NOW}&grouping=hour&aggregates=max,percentile(0.5)`)
    const body = response.body as { series: unknown[]; truncated: boolean; next: string }
    expect([body.series.length, body.truncated]).toEqual([2_000, true])
    const rest = `from=${2_000 * HOUR}&until=${NOW}&order=ascending&limit=2000`
    expect(body.next).toBe(`http://localhost:80${url}?${rest}&grouping=3600s&aggregates=max%2Cpercentile%280.5%29`)
    expect(response.headers['link']).toBe(`<${body.next}>; rel="next"`)
    const whole = await host.ask('GET', `${url}?${range}`)
    expect(whole.body).not.toHaveProperty('truncated')
    expect(whole.headers).not.toHaveProperty('link')
    expect((await host.ask('GET', body.next)).body).toMatchObject({ series: { 0: [2_000 * HOUR, null, null] } })
  })

  it('takes several aggregates, ISO 8601, order and limit, and passes over a window', async () => {
    const times = `from=2024-03-01T10:00:00Z&until=2024-03-01T12:00:00Z`
    const url = `/resources/r%2F1/series/t?${times}&grouping=hour&aggregates=mean,percentile(0.5)&order=descending&limit=1&window=1s`
    expect(await host.ask('GET', url)).toMatchObject({ status: 200, body: { series: [[FROM + HOUR, 8, 8]] } })
  })

  it('takes aggregates that are repeated for a list of them', async () => {
    const { body } = await host.ask(
      'GET',
      `/resources/r%2F1/series/t?${range}&grouping=2h&aggregates=min&aggregates=max`,
    )
    expect(body).toMatchObject({ query: { aggregates: ['min', 'max'] }, series: [[FROM, 1, 8]] })
  })
})

describe('GET /resources/:id/series/:metric/raw', () => {
  it('links to what remains when HAL is accepted', async () => {
    const first = await host.ask('GET', `/resources/r%2F1/series/t/raw?${range}&limit=2`, undefined, { accept: HAL })
    expect(first.headers['content-type']).toBe(`${HAL}; charset=utf-8`)
    const href = `http://localhost:80/resources/r%2F1/series/t/raw?from=${FROM + 1_001}&until=${NOW}&order=ascending&limit=2`
    expect(first.body).toMatchObject({
      _links: { next: { href, name: 'Next series' } },
      query: { from: FROM, until: NOW, metric: 't', aggregates: null, grouping: 'auto', resources: ['r/1'], limit: 2 },
      series: [
        [FROM, 1],
        [FROM + 1_000, 3],
      ],
    })
    const second = await host.ask('GET', href, undefined, { accept: HAL })
    expect(second.body).toMatchObject({ _links: {}, series: [[FROM + HOUR, 8]] })
    expect(second.body).not.toHaveProperty('_links.next')
  })

  it('is the same without links as JSON', async () => {
    const { headers, body } = await host.ask('GET', `/resources/r%2F1/series/t/raw?${range}&limit=1`)
    expect(headers['content-type']).toContain('application/json')
    expect(body).toEqual({
      query: expect.objectContaining({ limit: 1 }) as unknown,
      series: [[FROM, 1]],
      truncated: true,
      next: `http://localhost:80/resources/r%2F1/series/t/raw?from=${FROM + 1}&until=${NOW}&order=ascending&limit=1`,
    })
  })
})

describe('the newest values', () => {
  it('of one series are a value in a list, with its time', async () => {
    expect((await host.ask('GET', '/resources/r%2F1/series/t/latest')).body).toEqual({ t: [8], timestamp: FROM + HOUR })
  })

  it('are there when the clock of the device is ahead', async () => {
    await host.ask('POST', '/resources/fast/events', { timestamp: NOW + 5_000, t: 7 })
    expect((await host.ask('GET', '/resources/fast/series/t/latest')).body).toEqual({ t: [7], timestamp: NOW + 5_000 })
    expect((await host.ask('GET', '/resources/fast/series/t/last')).body).toMatchObject({ series: [[NOW + 5_000, 7]] })
    const bounded = await host.ask('GET', `/resources/fast/series/t/last?until=${NOW}`)
    expect(bounded.body).toMatchObject({ query: { until: NOW }, series: [] })
    expect((await host.ask('GET', `/resources/fast/series/t/latest?until=${NOW}`)).status).toBe(404)
  })

  it('come as rows from /last', async () => {
    expect((await host.ask('GET', '/resources/r%2F1/series/t/last?limit=2')).body).toEqual({
      query: { from: null, until: null, metric: 't', aggregates: null, grouping: 'auto', resources: ['r/1'], limit: 2 },
      series: [
        [FROM + HOUR, 8],
        [FROM + 1_000, 3],
      ],
    })
  })

  it.each(['metadata', 'metadata=true', 'metadata=_'])('of all series come with ?%s', async (flag) => {
    expect((await host.ask('GET', `/resources/r%2F1/series?${flag}`)).body).toEqual([
      { name: 'mode', latest: { timestamp: FROM, value: 'on' } },
      { name: 't', latest: { timestamp: FROM + HOUR, value: 8 } },
    ])
  })
})

describe('messages', () => {
  it('come from the old place of series', async () => {
    expect((await host.ask('GET', '/resources/s/series')).body).toEqual([{ t: 5, timestamp: NOW }])
    expect((await host.ask('GET', `/resources/s/series?until=${NOW - 1}`)).body).toEqual([])
  })

  it('of several resources come newest first', async () => {
    await host.ask('POST', '/resources/s/events', { timestamp: NOW - 5, t: 4 })
    expect(
      await host.ask('POST', '/messages/query', { resources: ['r/1', 's'], limit: 5, window: '1d' }),
    ).toMatchObject({
      status: 200,
      body: {
        query: { resources: ['r/1', 's'], limit: 5, window: '1d', from: NOW - DAY, until: NOW },
        results: [
          {
            resource: 's',
            messages: [
              { t: 5, timestamp: NOW },
              { t: 4, timestamp: NOW - 5 },
            ],
          },
        ],
      },
    })
  })
})

describe('POST /series/query', () => {
  it('returns an object for an object, and a list for a list', async () => {
    const query = { metric: 't', resources: ['s', 'r/1'], aggregates: ['sum'], grouping: '2h', from: FROM, until: NOW }
    const answer = { query: expect.objectContaining({ metric: 't' }) as unknown, series: [[FROM, 12]] }
    expect((await host.ask('POST', '/series/query', query)).body).toEqual(answer)
    expect((await host.ask('POST', '/series/query', [query])).body).toEqual([answer])
  })

  it('has the query that continues when it was cut', async () => {
    const query = { metric: 't', resources: ['s', 'r/1'], aggregates: ['sum'], grouping: '2h', window: '4h', limit: 1 }
    const first = (await host.ask('POST', '/series/query', query)).body as { next: object }
    expect(first).toMatchObject({ series: [[NOW - 4 * HOUR, null]], truncated: true })
    const second = (await host.ask('POST', '/series/query', first.next)).body
    expect(second).toMatchObject({ series: [[FROM, 12]] })
    expect(second).not.toHaveProperty('next')
  })
})

describe('DELETE', () => {
  const seriesOf = async (id: string): Promise<unknown> =>
    (await host.ask('GET', `/resources/${id}/series?metadata`)).body
  const messagesOf = async (id: string): Promise<unknown> => (await host.ask('GET', `/resources/${id}/messages`)).body

  it.each([
    ['', 'messages, series and all metrics', [0, 0]],
    ['/messages', 'messages', [1, 0]],
    ['?onlytimeseries=true', 'series and all metrics', [0, 1]],
  ])('/resources/:id%s forgets %s', async (path, what, left) => {
    const { status, body } = await host.ask('DELETE', `/resources/s${path}`)
    expect([status, body]).toEqual([200, { message: `Deleted ${what} for s` }])
    const found = [await seriesOf('s'), await messagesOf('s')] as readonly (readonly unknown[])[]
    expect(found.map(({ length }) => length)).toEqual(left)
    expect(await seriesOf('r%2F1')).toHaveLength(2)
  })

  it.each([
    ['?until=1', 'messages and samples of all metrics for r until 1'],
    ['?from=7d&until=1d', 'messages and samples of all metrics for r from 7d until 1d'],
    ['?until=1&onlytimeseries=true', 'samples of all metrics for r until 1'],
    ['?until=1&metrics=t,u', 'samples of t, u for r until 1'],
    ['?metrics=t,u', 'series of t, u for r'],
  ])('/resources/:id%s states what it deleted', async (query, deleted) => {
    expect((await host.ask('DELETE', `/resources/r${query}`)).body).toEqual({ message: `Deleted ${deleted}` })
  })

  it('deletes some metrics up to an age', async () => {
    await host.ask('DELETE', '/resources/r%2F1?metrics=t&until=90m')
    const { body } = await host.ask('GET', `/resources/r%2F1/series/t?${range}`)
    expect(body).toMatchObject({ series: [[FROM + HOUR, 8]] })
    expect(await seriesOf('r%2F1')).toHaveLength(2)
  })

  it('rejects unsupported parameters, and deletes nothing', async () => {
    const { status, body } = await host.ask('DELETE', '/resources/s?metric=t')
    expect([status, body]).toEqual([
      400,
      { error: expect.stringContaining('/metric') as unknown, details: [expect.anything()] },
    ])
    expect((await host.ask('DELETE', '/resources/s?from=long%20ago')).status).toBe(400)
    expect(await seriesOf('s')).toHaveLength(1)
  })
})
