/** A sensor that shows whether a condition holds, without short changes. */
import {
  AppError,
  compileCondition,
  definePlug,
  hasNewData,
  lengthOf,
  problemsOfCode,
  readerOf,
  withoutNewData,
} from '#plug'

export const debounce = definePlug({
  name: 'debounce',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'On while a condition holds, and Off otherwise, without short changes. Trailing: a change shows once it lasted for the duration, even without further messages. Leading: a change shows at once, and the next one at the earliest after the duration. The first result shows at once. A run without a new value of the message, or without the values of the condition, changes nothing.',
  category: 'Time',
  parameters: [],
  states: ['On', 'Off'],
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
      mandatory: true,
      format: { type: 'duration' },
      description: 'length of the changes that are left out: 250ms, 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M',
      example: '30s',
    },
    edge: {
      type: 'enum',
      values: ['trailing', 'leading'],
      defaultValue: 'trailing',
      description: 'whether a change shows at the end of the duration or at its begin',
      example: 'leading',
    },
  },
  output: {
    since: { type: 'long', description: 'begin of the state, in epoch milliseconds', unit: 'ms' },
    holds: { type: 'boolean', description: 'whether the condition held in the last run' },
  },
  check: ({ condition, duration }) => [
    ...problemsOfCode('condition', condition, compileCondition),
    ...problemsOfCode('duration', duration, lengthOf),
  ],
  prepare: ({ condition, duration }) => ({ condition: compileCondition(condition), duration: lengthOf(duration) }),
  execute(context) {
    const { now, prepared, properties } = context
    const { condition, duration } = prepared
    const before = isMemory(context.internalState) ? settled(context.internalState, now) : undefined
    if (!hasNewData(context, condition)) {
      if (before === undefined) throw withoutNewData(condition)
      return answerOf(before, now, duration)
    }
    let holds: boolean
    try {
      holds = condition.holds(readerOf(context), now)
    } catch (error) {
      if (before === undefined || !(error instanceof AppError) || error.code !== 'BINDING') throw error
      return answerOf(before, now, duration)
    }
    return answerOf(nextMemory(before, holds, now, properties.edge === 'leading', duration), now, duration)
  },
})

interface Memory {
  readonly shown: boolean
  /** epoch ms */
  readonly since: number
  readonly holds: boolean
  /** when the state becomes what the condition is; absent without a change that waits */
  readonly due?: number
}

function nextMemory(
  before: Memory | undefined,
  holds: boolean,
  now: number,
  isLeading: boolean,
  duration: number,
): Memory {
  if (before === undefined) return { shown: holds, since: now, holds }
  const { shown, since } = before
  if (holds === shown) return { shown, since, holds }
  const due = isLeading
    ? since + duration
    : before.holds === holds && before.due !== undefined
      ? before.due
      : now + duration
  return due <= now ? { shown: holds, since: now, holds } : { shown, since, holds, due }
}

/** Lets a change that waited take place. */
function settled(memory: Memory, now: number): Memory {
  const { due, holds } = memory
  return due === undefined || due > now ? memory : { shown: holds, since: due, holds }
}

function answerOf(memory: Memory, now: number, duration: number) {
  const { shown, since, holds, due } = memory
  const result = { state: stateOf(shown), rawData: { since, holds }, internalState: memory } as const
  if (due === undefined) return result
  const then = { state: stateOf(holds), after: due - now, whole: duration, rawData: { since: due, holds } } as const
  return { ...result, then }
}

function stateOf(isOn: boolean): 'On' | 'Off' {
  return isOn ? 'On' : 'Off'
}

function isMemory(state: unknown): state is Memory {
  return typeof state === 'object' && state !== null && 'shown' in state && 'since' in state
}
