import { describe, expect, it } from 'vitest'
import { executeQueryPlug } from '../../plugins/execute-query/plug.ts'
import type { QueryPort } from '../../src/core/plug/services.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const NOW = 1_700_000_000_000
const QUERY = { resource: 'r', metric: 't' }
const COLUMNS = [
  { resource: 'r', metric: 't', aggregation: 'max' },
  { resource: 'r', metric: 'h', aggregation: 'mean' },
]

function answering(rows: readonly (readonly [number, ...unknown[]])[], messages: readonly string[] = []): QueryPort {
  return { execute: async () => ({ columns: COLUMNS, rows, messages }) }
}

const run = (port: QueryPort | undefined, properties: Readonly<Record<string, unknown>>) =>
  runPlugLater(executeQueryPlug(port), { properties: { name: 'q', ...properties }, now: NOW })

describe('executeQuery', () => {
  it('runs a stored or inline query at the time of the task', async () => {
    const { queries, asked } = plugServices()
    const ran = await runPlugLater(executeQueryPlug(queries), { properties: { name: 'q', resource: 'b' }, now: NOW })
    expect(ran).toMatchObject({
      state: 'Collected',
      rawData: { value: 21, timestamp: -60_000, column: { metric: 'temperature' } },
    })
    await runPlugLater(executeQueryPlug(queries), { properties: { query: QUERY }, now: NOW, taskResource: 'boiler-1' })
    expect(asked.map((one) => one.with)).toEqual([
      [{ stored: 'q' }, { now: NOW, resource: 'b' }],
      [{ query: QUERY }, { now: NOW, taskResource: 'boiler-1' }],
    ])
  })

  it.each([
    [{}, 'Collected'],
    [{ low: 3 }, 'Below'],
    [{ low: 2, high: 2 }, 'In Range'],
    [{ high: 1 }, 'Above'],
    [{ high: 5 }, 'In Range'],
    [{ low: 1, cell: 'first' }, 'In Range'],
    [{ low: 1.5, cell: 'first' }, 'Below'],
    [{ column: '1' }, 'Not Collected'],
    [{ column: 'h', low: 5 }, 'Not Collected'],
  ])('with %j returns %s', async (properties, state) => {
    expect(
      await run(
        answering([
          [0, 1, null],
          [1, 2, null],
          [2, null, null],
        ]),
        properties,
      ),
    ).toMatchObject({ state })
  })

  it('returns a cell or a column, with the messages of the query', async () => {
    const port = answering(
      [
        [0, 1, 7],
        [1, 2, 'on'],
        [2, null, null],
      ],
      ['some are missing'],
    )
    expect(await run(port, { column: 'r/h/mean', output: 'column', low: 1 })).toMatchObject({
      state: 'Collected',
      rawData: {
        value: 'on',
        timestamp: 1,
        column: COLUMNS[1],
        values: [
          [0, 7],
          [1, 'on'],
          [2, null],
        ],
        messages: ['some are missing'],
      },
    })
    expect(await run(answering([]), {})).toMatchObject({ state: 'Not Collected', rawData: { column: COLUMNS[0] } })
  })

  it('fails without a query service, for an unknown column, and when the query is rejected', async () => {
    await expect(run(undefined, {})).rejects.toThrow('the service queries is missing in this engine')
    await expect(run(answering([]), { column: 'x' })).rejects.toThrow(
      '"x" is not a column of the query; use one of r/t/max, r/h/mean',
    )
    await expect(run(answering([]), { column: '2' })).rejects.toThrow('"2" is not a column of the query')
    const { queries } = plugServices({ refusing: new Error('no') })
    await expect(run(queries, {})).rejects.toThrow('no')
    const none = runPlugLater(executeQueryPlug(answering([])), { properties: {}, now: NOW })
    await expect(none).rejects.toThrow('the query is missing; set name to a stored query, or query')
  })

  it('rejects invalid properties before the start', () => {
    const port: QueryPort = { ...answering([]), check: () => [{ path: '/periods', message: 'is no number' }] }
    expect(checkPlug(executeQueryPlug(port), { query: QUERY })).toEqual([
      expect.stringContaining('/periods: is no number'),
    ])
    expect(checkPlug(executeQueryPlug(port), { name: 'q', low: 2, high: 1 })).toEqual([
      expect.stringContaining('low is 2, and high is 1'),
    ])
    expect(checkPlug(executeQueryPlug(), { name: 'q', low: 1, high: 1 })).toEqual([])
  })
})
