/** A sensor that executes a time series query and compares its value with thresholds. */
import {
  AppError,
  definePlug,
  problemsOfIssues,
  type QueryPort,
  requireService,
  RESOURCE_INPUT,
  resourceOf,
} from '#plug'

type Answer = Awaited<ReturnType<QueryPort['execute']>>

export function executeQueryPlug(queries?: QueryPort) {
  return definePlug({
    name: 'executeQuery',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'A cell or a column of a time series query, as of the time of the task. With thresholds: Below, In Range or Above; without: Collected. Not Collected without a value. Fails when the query is rejected.',
    category: 'Data',
    parameters: [],
    states: ['Collected', 'Not Collected', 'Below', 'In Range', 'Above'],
    input: {
      name: { type: 'string', description: 'name of a stored query', example: 'boiler-means' },
      query: {
        type: 'object',
        description: 'inline query instead of a stored one',
        example: { resource: 'boiler-1', metric: 'temperature', aggregation: 'mean', freq: 'PT1H', periods: 24 },
      },
      resource: {
        ...RESOURCE_INPUT,
        description: 'overrides the resource of the query; default without either: the resource of the node or task',
      },
      column: {
        type: 'string',
        description: 'index from 0, metric, or resource/metric/aggregation; default: the first column',
        example: 'temperature',
      },
      cell: {
        type: 'string',
        defaultValue: 'last',
        format: { type: 'enum', values: ['last', 'first'] },
        description: 'selected value of the column: the last one present, or the first',
        example: 'last',
      },
      output: {
        type: 'string',
        defaultValue: 'cell',
        format: { type: 'enum', values: ['cell', 'column'] },
        description: 'column: adds all values of the column to the raw data',
        example: 'column',
      },
      low: { type: 'double', description: 'numbers below it are Below', example: 20 },
      high: { type: 'double', description: 'numbers above it are Above', example: 90 },
    },
    output: {
      value: { type: 'any', description: 'the selected value, if any' },
      timestamp: { type: 'double', description: 'its time, in epoch milliseconds' },
      column: { type: 'object', description: 'resource, metric and aggregation of the column' },
      values: { type: 'array', description: 'rows of time and value; with output column' },
      messages: { type: 'array', description: 'messages of the query service' },
    },
    check({ query, low, high }) {
      if (low !== undefined && high !== undefined && low > high) {
        return [{ property: 'low', message: `low is ${low}, and high is ${high}`, suggestion: 'swap them' }]
      }
      return query !== undefined && queries?.check ? problemsOfIssues(queries.check(query), 'query') : []
    },
    async execute(context) {
      const { properties, now, node, task } = context
      const { name, query, resource, column, cell, output, low, high } = properties
      const taskResource = node.RESOURCE ?? task.RESOURCE ?? ''
      const port = requireService(queries, 'queries')
      const source = query === undefined ? { stored: name ?? '' } : { query }
      if (query === undefined && name === undefined) {
        throw new AppError('PLUG_FAILED', 'the query is missing; set name to a stored query, or query')
      }
      const answer = await port.execute(source, {
        now,
        ...(resource !== undefined && { resource: resourceOf(context) }),
        ...(taskResource !== '' && { taskResource }),
      })
      const index = indexOf(answer, column)
      const values = answer.rows.map((row): readonly [number, unknown] => [row[0], row[index + 1]])
      const known = values.filter(([, value]) => value !== null && value !== undefined)
      const [timestamp, value] = (cell === 'first' ? known[0] : known.at(-1)) ?? []
      const rawData = {
        ...(value !== undefined && { value, timestamp }),
        ...(answer.columns[index] && { column: answer.columns[index] }),
        ...(output === 'column' && { values }),
        ...(answer.messages.length > 0 && { messages: answer.messages }),
      }
      return { state: stateOf(value, low, high), rawData }
    },
  })
}

function stateOf(
  value: unknown,
  low: number | undefined,
  high: number | undefined,
): 'Collected' | 'Not Collected' | 'Below' | 'In Range' | 'Above' {
  if (value === undefined) return 'Not Collected'
  if (typeof value !== 'number' || (low === undefined && high === undefined)) return 'Collected'
  if (low !== undefined && value < low) return 'Below'
  return high !== undefined && value > high ? 'Above' : 'In Range'
}

function indexOf({ columns }: Answer, wanted: string | undefined): number {
  if (wanted === undefined) return 0
  const text = wanted.trim()
  const index = /^\d{1,6}$/.test(text)
    ? Number(text)
    : columns.findIndex((head) => head['metric'] === text || Object.values(head).join('/') === text)
  if (index >= 0 && index < columns.length) return index
  const known = columns.map((head) => Object.values(head).join('/')).slice(0, 10)
  throw new AppError('PLUG_FAILED', `"${text}" is not a column of the query; use one of ${known.join(', ')}`)
}
