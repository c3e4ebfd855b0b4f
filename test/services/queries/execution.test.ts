// Holds QUERY-1, QUERY-2, QUERY-4, EXECUTE-1, EXECUTE-2, EXECUTE-3
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { createClient } from '../../../src/client.ts'
import type { Series, Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { bench, NOW, type Bench } from './support/bench-of-queries.ts'

const HOUR = 3_600_000
/** 2024-06-10T00:00:00Z */
const JUNE = 1717977600000

/** Stores eight hours of two metrics, without the last two hours. */
async function filled(): Promise<Bench> {
  const queries = await bench()
  await queries.put('A', 't', { [JUNE]: 12.67, [JUNE + 1]: 3, [JUNE + HOUR]: 5, [JUNE + 3 * HOUR]: 9 })
  await queries.put('A', 'h', { [JUNE + 5]: 80, [JUNE + 2 * HOUR]: 60 })
  return queries
}

/** Creates a store whose only series never ends. */
function endless(): { readonly storage: Storage; readonly reads: () => number } {
  const storage = openMemory()
  let reads = 0
  const store = storage.tenant('acme')
  const columns: Series['columns'] = async ({ from = 0, limit = 0 }) => {
    reads += 1
    return {
      times: Float64Array.from({ length: limit }, (_, i) => from + i),
      values: Float64Array.from({ length: limit }, (_, i) => i),
    }
  }
  const { blobs } = store
  const series: Series = Object.assign(Object.create(store.series) as Series, { columns })
  const counting: Storage = {
    tenant: () => ({
      collection: (spec) => store.collection(spec),
      log: (name) => store.log(name),
      commit: (writes) => store.commit(writes),
      now: () => store.now(),
      series,
      blobs,
    }),
    tenants: () => storage.tenants(),
    close: () => storage.close(),
    stats: () => storage.stats(),
  }
  return { storage: counting, reads: () => reads }
}

const RANGE = { from: JUNE, until: JUNE + 4 * HOUR, freq: 'PT1H' }
const SERIES = [
  { metric: 't', aggregation: 'max' },
  { metric: 'h', aggregation: 'mean' },
]

describe('a query', () => {
  it('returns rows with a column per series, and the time line that it used', async () => {
    await using queries = await filled()
    const answer = await queries.ask('POST', '/data/query', { ...RANGE, resource: 'A', data: SERIES, seriesId: 'kept' })
    expect(answer.status).toBe(200)
    expect(answer.at('query.seriesId')).toBe('kept')
    expect(answer.at('data')).toEqual([
      {
        columns: [
          'timestamp',
          { resource: 'A', metric: 't', aggregation: 'max' },
          { resource: 'A', metric: 'h', aggregation: 'mean' },
        ],
        column_names: ['timestamp', 'A/t/max', 'A/h/mean'],
        data: [
          [JUNE, 12.67, 80],
          [JUNE + HOUR, 5, null],
          [JUNE + 2 * HOUR, null, 60],
          [JUNE + 3 * HOUR, 9, null],
        ],
        data_axis: 'column',
        attributes: { role: 'input' },
        window_spec: { from: JUNE, until: JUNE + 4 * HOUR, window: 'PT4H', freq: 'PT1H' },
      },
    ])
    expect(answer.at('messages')).toEqual([
      {
        message:
          "Series ('A', 't', 'max'), aggregated on freq PT1H contains 1 null values. These will NOT be interpolated",
        level: 'warning',
        timestamp: '2021-05-06T12:34:56.000Z',
        action: 'POST /data/query',
        category: 'data',
        properties: { resource: 'A', metric: 't' },
      },
      expect.objectContaining({ message: expect.stringContaining("('A', 'h', 'mean')") as unknown }),
    ])
  })

  it('joins raw samples by their times, and has columns even without samples', async () => {
    await using queries = await filled()
    const raw = {
      resource: 'A',
      from: JUNE,
      until: JUNE + 2 * HOUR,
      data: [{ metric: 't', aggregation: 'mean' }, { metric: 'h' }],
    }
    expect((await queries.api.execute({ query: raw })).data).toMatchObject([
      {
        columns: ['timestamp', { resource: 'A', metric: 't' }, { resource: 'A', metric: 'h' }],
        data: [
          [JUNE, 12.67, null],
          [JUNE + 1, 3, null],
          [JUNE + 5, null, 80],
          [JUNE + HOUR, 5, null],
        ],
        window_spec: { from: JUNE, until: JUNE + 2 * HOUR, window: 'PT2H' },
      },
    ])
    expect((await queries.api.execute({ query: { resource: 'nobody', metric: 'm' } })).data).toMatchObject([
      { columns: ['timestamp', { resource: 'nobody', metric: 'm' }], data: [] },
    ])
  })

  it('returns all samples in order, over any number of pages', async () => {
    await using queries = await bench()
    const of = (step: number) => Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [JUNE + i * step, i]))
    await queries.put('A', 'a', of(1))
    await queries.put('A', 'b', of(3))
    const query = {
      resource: 'A',
      from: JUNE,
      until: JUNE + 40_000,
      data: [{ metric: 'a' }, { metric: 'b' }],
      render: 'SERIES',
    }
    const [set] = (await queries.api.execute({ query })).data
    const [times = [], a = [], b = []] = set !== undefined && 'data' in set ? set.data : []
    expect(times).toEqual(
      [...new Set([...Object.keys(of(1)), ...Object.keys(of(3))].map(Number))].toSorted((x, y) => x - y),
    )
    expect(a.filter((cell) => cell !== null)).toEqual(Object.values(of(1)))
    expect(b.filter((cell) => cell !== null)).toEqual(Object.values(of(3)))
  })

  it('interpolates after aggregating, and reports where it cannot', async () => {
    await using queries = await filled()
    const query = { ...RANGE, resource: 'A', metric: 't', aggregation: 'max', interpolation: 'linear' }
    const filling = await queries.api.execute({ query })
    expect(filling).toMatchObject({ data: [{ data: [[JUNE, 12.67], {}, [JUNE + 2 * HOUR, 7], {}] }], messages: [] })
    const lacking = await queries.api.execute({ query: { ...query, interpolation: { method: 'spline', order: 5 } } })
    expect(lacking.data).toMatchObject([{ data: [[JUNE, 12.67], {}, [JUNE + 2 * HOUR, null], {}] }])
    expect(lacking.messages).toMatchObject([
      { level: 'error', message: expect.stringContaining('requires at least 6 values') as unknown },
    ])
  })

  it('aggregates with the mean if only a frequency is set, and reports that', async () => {
    await using queries = await filled()
    const { data, messages } = await queries.api.execute({ query: { ...RANGE, resource: 'A', metric: 'h' } })
    expect(messages[0]).toMatchObject({ level: 'info', message: 'freq without aggregation: mean is used' })
    expect(data).toMatchObject([{ columns: ['timestamp', { aggregation: 'mean' }] }])
  })

  it('reports texts where numbers are required', async () => {
    await using queries = await bench()
    await queries.put('A', 'state', { [JUNE]: 'on', [JUNE + HOUR]: true })
    const query = { ...RANGE, resource: 'A', metric: 'state', aggregation: ['mean', 'last'] }
    const { data, messages } = await queries.api.execute({ query })
    expect(data).toMatchObject([
      {
        data: [
          [JUNE, null, 'on'],
          [JUNE + HOUR, null, true],
          [JUNE + 2 * HOUR, null, null],
          [JUNE + 3 * HOUR, null, null],
        ],
      },
    ])
    expect(messages[0]?.message).toBe("Series ('A', 'state', 'mean') has no numbers: mean ignores texts and booleans")
  })

  it('drops repeated series, and keeps series that differ by name', async () => {
    await using queries = await filled()
    const same = { metric: 't', aggregation: 'max' }
    const twice = await queries.api.execute({
      query: { ...RANGE, resource: 'A', data: [same, same, { ...same, aggregation: 'min' }] },
    })
    expect(twice.data).toMatchObject([{ columns: ['timestamp', { aggregation: 'max' }, { aggregation: 'min' }] }])
    const named = [
      { ...same, name: 'held', interpolation: 'pad' },
      { ...same, name: 'drawn', interpolation: 'linear' },
    ]
    const both = await queries.api.execute({ query: { ...RANGE, resource: 'A', data: named } })
    expect(both.data).toMatchObject([
      {
        columns: ['timestamp', { metric: 't', name: 'held' }, { metric: 't', name: 'drawn' }],
        data: [expect.anything(), expect.anything(), [JUNE + 2 * HOUR, 5, 7], expect.anything()] as unknown,
      },
    ])
  })

  it('reads nothing later than its reference time', async () => {
    await using queries = await filled()
    const query = { resource: 'A', metric: 't', aggregation: 'last', freq: 'PT1H', from: JUNE }
    const { data } = await queries.api.execute({ query }, { now: JUNE + 1 })
    expect(data).toMatchObject([{ data: [[JUNE, 12.67]], window_spec: { until: JUNE + HOUR } }])
    const raw = await queries.api.execute(
      { query: { resource: 'A', metric: 't', from: JUNE, until: JUNE + HOUR } },
      { now: JUNE + 1 },
    )
    expect(raw.data).toMatchObject([{ data: [[JUNE, 12.67]] }])
  })

  it('explains what it read', async () => {
    await using queries = await filled()
    const answer = await queries.ask('POST', '/data/query?explain=true', { ...RANGE, resource: 'A', data: SERIES })
    expect(answer.at('explain')).toMatchObject({
      pointsRead: 6,
      buckets: 8,
      emptyBuckets: 3,
      window_spec: { freq: 'PT1H' },
      series: [
        { resource: 'A', metric: 't', aggregation: 'max', points: 4, emptyBuckets: 1 },
        { resource: 'A', metric: 'h', aggregation: 'mean', points: 2, emptyBuckets: 2 },
      ],
    })
    expect(Object.keys(answer.at('explain.time') as object)).toEqual(['plan', 'read', 'interpolate', 'render'])
  })

  it('waits for acknowledged messages of the broker, and reports when data cannot be read', async () => {
    const order: string[] = []
    await using queries = await bench({ readable: async () => void order.push('readable') })
    await queries.api.execute({ query: { resource: 'A', metric: 't' } })
    expect(order).toEqual(['readable'])
    const readable = () => Promise.reject(new AppError('STORE', 'the disk is gone'))
    await using broken = await bench({ readable })
    const answer = await broken.ask('POST', '/data/query', { resource: 'A', metric: 't' })
    expect([answer.status, answer.body]).toEqual([
      502,
      { error: 'the data of the query cannot be read at the moment', code: 'DATA', messages: [] },
    ])
  })

  it.each(['csv', 'ndjson', 'arrow'] as const)(
    'reads no more of an endless series than %s consumes',
    async (format) => {
      const { storage, reads } = endless()
      await using queries = await bench({ storage })
      const query = { resource: 'A', metric: 't', from: JUNE, until: JUNE + 1e9 }
      const { parts } = await queries.api.open({ query }, { format })
      let bytes = 0
      for await (const part of parts) {
        bytes += part.length
        if (bytes > 5_000_000) break
      }
      // a row takes at least 16 bytes; one page is being processed, and one is read ahead
      expect(reads()).toBeLessThanOrEqual(bytes / 16 / 10_000 + 3)
      expect(reads()).toBeGreaterThan(5)
    },
  )

  it.each(['csv', 'ndjson', 'arrow'] as const)(
    'returns the messages of JSON also beside rows as %s',
    async (format) => {
      await using queries = await filled()
      const query = { resource: 'A', metric: 'h', from: JUNE, until: JUNE + 4 * HOUR, freq: 'PT1H' }
      const { messages } = await queries.api.execute({ query })
      expect(messages).toHaveLength(2)
      const opened = await queries.api.open({ query }, { format })
      expect(opened.messages).toEqual(messages)
      for await (const part of opened.parts) expect(part.length).toBeGreaterThan(0)
      const url = await queries.app.listen({ port: 0 })
      const http = createClient({ url, credentials: { key: 'k', secret: 's' } })
      const overWire = await http.queries.open({ query }, { format })
      expect(overWire.messages.map(({ message, level }) => [message, level])).toEqual(
        messages.map(({ message, level }) => [message, level]),
      )
      for await (const part of overWire.parts) expect(part.length).toBeGreaterThan(0)
    },
  )

  it('stops reading when its caller disconnects', async () => {
    const { storage, reads } = endless()
    await using queries = await bench({ storage })
    await queries.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = queries.app.server.address() as AddressInfo
    const gone = new AbortController()
    const response = await fetch(`http://127.0.0.1:${port}/data/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
      body: JSON.stringify({ resource: 'A', metric: 't', from: 0, until: 1e12 }),
      signal: gone.signal,
    })
    await response.body?.getReader().read()
    expect(queries.service.gauges().running).toBe(1)
    gone.abort()
    await expect.poll(() => queries.service.gauges().running).toBe(0)
    const read = reads()
    await queries.ask('GET', '/schema/query.json')
    expect(reads()).toBe(read)
  })

  it('groups the resources of a selection, or lists each separately', async () => {
    const found = [{ id: 'A', room: 'K1' }, { id: 'B', room: 'K1' }, { id: 'C', room: 'K2' }, { id: 'D' }]
    const asked: unknown[] = []
    const resources = { select: async (...given: readonly unknown[]) => (asked.push(given), found) }
    await using queries = await bench({ resources })
    for (const [i, id] of ['A', 'B', 'C', 'D'].entries()) await queries.put(id, 't', { [JUNE + i]: i })
    const query = { ...RANGE, until: JUNE + HOUR, metric: 't', aggregation: 'sum', resources: { type: 'boiler' } }
    expect((await queries.api.execute({ query })).data).toMatchObject([
      { columns: ['timestamp', ...['A', 'B', 'C', 'D'].map((resource) => ({ resource }))], data: [[JUNE, 0, 1, 2, 3]] },
    ])
    expect(asked).toEqual([[{ type: 'boiler' }, 1_001]])
    const grouped = await queries.api.execute({ query: { ...query, resources: { tag: 'x', groupBy: 'room' } } })
    expect(grouped.data).toMatchObject([
      { columns: ['timestamp', { group: 'K1', metric: 't' }, { group: 'K2' }], data: [[JUNE, 1, 2]] },
    ])
    expect(grouped.messages).toMatchObject([{ message: '1 resources are outside of all groups: they lack room' }])
    const listed = await queries.api.execute({ query: { ...query, resources: ['C', 'A', 'C'] } })
    expect(listed.data).toMatchObject([{ columns: ['timestamp', { resource: 'C' }, { resource: 'A' }] }])
  })

  it('rejects a result that does not fit into memory, before reading', async () => {
    await using queries = await bench()
    const query = {
      resources: Array.from({ length: 10 }, (_, i) => `r${i}`),
      metric: 't',
      from: 0,
      until: 3e8,
      freq: 'PT1S',
    }
    await expect(queries.api.execute({ query })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(queries.clock.now).toBe(NOW)
  })
})
