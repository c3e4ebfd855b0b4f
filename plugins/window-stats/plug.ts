/** A sensor that compares a statistic over the last samples, or over a duration, with limits. */
import {
  AppError,
  type CompiledNumber,
  compileNumber,
  definePlug,
  hasNewData,
  isKnown,
  lacking,
  latenessOf,
  lengthOf,
  ownValue,
  type PlugContext,
  problemsOfCode,
  sampleTime,
  slackOf,
} from '#plug'
import type { WindowReach } from '../window/timed-window.ts'
import {
  goOn,
  memoryOf,
  STATISTICS,
  statisticOf,
  statisticsOf,
  take,
  takeLate,
  type Statistic,
  type Statistics,
} from './statistics.ts'

export const windowStats = definePlug({
  name: 'windowStats',
  version: '2.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description:
    'Count, mean, min, max, sum, standard deviation and percentile over the last samples or a duration. The chosen one is Above, In Range or Below the limits, and Collecting below the minimum of samples. Each value of a message counts once, at the timestamp of its message, capped at the current time; a reading behind a newer one counts from the next run on. A run without a new value shows the current statistics. A run costs the same for 10 samples as for 1,000.',
  category: 'Logic',
  parameters: [],
  states: ['Above', 'In Range', 'Below', 'Collecting'],
  absorbs: 'late',
  input: {
    value: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'number to collect: name of a value of the message, or an expression',
      example: 'temperature',
    },
    samples: { type: 'integer', description: 'length of the window in numbers, at most 100,000', example: 60 },
    duration: {
      type: 'string',
      format: { type: 'duration' },
      description: 'length of the window in time: 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M',
      example: '5m',
    },
    lateness: {
      type: 'string',
      format: { type: 'duration' },
      description:
        'allowed lateness of a number behind the newest: 0s, 30s, or ISO 8601 such as PT30S; later numbers are dropped and counted in late. Default: the length of the window',
      example: '30s',
    },
    statistic: {
      type: 'string',
      defaultValue: 'mean',
      format: { type: 'enum', values: STATISTICS },
      description: 'statistic that is compared with the limits',
      example: 'mean',
    },
    percentile: { type: 'double', defaultValue: 50, description: 'percentile, 0 to 100', example: 95 },
    lowerLimit: { type: 'double', description: 'the lowest number in the range', example: 18 },
    upperLimit: { type: 'double', description: 'the highest number in the range', example: 24 },
    minimum: { type: 'integer', defaultValue: 1, description: 'minimal number of samples', example: 1 },
  },
  output: {
    value: { type: 'double', description: 'the chosen statistic; absent, as those below, while the window is empty' },
    count: { type: 'integer', description: 'number of samples in the window' },
    mean: { type: 'double', description: 'their mean' },
    min: { type: 'double', description: 'the smallest' },
    max: { type: 'double', description: 'the largest' },
    sum: { type: 'double', description: 'their sum' },
    std: { type: 'double', description: 'the standard deviation of the sample; 0 for a single number' },
    late: { type: 'integer', description: 'number of samples dropped so far as too late' },
  },
  check: ({ value, samples, duration, lateness, percentile, lowerLimit, upperLimit, minimum }) => [
    ...problemsOfCode('value', value, compileNumber),
    ...problemsOfCode('samples', samples, wholeCount),
    ...problemsOfCode('duration', duration, lengthOf),
    ...problemsOfCode('lateness', lateness, latenessOf),
    ...problemsOfCode('percentile', percentile, requirePercent),
    ...problemsOfCode('minimum', minimum, wholeCount),
    ...problemsOfCode('upperLimit', upperLimit, (upper) => requireRange(lowerLimit, upper)),
  ],
  prepare({ value, samples, duration, lateness, percentile, lowerLimit, upperLimit }) {
    requirePercent(percentile)
    requireRange(lowerLimit, upperLimit)
    return { number: compileNumber(value), reach: reachOf(samples, duration, lateness) }
  },
  execute(context) {
    const { statistic, percentile, lowerLimit, upperLimit, minimum } = context.properties
    const { number, reach } = context.prepared
    const read = hasNewData(context, number) ? number.read(context).number : undefined
    const memory = memoryOf(context.internalState, statistic === 'percentile')
    for (const { at, value } of lateSamples(context, number)) takeLate(memory, at, context.now, value, reach)
    if (read === undefined) goOn(memory, context.now, reach)
    else take(memory, sampleTime(context), context.now, read, reach)
    const { late } = memory
    const all = statisticsOf(memory)
    if (all.count === 0) return { state: 'Collecting', rawData: { count: 0, late }, internalState: memory }
    const value = statisticOf(memory, all, statistic, percentile)
    const result = { rawData: { value, ...all, late }, internalState: memory }
    if (all.count < minimum) return { state: 'Collecting', ...result }
    const slack = slackIn(statistic, all)
    if (upperLimit !== undefined && value - upperLimit > slack) return { state: 'Above', ...result }
    return { state: lowerLimit !== undefined && lowerLimit - value > slack ? 'Below' : 'In Range', ...result }
  },
})

/** Returns the numbers of late readings; skips expressions that need more than their message. */
function lateSamples(context: PlugContext, { names, nodes, read }: CompiledNumber): { at: number; value: number }[] {
  if (names.length === 0 || nodes.length > 0) return []
  return context.late.flatMap((message) => {
    if (!names.every((name) => isKnown(ownValue(message, name)))) return []
    const reading = { isNew: () => true, streamValue: (key: string) => ownValue(message, key), now: context.now }
    const at = sampleTime(reading)
    try {
      return [{ at, value: read({ ...reading, now: at, lookup: (path) => context.lookup(path) }).number }]
    } catch (error) {
      // rethrowing would fail every later run
      if (error instanceof AppError) return []
      throw error
    }
  })
}

function slackIn(statistic: Statistic, { sum, min, max }: Statistics): number {
  if (statistic !== 'sum' && statistic !== 'mean') return 0
  const largest = Math.max(Math.abs(min), Math.abs(max))
  return slackOf(statistic === 'sum' ? Math.max(largest, Math.abs(sum)) : largest)
}

function reachOf(samples: number | undefined, duration: string | undefined, lateness: string | undefined): WindowReach {
  if (samples === undefined && duration === undefined) {
    throw lacking(
      'samples',
      'samples and duration are both missing',
      'set samples such as 60, a duration such as 5m, or both',
    )
  }
  const forever = Number.POSITIVE_INFINITY
  return {
    samples: samples === undefined ? forever : wholeCount(samples),
    duration: duration === undefined ? forever : lengthOf(duration),
    lateness: latenessOf(lateness),
  }
}

function wholeCount(count: number): number {
  if (count >= 1 && count <= 100_000) return count
  throw new AppError('VALIDATION', `${count} is out of range; use a whole number from 1 to 100000, such as 60`)
}

function requirePercent(percent: number): void {
  if (!(percent >= 0 && percent <= 100)) {
    throw new AppError('VALIDATION', `${percent} is not a valid percentile; use a number from 0 to 100, such as 95`)
  }
}

function requireRange(lower: number | undefined, upper: number | undefined): void {
  if (lower === undefined || upper === undefined || upper >= lower) return
  throw new AppError('VALIDATION', `upperLimit ${upper} is below lowerLimit ${lower}; swap them`)
}
