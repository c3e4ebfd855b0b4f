// Holds QUERY-3
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DataSet, RowSet } from '../../../src/services/queries/contract.ts'
import { jsonParts, LazyList } from '../../../src/services/queries/render/json-parts.ts'
import { Yielder } from '../../../src/kernel/yielder.ts'
import { machineTimers } from '../../../src/platform/timers.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { bench, type Bench } from './support/bench-of-queries.ts'

const HOUR = 3_600_000
const AT = 1717977600000
const NEXT = AT + 8 * HOUR

async function filled(): Promise<Bench> {
  const queries = await bench()
  await queries.put('A', 't', { [AT]: 12.67 })
  await queries.put('A', 'h', { [AT]: 80, [NEXT]: 70 })
  await queries.put('B', 't', { [NEXT]: 1 })
  return queries
}

const GROUPED = { from: AT, until: NEXT + 8 * HOUR, freq: 'PT8H' }
const TWO = [
  { resource: 'A', metric: 't', aggregation: 'max' },
  { resource: 'A', metric: 'h', aggregation: 'mean' },
]
const HEADS = [
  { resource: 'A', metric: 't', aggregation: 'max' },
  { resource: 'A', metric: 'h', aggregation: 'mean' },
]
const SPEC = { from: AT, until: NEXT + 8 * HOUR, window: 'PT16H', freq: 'PT8H' }
const ISO = ['2024-06-10T00:00:00+00:00', '2024-06-10T08:00:00+00:00']
const INPUT = { role: 'input' }
const FIRST = { ...INPUT, timestamp: AT, timestamp_iso: ISO[0] }
const SECOND = { ...INPUT, timestamp: NEXT, timestamp_iso: ISO[1] }
const NAMES = ['A/t/max', 'A/h/mean']
const ROWS = { data_axis: 'column', attributes: INPUT }
const CELLS = [
  [AT, 12.67, 80],
  [NEXT, null, 70],
]
const TABLE = {
  columns: ['timestamp', ...HEADS],
  column_names: ['timestamp', ...NAMES],
  data: CELLS,
  ...ROWS,
}

async function setOf(queries: Bench, render: unknown, query: object = { ...GROUPED, data: TWO }): Promise<DataSet> {
  const { data } = await queries.api.execute({ query: { ...query, ...(render !== undefined && { render }) } })
  return data[0] ?? expect.fail('no data set')
}

