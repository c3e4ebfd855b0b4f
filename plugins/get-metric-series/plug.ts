/** A sensor that fetches stored samples of a metric, as they are or in groups. */
import { type DataPort, definePlug, durationMs, type Plug, requireService, resourceOf } from '#plug'

/** A sensor that reads a part of a series. */
export function getMetricSeriesPlug(data?: DataPort): Plug {
  return definePlug({
    name: 'getMetricSeries',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The stored samples of a metric, as they are or in groups, at most 2,000 points: Collected, or Not Collected when there is no value. It fails when data cannot be asked.',
    category: 'Data',
    parameters: [],
    states: ['Collected', 'Not Collected'],
    input: {
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'whose metric; that of the node or of the task when left out',
        example: 'boiler-1',
      },
      metric: { type: 'string', mandatory: true, description: 'the name of the metric', example: 'temperature' },
      from: {
        type: 'string',
        description: 'epoch milliseconds, ISO 8601, or how long ago such as PT2H or 2h; seven days before the end',
        example: 'PT2H',
      },
      to: {
        type: 'string',
        description: 'epoch milliseconds, ISO 8601, or how long ago; now when left out',
        example: 'PT1H',
      },
      grouping: {
        type: 'string',
        description: 'how long groups are: auto, hour, 42m or ISO 8601; it wants an aggregate',
        example: '15m',
      },
      aggregate: {
        type: 'string',
        description: 'mean, median, min, max, sum, count, first, last, std, percentile(0.9) ...; samples without it',
        example: 'mean',
      },
    },
    output: {
      series: { type: 'array', description: 'rows of time, in epoch milliseconds, and value' },
      query: { type: 'object', description: 'the query with its times resolved' },
    },
    async execute(context) {
      const { properties, now } = context
      const { metric, from, to, grouping, aggregate } = properties
      const answer = await requireService(data, 'data').series({
        metric,
        resources: [resourceOf(context)],
        ...(from !== undefined && { from: timeOf(from, now) }),
        until: to === undefined ? now : timeOf(to, now),
        ...(grouping !== undefined && { grouping }),
        ...(aggregate !== undefined && { aggregates: [aggregate] }),
      })
      const { series, query } = answer
      const rows: readonly unknown[] = Array.isArray(series) ? series : []
      return { state: rows.some(hasValue) ? 'Collected' : 'Not Collected', rawData: { series: rows, query } }
    },
  })
}

function hasValue(row: unknown): boolean {
  return Array.isArray(row) && row[1] !== null && row[1] !== undefined
}

const AGE = /^\s*(?:[+-]?P|\d+(?:\.\d+)?\s*(?:ms|[smhdw])\s*$)/i

/** Epoch ms of an age; anything else is for the service to read. */
function timeOf(text: string, now: number): string | number {
  return AGE.test(text) ? Math.round(now - Math.abs(durationMs(text))) : text.trim()
}
