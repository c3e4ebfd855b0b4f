import { describe, expect, it } from 'vitest'
import { Ajv } from 'ajv'
import { bench } from './support/bench-of-queries.ts'

const OK = { resource: 'A', metric: 't' }

describe('an invalid query', () => {
  it.each<[string, unknown, readonly string[]]>([
    [
      'of a series without its parts',
      { resource: 'A', data: [{ metric: 'm' }, {}] },
      ['/data/1/metric <- is missing (name a metric)'],
    ],
    [
      'without an order',
      { ...OK, interpolation: 'spline', data: [{}, { metric: 'n', interpolation: { method: 'polynomial' } }] },
      [
        '/interpolation/order <- is missing, and spline needs it (add a whole number from 1 to 5)',
        '/data/1/interpolation/order <- is missing, and polynomial needs it (add a whole number from 1 to 5)',
      ],
    ],
    [
      'of duplicates that differ',
      { ...OK, data: [{ interpolation: 'pad' }, { interpolation: 'linear' }, { name: 'x' }] },
      [
        '/data/1 <- has the resource, metric and aggregation of another series, and another interpolation (set the name of each)',
        '/data/2 <- has the resource, metric and aggregation of another series, and another interpolation (set the name of each)',
      ],
    ],
    [
      'over-specified, and more',
      { ...OK, from: 0, until: 1, window: 'PT1H', interpolation: 'spline' },
      [
        '/window <- from, until and window cannot be combined (omit one of the three)',
        '/interpolation/order <- is missing, and spline needs it (add a whole number from 1 to 5)',
      ],
    ],
    [
      'of several resources to be uploaded',
      { metric: 't', resources: ['A', 'B'], render: { mode: 'UPLOAD', iso_timestamp: true } },
      [
        '/render <- UPLOAD cannot be combined with other options (omit the options)',
        '/render <- UPLOAD takes a single resource (request one resource, or another mode)',
      ],
    ],
    [
      'with both resource and resources',
      { ...OK, resources: ['B'] },
      ['/resources <- cannot be combined with resource (omit one of the two)'],
    ],
    [
      'with a selection of nothing',
      { metric: 't', resources: {} },
      ['/resources <- selects nothing (add type, tag or query)'],
    ],
    [
      'with groups of samples as they are',
      { metric: 't', resources: { tag: 'x', groupBy: 'room' } },
      ['/resources/groupBy <- requires freq (add freq and an aggregation)'],
    ],
  ])('is rejected with every problem: %s', async (_name, query, problems) => {
    await using queries = await bench()
    const answer = await queries.ask('POST', '/data/query', query)
    expect(answer.status).toBe(400)
    const details = answer.at('details') as readonly string[]
    expect(details.toSorted()).toEqual(
      problems.toSorted().map((problem) => expect.stringContaining(problem) as unknown),
    )
    expect(answer.at('messages')).toMatchObject(details.map((message) => ({ message, level: 'error' })))
    expect(queries.service.check(query)).toHaveLength(details.length)
  })

  it('reports that a selection requires resources, and a name requires a stored query', async () => {
    await using queries = await bench()
    const selection = await queries.ask('POST', '/data/query', { metric: 't', resources: { tag: 'x' } })
    expect([selection.status, selection.at('error')]).toEqual([
      503,
      'this host does not serve resources to select from',
    ])
    const unknown = await queries.ask('GET', '/data/query/nothing')
    expect([unknown.status, unknown.body]).toEqual([
      404,
      { error: "Query 'nothing' not found", code: 'NOT_FOUND', messages: [] },
    ])
  })
})

describe('overrides', () => {
  it('replace defaults, but not the settings of a series', async () => {
    await using queries = await bench()
    await queries.put('A', 't', { 0: 1, 1: 5 })
    await queries.put('B', 't', { 0: 7 })
    const query = {
      resource: 'A',
      metric: 't',
      aggregation: 'min',
      from: 0,
      until: 10,
      freq: 'PT1S',
      data: [{}, { aggregation: 'mean' }],
    }
    await queries.ask('POST', '/config/query', { name: 'q', query })
    const columns = (answer: { at(path: string): unknown }) => answer.at('data.0.columns')
    const max = await queries.ask('GET', '/data/query/q?aggregation=max&api_version=0.19')
    expect([columns(max), max.at('data.0.data'), max.at('query.aggregation')]).toEqual([
      [
        'timestamp',
        { resource: 'A', metric: 't', aggregation: 'max' },
        { resource: 'A', metric: 't', aggregation: 'mean' },
      ],
      [[0, 5, 3]],
      'max',
    ])
    const other = await queries.ask(
      'POST',
      '/data/query?resource=B&until=2000&render.iso_timestamp=true&interpolation.method=fixed&interpolation.value=3',
      query,
    )
    expect(other.at('data.0.data')).toEqual([
      [0, '1970-01-01T00:00:00+00:00', 7, 7],
      [1_000, '1970-01-01T00:00:01+00:00', 3, 3],
    ])
    expect(other.at('query')).toMatchObject({
      interpolation: { method: 'fixed', value: 3 },
      render: { iso_timestamp: true },
      until: 2_000,
    })
    const bare = await queries.ask('GET', '/data/query/q?interpolation=pad&render=SERIES&aggregation=max,min')
    expect([bare.status, bare.at('query.interpolation'), bare.at('data.0.data_axis')]).toEqual([200, 'pad', 'row'])
    expect(columns(bare)).toHaveLength(4)
  })

  it('are rejected where they do not apply', async () => {
    await using queries = await bench()
    await queries.ask('POST', '/config/query', { name: 'q', query: OK })
    const wrong = await queries.ask('GET', '/data/query/q?periods=many&data=x&render.mode=NICE&align.timezone=Mars')
    expect([wrong.status, wrong.at('details')]).toEqual([
      400,
      expect.arrayContaining([
        expect.stringContaining('/data <- ') as unknown,
        expect.stringContaining('/periods <- ') as unknown,
        expect.stringContaining('/render/mode <- "NICE" is unknown') as unknown,
      ]) as unknown,
    ])
    expect((await queries.ask('GET', '/data/query/q?explain=perhaps')).status).toBe(400)
  })
})

it('the schema of queries is a JSON Schema', async () => {
  await using queries = await bench()
  const schema = (await queries.ask('GET', '/schema/query.json')).body as { $schema: string; definitions: object }
  expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#')
  const validate = new Ajv({ strict: false }).compile(schema)
  expect([OK, { ...OK, windw: 'P1D' }].map((query) => validate(query))).toEqual([true, false])
})