describe('a layout', () => {
  it.each<[unknown, unknown]>([
    [undefined, { ...TABLE, window_spec: SPEC }],
    ['COMPACT', TABLE],
    [
      'HEADER_ROW',
      {
        columns: ['timestamp', 'timestamp_iso', ...HEADS],
        column_names: ['timestamp', 'timestamp_iso', ...NAMES],
        data: [
          [AT, ISO[0], 12.67, 80],
          [NEXT, ISO[1], null, 70],
        ],
        ...ROWS,
      },
    ],
    [
      'RENDER_MODE_SERIES',
      {
        columns: ['timestamp', { metric: 't', aggregation: 'max' }, { metric: 'h', aggregation: 'mean' }],
        column_names: ['timestamp', ...NAMES],
        data: [
          [AT, NEXT],
          [12.67, null],
          [80, 70],
        ],
        data_axis: 'row',
        attributes: { role: 'input', resource: 'A' },
        window_spec: SPEC,
      },
    ],
    [
      { mode: 'HEADER_COLUMN' },
      {
        rows: [
          'resource',
          'metric',
          'aggregation',
          { timestamp: AT, timestamp_iso: ISO[0] },
          { timestamp: NEXT, timestamp_iso: ISO[1] },
        ],
        column_names: NAMES,
        data: [
          ['A', 't', 'max', 12.67, null],
          ['A', 'h', 'mean', 80, 70],
        ],
        data_axis: 'row',
        attributes: INPUT,
      },
    ],
    [
      'FLAT_DICT',
      [
        { ...FIRST, levels: ['resource.metric.aggregation'], 'A.t.max': 12.67, 'A.h.mean': 80 },
        { ...SECOND, levels: ['resource.metric.aggregation'], 'A.h.mean': 70 },
      ],
    ],
    [
      'HIER_DICT',
      [
        { ...FIRST, levels: ['resource', 'metric', 'aggregation'], A: { t: { max: 12.67 }, h: { mean: 80 } } },
        { ...SECOND, levels: ['resource', 'metric', 'aggregation'], A: { t: {}, h: { mean: 70 } } },
      ],
    ],
    [
      'METRIC_FLAT_DICT',
      [
        { ...FIRST, t: { 'A.max': 12.67 }, h: { 'A.mean': 80 } },
        { ...SECOND, h: { 'A.mean': 70 } },
      ],
    ],
    [
      'DESC',
      [
        { ...FIRST, levels: ['metric', 'resource.aggregation'], t: { 'A.max': 12.67 }, h: { 'A.mean': 80 } },
        { ...SECOND, levels: ['metric', 'resource.aggregation'], t: {}, h: { 'A.mean': 70 } },
      ],
    ],
    [
      'UPLOAD',
      [
        { resource: 'A', timestamp: AT, 't.max': 12.67, 'h.mean': 80 },
        { resource: 'A', timestamp: NEXT, 'h.mean': 70 },
      ],
    ],
    [
      { mode: 'FLAT_DICT', key_separator: '/', show_levels: false, iso_timestamp: false, value_key: 'v' },
      [
        { role: 'input', timestamp: AT, 'A/t/max': { v: 12.67 }, 'A/h/mean': { v: 80 } },
        { role: 'input', timestamp: NEXT, 'A/h/mean': { v: 70 } },
      ],
    ],
    [
      { mode: 'COMPACT', row_key: 'rows', column_key: 'heads', roll_up: true },
      {
        heads: ['timestamp', { metric: 't', aggregation: 'max' }, { metric: 'h', aggregation: 'mean' }],
        column_names: ['timestamp', ...NAMES],
        rows: CELLS,
        data_axis: 'column',
        attributes: { role: 'input', resource: 'A' },
      },
    ],
  ])('%j matches its recording, with the names of its columns', async (render, expected) => {
    await using queries = await filled()
    expect(await setOf(queries, render)).toEqual(expected)
  })

  it('rolls up only what several resources share, and keeps at least one level', async () => {
    await using queries = await filled()
    const several = { ...GROUPED, metric: 't', aggregation: 'max', data: [{ resource: 'A' }, { resource: 'B' }] }
    expect(await setOf(queries, 'SERIES', several)).toMatchObject({
      columns: ['timestamp', { resource: 'A' }, { resource: 'B' }],
      attributes: { role: 'input', metric: 't', aggregation: 'max' },
    })
    expect(
      await setOf(queries, 'SERIES', { ...GROUPED, resource: 'A', metric: 't', aggregation: 'max' }),
    ).toMatchObject({
      columns: ['timestamp', { aggregation: 'max' }],
      attributes: { role: 'input', resource: 'A', metric: 't' },
    })
  })

  it('UPLOAD of raw samples can be posted to the broker', async () => {
    await using queries = await filled()
    const raw = { from: AT, until: NEXT + 1, resource: 'A', data: [{ metric: 't' }, { metric: 'h' }] }
    expect(await setOf(queries, 'RENDER_MODE_UPLOAD', raw)).toEqual([
      { resource: 'A', timestamp: AT, t: 12.67, h: 80 },
      { resource: 'A', timestamp: NEXT, h: 70 },
    ])
  })

  it('by series is the transpose of the layout by rows', async () => {
    const sample = fc.tuple(
      fc.integer({ min: 0, max: 50 }),
      fc.constantFrom('t', 'h', 'p'),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(sample, { maxLength: 40 }), fc.boolean(), async (samples, isGrouped) => {
        await using queries = await bench()
        for (const [time, metric, value] of samples) await queries.put('r', metric, { [AT + time]: value })
        const data = ['t', 'h', 'p'].map((metric) => ({ metric }))
        const query = {
          resource: 'r',
          from: AT,
          until: AT + 60,
          data,
          ...(isGrouped && { freq: 'PT0.007S', aggregation: 'last' }),
        }
        const rows = (await setOf(queries, 'COMPACT_WS', query)) as RowSet
        const series = (await setOf(queries, 'SERIES', query)) as RowSet
        expect(series.data[0]?.map((_, i) => series.data.map((row) => row[i]))).toEqual(rows.data)
      }),
      runs(30),
    )
  })
})

