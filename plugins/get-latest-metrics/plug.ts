/** A sensor that reads the newest value of each metric of a resource. */
import { type DataPort, definePlug, lengthOf, problemsOfCode, requireService, RESOURCE_INPUT, resourceOf } from '#plug'

export function getLatestMetricsPlug(data?: DataPort) {
  return definePlug({
    name: 'getLatestMetrics',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The newest stored value of each metric of a resource, overridden by the message in scope: Collected, or Not Collected without any. Fails when data is unavailable.',
    category: 'Data',
    parameters: () => undefined,
    states: ['Collected', 'Not Collected'],
    input: {
      resource: { ...RESOURCE_INPUT, description: 'resource of the metrics; default: that of the node or task' },
      from: {
        type: 'string',
        format: { type: 'duration' },
        description: 'maximal age of a value: 5m, 2h, or ISO 8601 such as PT5M; default: any',
        example: 'PT1H',
      },
    },
    openOutput: true,
    check: ({ from }) => problemsOfCode('from', from, lengthOf),
    prepare: ({ from }) => (from === undefined ? Infinity : lengthOf(from)),
    async execute(context) {
      const { now, prepared: age, streamData } = context
      const newest = await requireService(data, 'data').latest(resourceOf(context), context.now)
      const fresh = newest.filter(({ time }) => time >= now - age)
      const rawData = { ...Object.fromEntries(fresh.map(({ metric, value }) => [metric, value])), ...streamData }
      return { state: Object.keys(rawData).length > 0 ? 'Collected' : 'Not Collected', rawData }
    },
  })
}
