/** A sensor that reads stored samples of a metric, raw or grouped. */
import { type DataPort, definePlug, durationMs, requireService, RESOURCE_INPUT, resourceOf } from '#plug'

export function getMetricSeriesPlug(data?: DataPort) {
  return definePlug({
    name: 'getMetricSeries',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The stored samples of a metric, raw or grouped, at most 2,000 points: Collected, or Not Collected without a value. Fails when data is unavailable.',
    category: 'Data',
    parameters: [],
    states: ['Collected', 'Not Collected'],
    input: {
      resource: { ...RESOURCE_INPUT, description: 'resource of the metric; default: that of the node or task' },
      metric: { type: 'string', mandatory: true, description: 'the name of the metric', example: 'temperature' },
      from: {
        type: 'string',
        description: 'epoch milliseconds, ISO 8601, or an age such as PT2H or 2h; default: seven days before the end',
        example: 'PT2H',
      },
      to: {
        type: 'string',
        description: 'epoch milliseconds, ISO 8601, or an age; default: now',
        example: 'PT1H',
      },
      grouping: {
        type: 'string',
        description: 'length of groups: auto, hour, 42m or ISO 8601; requires an aggregate',
        example: '15m',
      },
      aggregate: {
        type: 'string',
        description: 'mean, median, min, max, sum, count, first, last, std, percentile(0.9) ...; default: raw samples',
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
      const answer = await requireService(data, 'data').series(
        {
          metric,
          resources: [resourceOf(context)],
          ...(from !== undefined && { from: timeOf(from, now) }),
          until: to === undefined ? now : timeOf(to, now),
          ...(grouping !== undefined && { grouping }),
          ...(aggregate !== undefined && { aggregates: [aggregate] }),
        },
        now,
      )
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

/** Converts an age to epoch ms; the service parses anything else. */
function timeOf(text: string, now: number): string | number {
  return AGE.test(text) ? Math.round(now - Math.abs(durationMs(text))) : text.trim()
}