describe('a large result', () => {
  const query = { from: AT, until: NEXT + 1, resource: 'A', data: [{ metric: 't', name: 'T, "in"' }, { metric: 'h' }] }
  const csv = 'timestamp,"T, ""in""",A/h\r\n2024-06-10T00:00:00.000000Z,12.67,80\r\n2024-06-10T08:00:00.000000Z,,70\r\n'

  it('is returned as CSV, by Accept or by the mode', async () => {
    await using queries = await filled()
    const accepted = await queries.ask('POST', '/data/query', query, { accept: 'text/csv' })
    expect([accepted.text, accepted.headers['content-type']]).toEqual([csv, 'text/csv; charset=utf-8'])
    expect((await queries.ask('POST', '/data/query?render.mode=CSV', query)).text).toBe(csv)
    const grouped = { ...GROUPED, resource: 'A', metric: 't', aggregation: 'max', render: 'RENDER_MODE_CSV' }
    expect((await queries.ask('POST', '/data/query', grouped)).text.split('\r\n')[0]).toBe('timestamp,A/t/max')
  })

  it('is returned as one JSON value per line', async () => {
    await using queries = await filled()
    const answer = await queries.ask('POST', '/data/query', query, { accept: 'application/x-ndjson' })
    expect(answer.text).toBe(
      `{"timestamp":${AT},"T, \\"in\\"":12.67,"A/h":80}\n{"timestamp":${NEXT},"T, \\"in\\"":null,"A/h":70}\n`,
    )
  })

  it('is returned as Arrow, with the types of its values', async () => {
    await using queries = await filled()
    await queries.put('A', 'state', { [AT]: 'on', [NEXT]: 'off' })
    await queries.put('A', 'ok', { [AT]: true })
    const data = ['t', 'state', 'ok'].map((metric) => ({ metric }))
    const { type, parts } = await queries.api.open({ query: { ...query, data } }, { format: 'arrow' })
    const bytes: Uint8Array[] = []
    for await (const part of parts) if (typeof part !== 'string') bytes.push(part)
    expect(type).toBe('application/vnd.apache.arrow.stream')
    const table = tableFromIPC(bytes)
    const rows = JSON.parse(JSON.stringify(table.toArray())) as unknown
    expect(rows).toEqual([
      { timestamp: AT, 'A/t': 12.67, 'A/state': 'on', 'A/ok': true },
      { timestamp: NEXT, 'A/t': null, 'A/state': 'off', 'A/ok': null },
    ])
    expect(table.schema.fields.map((field) => String(field.type))).toEqual([
      'Timestamp<MILLISECOND, UTC>',
      'Float64',
      'Utf8',
      'Bool',
    ])
  })

  it('has the same rows in each format, over many parts', async () => {
    await using queries = await bench()
    await queries.put('r', 'm', Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [AT + i, i / 8])))
    const asked = { resource: 'r', metric: 'm', from: AT, until: AT + 30_000 }
    const text = async (format: 'csv' | 'ndjson' | 'json') => {
      const all: string[] = []
      for await (const part of (await queries.api.open({ query: asked }, { format })).parts) all.push(String(part))
      return all
    }
    const json = await text('json')
    expect(json.length).toBeGreaterThan(2)
    const rows = (JSON.parse(json.join('')) as { data: [RowSet] }).data[0].data
    expect(rows).toHaveLength(25_000)
    const lines = (await text('ndjson'))
      .join('')
      .trim()
      .split('\n')
      .map((line): unknown => Object.values(JSON.parse(line) as Readonly<Record<string, unknown>>))
    expect(lines).toEqual(rows)
    const cells = (await text('csv'))
      .join('')
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(','))
    expect(cells.map(([time = '', value]) => [Date.parse(time), Number(value)])).toEqual(rows)
    const arrow: Uint8Array[] = []
    for await (const part of (await queries.api.open({ query: asked }, { format: 'arrow' })).parts)
      arrow.push(part as Uint8Array)
    expect(tableFromIPC(arrow).numRows).toBe(25_000)
  })

  it('is the same JSON in parts as in one piece', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 0, max: 1_200 }), async (value, count) => {
        const whole = {
          value,
          list: Array.from({ length: count }, () => value),
          deep: [{ list: Array.from({ length: count }, (_, i) => [i, value]) }],
          none: undefined,
        }
        let text = ''
        for await (const part of jsonParts(whole, new Yielder(machineTimers))) text += part
        expect(text).toBe(JSON.stringify(whole))
      }),
      runs(30),
    )
  })

  it.each([0, 1, 500, 1_201])('of a lazy list of %d rows equals that of the list', async (length) => {
    const rowAt = (i: number) => [i, 'x']
    let text = ''
    for await (const part of jsonParts({ rows: new LazyList(length, rowAt) }, new Yielder(machineTimers))) text += part
    expect(text).toBe(JSON.stringify({ rows: Array.from({ length }, (_, i) => rowAt(i)) }))
  })
})
