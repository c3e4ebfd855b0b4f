/** A sensor that fetches the newest value of each metric of a resource. */
import { type DataPort, definePlug, lengthOf, type Plug, problemsOfCode, requireService, resourceOf } from '#plug'

/** A sensor that gives the newest value of each metric. */
export function getLatestMetricsPlug(data?: DataPort): Plug {
  return definePlug({
    name: 'getLatestMetrics',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The newest stored value of each metric of a resource, with the message in reach laid over: Collected, or Not Collected when there is nothing. It fails when data cannot be asked.',
    category: 'Data',
    // the message as a whole
    parameters: () => undefined,
    states: ['Collected', 'Not Collected'],
    input: {
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'whose metrics; that of the node or of the task when left out',
        example: 'boiler-1',
      },
      from: {
        type: 'string',
        format: { type: 'duration' },
        description: 'how old a value may be: 5m, 2h, or ISO 8601 such as PT5M; of any age when left out',
        example: 'PT1H',
      },
    },
    openOutput: true,
    check: ({ from }) => problemsOfCode('from', from, lengthOf),
    prepare: ({ from }) => (from === undefined ? Infinity : lengthOf(from)),
    async execute(context) {
      const { now, prepared: age, streamData } = context
      const newest = await requireService(data, 'data').latest(resourceOf(context))
      const fresh = newest.filter(({ time }) => time >= now - age)
      const rawData = { ...Object.fromEntries(fresh.map(({ metric, value }) => [metric, value])), ...streamData }
      return { state: Object.keys(rawData).length > 0 ? 'Collected' : 'Not Collected', rawData }
    },
  })
}
