/** A sensor that becomes Holds once a condition was true for a duration, or for a number of runs, without a break. */
import {
  AppError,
  compileCondition,
  definePlug,
  type Downtime,
  endOfWait,
  hasNewData,
  lacking,
  lengthOf,
  withoutNewData,
  problemsOfCode,
  readerOf,
} from '#plug'

/** A downtime can make the hold uncertain, so that it must be confirmed. */
function spans(since: number, duration: number, downtime: Downtime | undefined): boolean {
  return downtime?.policy === 'confirm' && since < downtime.until && since + duration > downtime.from
}

export const holdsFor = definePlug({
  name: 'holdsFor',
  version: '3.0.0',
  compatible: '>=1.0.0 <3',
  kind: 'sensor',
  description:
    'Holds once a condition was true for a duration without a break, even without further messages, or for a number of runs in a row. Pending until then, No when it is false. After a downtime of the host a pending condition must be confirmed by a run. A run without a new value of the message, or without the values of the condition, changes nothing and is not counted.',
  category: 'Time',
  downtime: 'confirm',
  parameters: [],
  states: ['Holds', 'Pending', 'No'],
  input: {
    condition: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'an expression, or JSON Logic, as in condition',
      example: 'temperature > 80',
    },
    duration: {
      type: 'string',
      format: { type: 'duration' },
      description: 'duration for which it must be true: 250ms, 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M',
      example: '5m',
    },
    count: { type: 'integer', description: 'number of runs in a row in which it must be true', example: 3 },
  },
  output: {
    since: {
      type: 'long',
      description: 'begin of the hold, in epoch milliseconds; absent in state No',
      unit: 'ms',
    },
    count: { type: 'integer', description: 'number of runs in a row in which it was true' },
  },
  check: ({ condition, duration, count }) => [
    ...problemsOfCode('condition', condition, compileCondition),
    ...problemsOfCode('duration', duration, lengthOf),
    ...problemsOfCode('count', count, wholeCount),
  ],
  prepare: ({ condition, duration, count }) => ({
    condition: compileCondition(condition),
    duration: duration === undefined ? 0 : lengthOf(duration),
    count: limitOf(count, duration),
  }),
  execute(context) {
    const { condition } = context.prepared
    const { internalState: kept } = context
    const before = isMemory(kept) ? kept : undefined
    if (!hasNewData(context, condition)) {
      if (before !== undefined) return answerOf(before, context)
      if (kept === null) return 'No'
      throw withoutNewData(condition)
    }
    try {
      if (!condition.holds(readerOf(context), context.now)) {
        return { state: 'No', rawData: { count: 0 }, internalState: null }
      }
    } catch (error) {
      if (before === undefined || !(error instanceof AppError) || error.code !== 'BINDING') throw error
      return answerOf(before, context)
    }
    const memory = { since: before?.since ?? context.now, count: (before?.count ?? 0) + 1 }
    const isSpanning = spans(memory.since, context.prepared.duration, context.downtime)
    return answerOf({ ...memory, ...(isSpanning && { confirmed: context.downtime?.until }) }, context)
  },
})

interface Limits {
  readonly duration: number
  readonly count: number
}

interface Run {
  readonly prepared: Limits
  readonly now: number
  readonly downtime?: Downtime | undefined
}

function answerOf(memory: Memory, { prepared, now, downtime }: Run) {
  const { since, count } = memory
  const result = { rawData: { since, count }, internalState: memory }
  const isConfirmed = !spans(since, prepared.duration, downtime) || memory.confirmed === downtime?.until
  if (count < prepared.count || !isConfirmed) return { state: 'Pending', ...result } as const
  const left = endOfWait(since, prepared.duration, downtime) - now
  if (left <= 0) return { state: 'Holds', ...result } as const
  return {
    state: 'Pending',
    ...result,
    then: { state: 'Holds', after: left, whole: prepared.duration, rawData: { since, count } },
  } as const
}

interface Memory {
  since: number
  count: number
  confirmed?: number | undefined
}

function isMemory(state: unknown): state is Memory {
  return typeof state === 'object' && state !== null && 'since' in state && 'count' in state
}

function limitOf(count: number | undefined, duration: string | undefined): number {
  if (count !== undefined) return wholeCount(count)
  if (duration !== undefined) return 1
  throw lacking(
    'duration',
    'duration and count are both missing',
    'set a duration such as 5m, a count such as 3, or both',
  )
}

function wholeCount(count: number): number {
  if (count >= 1) return count
  throw new AppError('VALIDATION', `count ${count} is out of range; use a whole number from 1, such as 3`)
}
