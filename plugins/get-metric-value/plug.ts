/** A sensor that fetches one figure over the stored samples of a metric. */
import { type DataPort, definePlug, lengthOf, type Plug, problemsOfCode, requireService, resourceOf } from '#plug'

/** A sensor that gives one figure over what a metric was lately. */
export function getMetricValuePlug(data?: DataPort): Plug {
  return definePlug({
    name: 'getMetricValue',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'One figure over the stored samples of a metric, from a duration ago until now: Collected, or Not Collected when there is none. It fails when data cannot be asked.',
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
      aggregate: {
        type: 'string',
        defaultValue: 'mean',
        format: { type: 'enum', values: ['mean', 'median', 'first', 'last', 'count', 'std', 'min', 'max', 'sum'] },
        description: 'what to make of the samples',
        example: 'max',
      },
      duration: {
        type: 'string',
        defaultValue: 'P7D',
        format: { type: 'duration' },
        description: 'how far to look back: 5m, 2h, or ISO 8601 such as PT5M',
        example: '1h',
      },
    },
    output: { result: { type: 'any', description: 'the figure; absent when there is none' } },
    check: ({ duration }) => problemsOfCode('duration', duration, lengthOf),
    prepare: ({ duration }) => lengthOf(duration),
    async execute(context) {
      const { properties, prepared: length, now } = context
      const { metric, aggregate } = properties
      const whole = Math.ceil(length)
      const { series } = await requireService(data, 'data').series({
        metric,
        resources: [resourceOf(context)],
        aggregates: [aggregate],
        from: now - whole,
        until: now,
        // one group; a ms more, so that a sample of right now is in it
        grouping: `PT${((whole + 1) / 1_000).toFixed(3)}S`,
      })
      const row: unknown = Array.isArray(series) ? series[0] : undefined
      const result: unknown = Array.isArray(row) ? row[1] : undefined
      const isNone = result === undefined || result === null
      return isNone ? { state: 'Not Collected', rawData: {} } : { state: 'Collected', rawData: { result } }
    },
  })
}
