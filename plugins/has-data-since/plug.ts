/** A sensor that checks whether a metric has a stored sample since a given time. */
import {
  AppError,
  type DataPort,
  definePlug,
  durationMs,
  endOfWait,
  problemsOfCode,
  requireService,
  RESOURCE_INPUT,
  resourceOf,
} from '#plug'

export function hasDataSincePlug(data?: DataPort) {
  return definePlug({
    name: 'hasDataSince',
    version: '2.0.0',
    compatible: '>=1.0.0 <2',
    kind: 'sensor',
    description:
      'True when a metric has a stored sample at or after a time, otherwise False. After a downtime of the host the age counts from its start. Fails when data is unavailable.',
    category: 'Data',
    downtime: 'restart',
    parameters: [],
    states: ['True', 'False'],
    input: {
      resource: { ...RESOURCE_INPUT, description: 'resource of the metric; default: that of the node or task' },
      metric: { type: 'string', description: 'name of the metric; default: any', example: 'temperature' },
      since: {
        type: 'string',
        mandatory: true,
        description: 'age such as 5m or PT5M, or a time in epoch milliseconds',
        example: 'PT10M',
      },
    },
    output: {
      lastTimestamp: { type: 'long', description: 'time of the newest sample, if any', unit: 'ms' },
    },
    check: ({ since }) => problemsOfCode('since', since, sinceOf),
    prepare: ({ since }) => sinceOf(since),
    async execute(context) {
      const { properties, prepared, now, downtime } = context
      const { metric } = properties
      const newest = await requireService(data, 'data').latest(resourceOf(context), context.now)
      const times = newest.flatMap((sample) => (metric === undefined || sample.metric === metric ? [sample.time] : []))
      if (times.length === 0) return { state: 'False', rawData: {} }
      const lastTimestamp = Math.max(...times)
      const isSince =
        prepared.age === undefined
          ? lastTimestamp >= prepared.time
          : now <= endOfWait(lastTimestamp, prepared.age, downtime)
      return { state: isSince ? 'True' : 'False', rawData: { lastTimestamp } }
    },
  })
}

type Since = { readonly age: number } | { readonly age: undefined; readonly time: number }

const LAST = 8_640_000_000_000_000

function sinceOf(text: string): Since {
  const trimmed = text.trim()
  if (!/^\d{1,16}$/.test(trimmed)) return { age: Math.abs(durationMs(trimmed)) }
  const time = Number(trimmed)
  if (time <= LAST) return { age: undefined, time }
  throw new AppError(
    'VALIDATION',
    `"${trimmed}" is not a valid time; use epoch milliseconds or a duration such as PT5M`,
  )
}
