import { AppError, compileNumber, definePlug, lacking, lengthOf, problemsOfCode } from '../../src/plug.ts'
import { memoryOf, STATISTICS, statisticOf, statisticsOf, take, type Reach, type Statistic } from './statistics.ts'

/** Statistics over the last samples or the last while, compared with limits. */
export const windowStats = definePlug({
  name: 'windowStats',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'Count, mean, min, max, sum, standard deviation and percentile over the last samples or a duration. The chosen one is Above, In Range or Below the limits, and Collecting while there are fewer than minimum samples. A run costs the same for 10 samples as for 1,000.',
  category: 'Logic',
  states: ['Above', 'In Range', 'Below', 'Collecting'],
  input: {
    value: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'the number to take in: the name of a value of the message, or an expression',
      example: 'temperature',
    },
    samples: { type: 'integer', description: 'how many of the last numbers count, at most 100,000', example: 60 },
    duration: {
      type: 'string',
      format: { type: 'duration' },
      description: 'how far back numbers count: 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M',
      example: '5m',
    },
    statistic: {
      type: 'string',
      defaultValue: 'mean',
      format: { type: 'enum', values: STATISTICS },
      description: 'what is compared with the limits',
      example: 'mean',
    },
    percentile: { type: 'double', defaultValue: 50, description: 'which percentile, 0 to 100', example: 95 },
    lowerLimit: { type: 'double', description: 'the lowest number in the range', example: 18 },
    upperLimit: { type: 'double', description: 'the highest number in the range', example: 24 },
    minimum: { type: 'integer', defaultValue: 1, description: 'how many samples it takes to say anything', example: 1 },
  },
  output: {
    value: { type: 'double', description: 'the chosen statistic' },
    count: { type: 'integer', description: 'how many numbers are in the window' },
    mean: { type: 'double', description: 'their mean' },
    min: { type: 'double', description: 'the smallest' },
    max: { type: 'double', description: 'the largest' },
    sum: { type: 'double', description: 'their sum' },
    std: { type: 'double', description: 'the standard deviation of the sample; 0 for a single number' },
  },
  check: ({ value, samples, duration, percentile, lowerLimit, upperLimit, minimum }) => [
    ...problemsOfCode('value', value, compileNumber),
    ...problemsOfCode('samples', samples, wholeCount),
    ...problemsOfCode('duration', duration, lengthOf),
    ...problemsOfCode('percentile', percentile, requirePercent),
    ...problemsOfCode('minimum', minimum, wholeCount),
    ...problemsOfCode('upperLimit', upperLimit, (upper) => requireRange(lowerLimit, upper)),
  ],
  prepare({ value, samples, duration, percentile, lowerLimit, upperLimit }) {
    requirePercent(percentile)
    requireRange(lowerLimit, upperLimit)
    return { number: compileNumber(value), reach: reachOf(samples, duration) }
  },
  execute(context) {
    const { statistic, percentile, lowerLimit, upperLimit, minimum } = context.properties
    const { number, reach } = context.prepared
    const read = number.read(context)
    const memory = memoryOf(context.internalState, statistic === 'percentile')
    take(memory, context.now, read, reach)
    const all = statisticsOf(memory)
    const value = statisticOf(memory, all, statistic as Statistic, percentile)
    const result = { rawData: { value, ...all }, internalState: memory }
    if (all.count < minimum) return { state: 'Collecting', ...result }
    if (upperLimit !== undefined && value > upperLimit) return { state: 'Above', ...result }
    return { state: lowerLimit !== undefined && value < lowerLimit ? 'Below' : 'In Range', ...result }
  },
})

function reachOf(samples: number | undefined, duration: string | undefined): Reach {
  if (samples === undefined && duration === undefined) {
    throw lacking(
      'samples',
      'there are neither samples nor a duration',
      'give samples such as 60, a duration such as 5m, or both',
    )
  }
  const forever = Number.POSITIVE_INFINITY
  return {
    samples: samples === undefined ? forever : wholeCount(samples),
    duration: duration === undefined ? forever : lengthOf(duration),
  }
}

function wholeCount(count: number): number {
  if (count >= 1 && count <= 100_000) return count
  throw new AppError('VALIDATION', `${count} is out of bounds; write a whole number from 1 to 100000, such as 60`)
}

function requirePercent(percent: number): void {
  if (!(percent >= 0 && percent <= 100)) {
    throw new AppError('VALIDATION', `${percent} is no percentile; write a number from 0 to 100, such as 95`)
  }
}

function requireRange(lower: number | undefined, upper: number | undefined): void {
  if (lower === undefined || upper === undefined || upper >= lower) return
  throw new AppError('VALIDATION', `upperLimit ${upper} is below lowerLimit ${lower}; swap them`)
}
