/** A sensor that aggregates the recent stored samples of a metric to one figure. */
import { type DataPort, definePlug, lengthOf, problemsOfCode, requireService, RESOURCE_INPUT, resourceOf } from '#plug'

export function getMetricValuePlug(data?: DataPort) {
  return definePlug({
    name: 'getMetricValue',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'One figure over the stored samples of a metric, from a duration ago until now: Collected, or Not Collected without any. Fails when data is unavailable.',
    category: 'Data',
    parameters: [],
    states: ['Collected', 'Not Collected'],
    input: {
      resource: { ...RESOURCE_INPUT, description: 'resource of the metric; default: that of the node or task' },
      metric: { type: 'string', mandatory: true, description: 'the name of the metric', example: 'temperature' },
      aggregate: {
        type: 'string',
        defaultValue: 'mean',
        format: { type: 'enum', values: ['mean', 'median', 'first', 'last', 'count', 'std', 'min', 'max', 'sum'] },
        description: 'aggregation of the samples',
        example: 'max',
      },
      duration: {
        type: 'string',
        defaultValue: 'P7D',
        format: { type: 'duration' },
        description: 'length of the window until now: 5m, 2h, or ISO 8601 such as PT5M',
        example: '1h',
      },
    },
    output: { result: { type: 'any', description: 'the figure, if any' } },
    check: ({ duration }) => problemsOfCode('duration', duration, lengthOf),
    prepare: ({ duration }) => lengthOf(duration),
    async execute(context) {
      const { properties, prepared: length, now } = context
      const { metric, aggregate } = properties
      const whole = Math.ceil(length)
      const { series } = await requireService(data, 'data').series(
        {
          metric,
          resources: [resourceOf(context)],
          aggregates: [aggregate],
          from: now - whole,
          until: now,
          // one group, a ms longer so that it includes a sample from this moment
          grouping: `PT${((whole + 1) / 1_000).toFixed(3)}S`,
        },
        now,
      )
      const row: unknown = Array.isArray(series) ? series[0] : undefined
      const result: unknown = Array.isArray(row) ? row[1] : undefined
      const isNone = result === undefined || result === null
      return isNone ? { state: 'Not Collected', rawData: {} } : { state: 'Collected', rawData: { result } }
    },
  })
}
