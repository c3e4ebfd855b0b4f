/** A sensor with a memory: compares what its past values amount to with limits. */
import {
  AppError,
  compileNumber,
  definePlug,
  hasNewData,
  lacking,
  lengthOf,
  problemsOfCode,
  sampleTime,
  slackOf,
} from '#plug'
import { ACCUMULATORS, type Accumulator, FOLDING, measured, OVER_DURATION, UNITS } from './accumulators.ts'
import { addSample, type History, historyOf, moveTo } from './history.ts'

export const measure = definePlug({
  name: 'measure',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'Remembers a value and compares what it amounts to with limits: Above, In Range or Below, and Collecting while there are too few samples. Each value holds until the next. Each value of a message counts once, at the timestamp of its message; a value older than the last is ignored and counted in late. A run without a new value moves the window, and counts no sample. A run costs the same for 10 samples as for 1,000.',
  category: 'Logic',
  parameters: [],
  states: ['Above', 'In Range', 'Below', 'Collecting'],
  input: {
    value: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'number to remember: name of a value of the message, or an expression',
      example: 'temperature',
    },
    accumulator: {
      type: 'enum',
      mandatory: true,
      values: ACCUMULATORS,
      description:
        'last, previous, first: these values; change: difference to the previous value, or to the value that held when the duration began; rate: change per unit; slope: of the line through the values of the duration, per unit; increase: of a counter; edges: how often the value went above the threshold; timeAbove: how long it was above the threshold, in units; timeWeightedMean: mean of the values weighted by how long each held; integral: value times unit; exponentialMean: with the duration as time constant; zScore: distance of the last value from the mean of the earlier ones of the duration, in standard deviations; deadband: the value, which follows only changes of at least the band',
      example: 'change',
    },
    duration: {
      type: 'string',
      format: { type: 'duration' },
      description:
        'time over which it counts, at most 10,000 samples: 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M. Default: since the node began; change and rate: since the previous value',
      example: '10m',
    },
    unit: {
      type: 'enum',
      values: ['ms', 's', 'm', 'h', 'd'],
      defaultValue: 's',
      description: 'unit of time of rate, slope, timeAbove and integral',
      example: 'h',
    },
    wraps: {
      type: 'double',
      description:
        'for increase: value at which the counter begins again at 0. A fall then counts as a wrap if the increase is at most half of it, else as a reset. Default: each fall is a reset, after which the counter began at 0',
      example: 65536,
    },
    threshold: { type: 'double', defaultValue: 0.5, description: 'for edges and timeAbove', example: 0.5 },
    band: { type: 'double', description: 'for deadband: smallest change that counts, above 0', example: 1 },
    lowerLimit: { type: 'double', description: 'the lowest number in the range', example: 18 },
    upperLimit: { type: 'double', description: 'the highest number in the range', example: 24 },
    minimum: { type: 'integer', defaultValue: 1, description: 'minimal number of samples since the begin', example: 1 },
  },
  output: {
    value: { type: 'double', description: 'the accumulator; absent while there are too few samples' },
    last: { type: 'double', description: 'the last value' },
    count: { type: 'integer', description: 'number of samples since the node began' },
    late: { type: 'integer', description: 'number of samples that were ignored because they were older than the last' },
  },
  check: ({ value, duration, wraps, band, minimum, lowerLimit, upperLimit }) => [
    ...problemsOfCode('value', value, compileNumber),
    ...problemsOfCode('duration', duration, lengthOf),
    ...problemsOfCode('wraps', wraps, requireAboveZero),
    ...problemsOfCode('band', band, requireAboveZero),
    ...problemsOfCode('minimum', minimum, requireCount),
    ...problemsOfCode('upperLimit', upperLimit, (upper) => requireRange(lowerLimit, upper)),
  ],
  prepare({ value, accumulator, duration, band, lowerLimit, upperLimit, wraps, minimum }) {
    requireRange(lowerLimit, upperLimit)
    requireCount(minimum)
    if (wraps !== undefined) requireAboveZero(wraps)
    if (band !== undefined) requireAboveZero(band)
    if (duration === undefined && OVER_DURATION.includes(accumulator))
      throw lacking('duration', `${accumulator} has no duration`, 'set a duration such as 10m')
    if (band === undefined && accumulator === 'deadband')
      throw lacking('band', 'deadband has no band', 'set the smallest change that counts, such as 1')
    return {
      number: compileNumber(value),
      duration: duration === undefined ? Number.POSITIVE_INFINITY : lengthOf(duration),
    }
  },
  execute(context) {
    const { accumulator, unit, threshold, lowerLimit, upperLimit, minimum } = context.properties
    const { number, duration } = context.prepared
    const read = hasNewData(context, number) ? number.read(context).number : undefined
    const history = historyOf(context.internalState)
    if (read !== undefined) take(history, sampleTime(context), read, context.properties, duration)
    const end = Math.max(history.last?.at ?? context.now, context.now)
    moveTo(history, end, duration)
    const { count, late } = history
    const shown = { count, late, ...(history.last && { last: history.last.value }) }
    const result =
      count < minimum ? undefined : measured(accumulator, history, { duration, end, unit: UNITS[unit], threshold })
    if (result === undefined) return { state: 'Collecting', rawData: shown, internalState: history }
    const { value, slack } = result
    const answer = { rawData: { value, ...shown }, internalState: history }
    if (upperLimit !== undefined && value - upperLimit > slack) return { state: 'Above', ...answer }
    return { state: lowerLimit !== undefined && lowerLimit - value > slack ? 'Below' : 'In Range', ...answer }
  },
})

interface Taking {
  readonly accumulator: Accumulator
  readonly threshold: number
  readonly wraps?: number | undefined
  readonly band?: number | undefined
}

function take(
  history: History,
  at: number,
  value: number,
  { accumulator, threshold, wraps, band = 0 }: Taking,
  duration: number,
): void {
  const { last } = history
  if (last !== null && at < last.at) {
    history.late++
    return
  }
  if (accumulator === 'exponentialMean')
    history.folded = last === null ? value : smoothed(history.folded, value, at - last.at, duration)
  if (accumulator === 'deadband' && (last === null || isBeyond(value, history.folded, band))) history.folded = value
  addSample(history, at, value, {
    crossings: Number(last !== null && last.value <= threshold && value > threshold),
    gain: last === null ? 0 : gainOf(last.value, value, wraps),
    threshold,
    duration: FOLDING.includes(accumulator) ? Number.POSITIVE_INFINITY : duration,
  })
}

function smoothed(mean: number, value: number, passed: number, constant: number): number {
  return mean + (1 - Math.exp(-passed / constant)) * (value - mean)
}

function isBeyond(value: number, held: number, band: number): boolean {
  return band - Math.abs(value - held) <= slackOf(Math.max(Math.abs(value), Math.abs(held)))
}

function gainOf(from: number, to: number, wraps: number | undefined): number {
  if (to >= from) return to - from
  if (wraps === undefined) return to
  const wrapped = to + wraps - from
  return wrapped >= 0 && wrapped <= wraps / 2 ? wrapped : to
}

function requireAboveZero(number: number): void {
  if (!(number > 0)) throw new AppError('VALIDATION', `${number} is not above 0; use a number such as 1`)
}

function requireCount(count: number): void {
  if (!(count >= 1)) throw new AppError('VALIDATION', `${count} is out of range; use a whole number from 1, such as 3`)
}

function requireRange(lower: number | undefined, upper: number | undefined): void {
  if (lower === undefined || upper === undefined || upper >= lower) return
  throw new AppError('VALIDATION', `upperLimit ${upper} is below lowerLimit ${lower}; swap them`)
}
