/** A sensor with one threshold to become On and another to become Off. */
import { AppError, compileNumber, definePlug, hasNewData, withoutNewData, problemsOfCode } from '#plug'

export const hysteresis = definePlug({
  name: 'hysteresis',
  version: '1.0.1',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description:
    'On when a value goes above the threshold enter, and Off only when it falls below leave. With enter below leave it is reversed: On below enter, Off above leave. A run without a new value of the message keeps the state.',
  category: 'Logic',
  parameters: [],
  states: ['On', 'Off'],
  input: {
    value: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description: 'number to watch: name of a value of the message, or an expression',
      example: 'temperature',
    },
    enter: { type: 'double', mandatory: true, description: 'beyond this it becomes On', example: 80 },
    leave: {
      type: 'double',
      mandatory: true,
      description: 'beyond this, in the other direction, it becomes Off',
      example: 75,
    },
  },
  output: {
    value: { type: 'double', description: 'the current number' },
    since: { type: 'long', description: 'begin of the current state, in epoch milliseconds', unit: 'ms' },
  },
  check({ value, enter, leave }) {
    const problems = problemsOfCode('value', value, compileNumber)
    if (enter === undefined || leave === undefined || enter !== leave) return problems
    return [
      ...problems,
      { property: 'leave', message: same(enter), suggestion: 'use different values, such as 80 and 75' },
    ]
  },
  prepare: ({ value }) => compileNumber(value),
  execute(context) {
    const { enter, leave } = context.properties
    if (enter === leave) throw new AppError('PLUG_FAILED', same(enter))
    const { internalState: kept } = context
    const before = isMemory(kept) ? kept : undefined
    if (!hasNewData(context, context.prepared)) {
      if (before === undefined) throw withoutNewData(context.prepared)
      return before.on ? 'On' : 'Off'
    }
    const { number: value, slack } = context.prepared.read(context)
    const sign = enter > leave ? 1 : -1
    const on = before?.on === true ? sign * (value - leave) >= -slack : sign * (value - enter) > slack
    const state = on ? 'On' : 'Off'
    if (before?.on === on) return { state, rawData: { value, since: before.since } }
    const since = context.now
    return { state, rawData: { value, since }, internalState: { on, since } }
  },
})

interface Memory {
  on: boolean
  since: number
}

function isMemory(state: unknown): state is Memory {
  return typeof state === 'object' && state !== null && 'on' in state && 'since' in state
}

function same(threshold: number): string {
  return `enter and leave are both ${threshold}, so the sensor would flap`
}
