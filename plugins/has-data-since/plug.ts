/** A sensor that asks whether a metric was stored since a given time. */
import {
  AppError,
  type DataPort,
  definePlug,
  durationMs,
  endOfWait,
  type Plug,
  problemsOfCode,
  requireService,
  resourceOf,
} from '#plug'

/** A sensor that tells whether a metric has a sample since a time. */
export function hasDataSincePlug(data?: DataPort): Plug {
  return definePlug({
    name: 'hasDataSince',
    version: '2.0.0',
    compatible: '>=1.0.0 <2',
    kind: 'sensor',
    description:
      'True when a metric has a stored sample since a time, that time included, else False. After a downtime of the host the age counts from its start. It fails when data cannot be asked.',
    category: 'Data',
    downtime: 'restart',
    parameters: [],
    states: ['True', 'False'],
    input: {
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'whose metric; that of the node or of the task when left out',
        example: 'boiler-1',
      },
      metric: { type: 'string', description: 'the name of the metric; any when left out', example: 'temperature' },
      since: {
        type: 'string',
        mandatory: true,
        description: 'how long ago, such as 5m or PT5M, or a time in epoch milliseconds',
        example: 'PT10M',
      },
    },
    output: {
      lastTimestamp: { type: 'long', description: 'when the newest sample is from; absent without one', unit: 'ms' },
    },
    check: ({ since }) => problemsOfCode('since', since, sinceOf),
    prepare: ({ since }) => sinceOf(since),
    async execute(context) {
      const { properties, prepared, now, downtime } = context
      const { metric } = properties
      const newest = await requireService(data, 'data').latest(resourceOf(context))
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
  throw new AppError('VALIDATION', `"${trimmed}" is no time; write epoch milliseconds or a duration such as PT5M`)
}
