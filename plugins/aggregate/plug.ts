/** A sensor that compares a statistic over the members of a group with limits. */
import {
  AppError,
  compileNumber,
  definePlug,
  hasNewData,
  lengthOf,
  problemsOfCode,
  type PlugContext,
  type CompiledNumber,
} from '#plug'
import { memberValues, oldestTime, orderOf, removeUntil, removeValue, setValue, sumOf } from './member-values.ts'
import type { MemberValues } from './member-values.ts'

const STATISTICS = ['count', 'sum', 'mean', 'min', 'max', 'median', 'percentile', 'spread'] as const
type Statistic = (typeof STATISTICS)[number]

const MAX_LISTED = 100

export const aggregate = definePlug({
  name: 'aggregate',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'A statistic over the last number of each member of a group: count, sum, mean, min, max, median, percentile or spread (the largest less the smallest). It is Above, In Range or Below the limits, and Collecting below the minimum of members. A member counts from its first number until it leaves the group, or until its number is older than fresh.',
  category: 'Logic',
  parameters: [],
  gathers: 'group',
  states: ['Above', 'In Range', 'Below', 'Collecting'],
  input: {
    value: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'number of a member: name of a value of its message, or an expression',
      example: 'temperature',
    },
    statistic: {
      type: 'string',
      defaultValue: 'mean',
      format: { type: 'enum', values: STATISTICS },
      description: 'statistic that is compared with the limits',
      example: 'mean',
    },
    percentile: { type: 'double', defaultValue: 50, description: 'percentile, 0 to 100', example: 95 },
    fresh: {
      type: 'string',
      format: { type: 'duration' },
      description: 'age from which a number no longer counts: 30s, 15m, or ISO 8601; default: it counts forever',
      example: '15m',
    },
    lowerLimit: { type: 'double', description: 'the lowest number in the range', example: 18 },
    upperLimit: { type: 'double', description: 'the highest number in the range', example: 24 },
    minimum: { type: 'integer', defaultValue: 1, description: 'minimal number of members', example: 3 },
    list: {
      type: 'integer',
      defaultValue: 0,
      description: `number of members to name with the highest and the lowest numbers, at most ${MAX_LISTED}`,
      example: 3,
    },
  },
  output: {
    value: { type: 'double', description: 'the chosen statistic; absent while no member counts' },
    count: { type: 'integer', description: 'number of members that count' },
    highest: { type: 'array', description: 'with list: members with the highest numbers, as { resource, value }' },
    lowest: { type: 'array', description: 'with list: members with the lowest numbers, as { resource, value }' },
  },
  check: ({ value, fresh, percentile, lowerLimit, upperLimit, list }) => [
    ...problemsOfCode('value', value, compileNumber),
    ...problemsOfCode('fresh', fresh, lengthOf),
    ...problemsOfCode('percentile', percentile, requirePercent),
    ...problemsOfCode('list', list, requireList),
    ...problemsOfCode('upperLimit', upperLimit, (upper) => requireRange(lowerLimit, upper)),
  ],
  prepare({ value, fresh, percentile, list, lowerLimit, upperLimit }) {
    requirePercent(percentile)
    requireList(list)
    requireRange(lowerLimit, upperLimit)
    return { number: compileNumber(value), freshMs: fresh === undefined ? Number.POSITIVE_INFINITY : lengthOf(fresh) }
  },
  execute(context) {
    const { now, properties, prepared } = context
    const { lowerLimit, upperLimit, minimum, statistic, percentile, list } = properties
    const { number, freshMs } = prepared
    const values = memberValues(context.internalState)
    take(values, context, number)
    removeUntil(values, now - freshMs)
    const oldest = oldestTime(values)
    const next = oldest === undefined || freshMs === Number.POSITIVE_INFINITY ? undefined : oldest + freshMs - now
    const result = { internalState: values, ...(next !== undefined && { then: { after: next, again: true } }) }
    if (values.count === 0) return { state: 'Collecting', rawData: { count: 0 }, ...result }
    const value = statisticOf(values, statistic, percentile)
    const rawData = { value, count: values.count, ...(list > 0 && extremes(values, list)) }
    if (values.count < minimum) return { state: 'Collecting', rawData, ...result }
    if (upperLimit !== undefined && value > upperLimit) return { state: 'Above', rawData, ...result }
    return { state: lowerLimit !== undefined && value < lowerLimit ? 'Below' : 'In Range', rawData, ...result }
  },
})

function take(values: MemberValues, context: PlugContext, number: CompiledNumber): void {
  const id = context.node.RESOURCE
  if (id === undefined) return
  if (context.leaves === true) removeValue(values, id)
  else if (hasNewData(context, number)) setValue(values, id, context.now, number.read(context).number)
}

function statisticOf(values: MemberValues, statistic: Statistic, percent: number): number {
  switch (statistic) {
    case 'count':
      return values.count
    case 'sum':
      return sumOf(values)
    case 'mean':
      return sumOf(values) / values.count
    case 'min':
      return orderOf(values).percentile(0)
    case 'max':
      return orderOf(values).percentile(100)
    case 'median':
      return orderOf(values).percentile(50)
    case 'percentile':
      return orderOf(values).percentile(percent)
    case 'spread':
      return orderOf(values).percentile(100) - orderOf(values).percentile(0)
  }
}

function extremes(values: MemberValues, length: number) {
  const order = orderOf(values)
  const named = (rank: number) => {
    const slot = order.at(rank)
    return { resource: values.ids[slot] ?? '', value: values.numbers[slot] ?? 0 }
  }
  const ranks = Array.from({ length: Math.min(length, order.size) }, (_, rank) => rank)
  return { highest: ranks.map((rank) => named(order.size - 1 - rank)), lowest: ranks.map(named) }
}

function requirePercent(percent: number): void {
  if (percent >= 0 && percent <= 100) return
  throw new AppError('VALIDATION', `${percent} is not a valid percentile; use a number from 0 to 100, such as 95`)
}

function requireList(length: number): void {
  if (length >= 0 && length <= MAX_LISTED) return
  throw new AppError('VALIDATION', `${length} is out of range; use a whole number from 0 to ${MAX_LISTED}, such as 3`)
}

function requireRange(lower: number | undefined, upper: number | undefined): void {
  if (lower === undefined || upper === undefined || upper >= lower) return
  throw new AppError('VALIDATION', `upperLimit ${upper} is below lowerLimit ${lower}; swap them`)
}
