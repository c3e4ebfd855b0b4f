/** A sensor that counts how often a condition holds, and begins again when another one does. */
import { AppError, compileCondition, definePlug, hasNewData, problemsOfCode, readerOf, withoutNewData } from '#plug'

export const counter = definePlug({
  name: 'counter',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'Counts the runs in which a condition holds, or begins to hold, and begins again at 0 when the condition reset holds. Reached from the limit on, Counting below it. A run without a new value of the message, or without the values of a condition, is not counted.',
  category: 'Logic',
  parameters: [],
  states: ['Reached', 'Counting'],
  input: {
    condition: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'what is counted: an expression, or JSON Logic, as in condition',
      example: 'temperature > 80',
    },
    reset: {
      type: 'any',
      format: { type: 'code' },
      description: 'what begins again at 0, evaluated first; default: nothing',
      example: 'serviced == true',
    },
    count: {
      type: 'enum',
      values: ['begins', 'runs'],
      defaultValue: 'begins',
      description: 'begins: times at which the condition begins to hold; runs: all runs in which it holds',
      example: 'runs',
    },
    limit: { type: 'integer', defaultValue: 1, description: 'count from which it is Reached, at least 1', example: 20 },
  },
  output: {
    count: { type: 'long', description: 'the count' },
    since: {
      type: 'long',
      description: 'time of the first run or of the last reset, in epoch milliseconds',
      unit: 'ms',
    },
  },
  check: ({ condition, reset, limit }) => [
    ...problemsOfCode('condition', condition, compileCondition),
    ...problemsOfCode('reset', reset, compileCondition),
    ...problemsOfCode('limit', limit, requireLimit),
  ],
  prepare({ condition, reset, limit }) {
    requireLimit(limit)
    return { condition: compileCondition(condition), reset: reset === undefined ? undefined : compileCondition(reset) }
  },
  execute(context) {
    const { now, prepared, properties } = context
    const read = readerOf(context)
    const before = isMemory(context.internalState) ? context.internalState : undefined
    const holds = (which: typeof prepared.condition, isRequired: boolean) => {
      if (!hasNewData(context, which)) {
        if (isRequired) throw withoutNewData(which)
        return undefined
      }
      try {
        return which.holds(read, now)
      } catch (error) {
        if (isRequired || !(error instanceof AppError) || error.code !== 'BINDING') throw error
        return undefined
      }
    }
    const isReset = prepared.reset !== undefined && holds(prepared.reset, false) === true
    // the first run decides nothing without the values of the condition
    const held = holds(prepared.condition, before === undefined && !isReset)
    const start = before === undefined || isReset ? { count: 0, since: now } : before
    const isCounted = held === true && (properties.count === 'runs' || before?.held !== true)
    const count = start.count + Number(isCounted)
    const memory = { count, since: start.since, held: held ?? before?.held ?? false }
    const state = count >= properties.limit ? 'Reached' : 'Counting'
    return { state, rawData: { count, since: memory.since }, internalState: memory }
  },
})

interface Memory {
  readonly count: number
  readonly since: number
  /** whether the condition held in the last run that read it */
  readonly held: boolean
}

function isMemory(state: unknown): state is Memory {
  return typeof state === 'object' && state !== null && 'count' in state && 'held' in state
}

function requireLimit(limit: number): void {
  if (!(limit >= 1))
    throw new AppError('VALIDATION', `limit ${limit} is out of range; use a whole number from 1, such as 20`)
}
