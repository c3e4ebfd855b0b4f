import { AppError, compileCondition, definePlug, lacking, lengthOf, problemsOfCode, readerOf } from '../../src/plug.ts'

/** `Holds` once a condition was true for a duration, a number of runs, or both. */
export const holdsFor = definePlug({
  name: 'holdsFor',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'Holds once a condition was true for a duration without a break, even when no more messages come, or so many runs in a row. Pending until then, No when it is false. A run without the values that decide changes nothing.',
  category: 'Time',
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
      description: 'how long it must be true: 250ms, 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M',
      example: '5m',
    },
    count: { type: 'integer', description: 'in how many runs in a row it must be true', example: 3 },
  },
  output: {
    since: {
      type: 'long',
      description: 'since when it is true, in epoch milliseconds; absent in state No',
      unit: 'ms',
    },
    count: { type: 'integer', description: 'in how many runs in a row it was true' },
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
    const { condition, duration, count: wanted } = context.prepared
    const { now } = context
    const before = isMemory(context.internalState) ? context.internalState : undefined
    let memory: Memory
    try {
      if (!condition.holds(readerOf(context), now)) return { state: 'No', rawData: { count: 0 }, internalState: null }
      memory = { since: before?.since ?? now, count: (before?.count ?? 0) + 1 }
    } catch (error) {
      if (before === undefined || !(error instanceof AppError) || error.code !== 'BINDING') throw error
      memory = before
    }
    const { since, count } = memory
    const result = { rawData: { ...memory }, internalState: memory }
    if (count < wanted) return { state: 'Pending', ...result }
    const left = since + duration - now
    if (left <= 0) return { state: 'Holds', ...result }
    return { state: 'Pending', ...result, then: { state: 'Holds', after: left, rawData: { since, count } } }
  },
})

interface Memory {
  since: number
  count: number
}

function isMemory(state: unknown): state is Memory {
  return typeof state === 'object' && state !== null && 'since' in state && 'count' in state
}

function limitOf(count: number | undefined, duration: string | undefined): number {
  if (count !== undefined) return wholeCount(count)
  if (duration !== undefined) return 1
  throw lacking(
    'duration',
    'there is neither a duration nor a count',
    'give a duration such as 5m, a count such as 3, or both',
  )
}

function wholeCount(count: number): number {
  if (count >= 1) return count
  throw new AppError('VALIDATION', `${count} runs are none; write a whole number from 1 on, such as 3`)
}
