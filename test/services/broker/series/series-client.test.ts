import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SeriesApi } from '../../../../src/services/broker/contract.ts'
import { createClient } from '../../../../src/client.ts'
import { seriesApp, type SeriesApp } from './support/series-app.ts'
import { NOW } from './support/series-in-memory.ts'

let host: SeriesApp
let series: SeriesApi
beforeEach(async () => {
  host = await seriesApp()
  await host.ask('POST', '/resources/a%20b/events', [
    { timestamp: NOW - 2, t: 1 },
    { timestamp: NOW - 1, t: 2 },
  ])
  series = createClient({ url: await host.app.listen({ port: 0, host: '127.0.0.1' }) }).broker.series
})
afterEach(() => host.close())

it('the client reads series as the service gives them', async () => {
  expect((await series.get('a b', 't', { from: NOW - 2, aggregate: 'sum', grouping: '1s' })).series).toEqual([
    [NOW - 2, 3],
  ])
  expect((await series.latest('a b', 't')).series).toEqual([[NOW - 1, 2]])
  expect(await series.list('a b')).toEqual([{ metric: 't', time: NOW - 1, value: 2 }])
  const body = { metric: 't', resources: ['a b'], aggregates: ['count'], window: '1s', grouping: '1s' }
  expect(await series.query([body])).toMatchObject([{ series: [[NOW - 1_000, 2]] }])
})

it('the client goes on from page to page', async () => {
  const first = await series.raw('a b', 't', { from: NOW - 2, limit: 1 })
  expect(first).toMatchObject({
    series: [[NOW - 2, 1]],
    next: { from: NOW - 1, until: NOW, order: 'ascending', limit: 1 },
  })
  const second = await series.raw('a b', 't', first.next)
  expect([second.series, second.next]).toEqual([[[NOW - 1, 2]], undefined])
})

it('the client removes, and tells refusals as errors', async () => {
  await expect(series.get('a b', 't', { aggregate: 'avg' })).rejects.toMatchObject({ code: 'VALIDATION' })
  await series.remove({ resource: 'a b', metrics: ['t'], from: NOW - 1 })
  expect((await series.latest('a b', 't')).series).toEqual([[NOW - 2, 1]])
  await series.remove({ resource: 'a b', only: 'messages' })
  await expect(series.remove({ resource: 'a b', only: 'messages', from: 1 })).rejects.toThrow(/only all at once/)
  await series.remove({ resource: 'a b' })
  expect(await series.list('a b')).toEqual([])
})
