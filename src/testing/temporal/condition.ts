/** Defines conditions on a moment: states, firings, values, and conditions on earlier moments. */
import type { Json } from '#kernel'
import type { Moment, Labels } from '../checked-run.ts'
import { spanOf } from '../length-of.ts'
import { instantText, lengthText } from '../moment-text.ts'

/** Holds at a moment, or does not. It may keep a memory, as plain JSON. */
export interface Condition {
  /** part of a sentence, such as `hot is Above` */
  readonly text: string
  readonly start: Json
  next(memory: Json, moment: Moment): readonly [memory: Json, holds: boolean]
  readonly labels: Partial<Labels>
  readonly durations?: readonly number[]
}

/** A condition, or a function that reads only the moment. */
export type ConditionLike = Condition | ((moment: Moment) => boolean)

export function conditionOf(like: ConditionLike): Condition {
  if (typeof like !== 'function') return like
  return ofMoment(like.name || 'the condition', {}, like)
}

function ofMoment(text: string, labels: Partial<Labels>, holds: (moment: Moment) => boolean): Condition {
  return { text, labels, start: null, next: (memory, moment) => [memory, holds(moment)] }
}

/** True when a sensor or gate is in one of these states. */
export function inState(node: string, ...states: readonly string[]): Condition {
  return ofMoment(`${node} is ${states.join(' or ')}`, { sources: [node] }, (moment) => {
    const state = moment.state(node)
    return state !== null && states.includes(state)
  })
}

/** True when the state of a sensor or gate is unknown. */
export function isUnknown(node: string): Condition {
  return ofMoment(`${node} is not known`, { sources: [node] }, (moment) => moment.state(node) === null)
}

/** True when a destination (default: any) has just fired. */
export function fires(node?: string): Condition {
  const labels = node === undefined ? {} : { destinations: [node] }
  return ofMoment(`${node ?? 'something'} fires`, labels, ({ fired }) =>
    fired.some((event) => node === undefined || event.node === node),
  )
}

export interface ReadsOptions {
  /** only messages of this resource */
  readonly resource?: string
  /** describes the condition, such as `above 90`; default: the function's name */
  readonly as?: string
}

/** True when the current message has a value for which `is` returns true; false at moments without a message. */
export function reads(metric: string, is: (value: unknown) => boolean, options: ReadsOptions = {}): Condition {
  const { resource, as = is.name || 'as it should be' } = options
  return ofMoment(`${metric}${resource === undefined ? '' : ` of ${resource}`} is ${as}`, {}, ({ message }) => {
    if (message === undefined || (resource !== undefined && message.resource !== resource)) return false
    return Object.hasOwn(message, metric) && is(message[metric])
  })
}

export function not(operand: ConditionLike): Condition {
  const one = conditionOf(operand)
  return {
    ...one,
    text: `not (${one.text})`,
    next(memory, moment) {
      const [next, holds] = one.next(memory, moment)
      return [next, !holds]
    },
  }
}

export function and(...operands: readonly ConditionLike[]): Condition {
  return combined(operands, ' and ', (holds) => holds.every(Boolean))
}

export function or(...operands: readonly ConditionLike[]): Condition {
  return combined(operands, ' or ', (holds) => holds.some(Boolean))
}

/** True when the operand is true, and was not at the previous moment. */
export function becomes(operand: ConditionLike): Condition {
  const one = conditionOf(operand)
  return {
    text: `it becomes true that ${one.text}`,
    labels: one.labels,
    durations: one.durations ?? [],
    start: [one.start, false],
    next(memory, moment) {
      const [inner, before] = memory as readonly [Json, boolean]
      const [next, holds] = one.next(inner, moment)
      return [[next, holds], holds && !before]
    },
  }
}

/** True when the operand was true at the previous moment, and is no longer. */
export function ends(operand: ConditionLike): Condition {
  const one = conditionOf(operand)
  return { ...becomes(not(one)), text: `it ends that ${one.text}`, start: [one.start, true] }
}

/**
 * True when the operand is true, or was less than `within` ago: ms, ISO 8601, or short as in `1h`. Throws `VALIDATION`
 * for an invalid duration.
 */
export function recently(operand: ConditionLike, within: number | string): Condition {
  const one = conditionOf(operand)
  const ms = spanOf(within, 'recently: the time')
  return {
    text: `${one.text} within ${lengthText(ms)}`,
    labels: one.labels,
    durations: [ms, ...(one.durations ?? [])],
    start: [one.start, null],
    next(memory, moment) {
      const [inner, before] = memory as readonly [Json, number | null]
      const [next, holds] = one.next(inner, moment)
      const last = holds ? moment.time : before
      return [[next, last], last !== null && moment.time - last < ms]
    },
  }
}

/** True unless the first is true and the second is not. */
export function implies(first: ConditionLike, second: ConditionLike): Condition {
  const [one, other] = [conditionOf(first), conditionOf(second)]
  return { ...or(not(one), other), text: `${one.text} means that ${other.text}` }
}

/** True when both are true, or neither is. */
export function iff(first: ConditionLike, second: ConditionLike): Condition {
  const all = [conditionOf(first), conditionOf(second)] as const
  return { ...combined(all, '', ([a, b]) => a === b), text: `${all[0].text} exactly when ${all[1].text}` }
}

/** True when `kept` has been true at every moment since `began` was last true, including that moment. */
export function since(kept: ConditionLike, began: ConditionLike): Condition {
  const [one, other] = [conditionOf(kept), conditionOf(began)]
  return {
    text: `${one.text} ever since ${other.text}`,
    labels: labelsOfAll([one, other]),
    durations: [...(one.durations ?? []), ...(other.durations ?? [])],
    start: [one.start, other.start, false],
    next(memory, moment) {
      const [first, second, before] = memory as readonly [Json, Json, boolean]
      const [nextFirst, holds] = one.next(first, moment)
      const [nextSecond, begins] = other.next(second, moment)
      const now = holds && (begins || before)
      return [[nextFirst, nextSecond, now], now]
    },
  }
}

function combined(
  operands: readonly ConditionLike[],
  joint: string,
  decide: (holds: readonly boolean[]) => boolean,
): Condition {
  const all = operands.map(conditionOf)
  return {
    durations: all.flatMap(({ durations = [] }) => durations),
    text: all.map(({ text }) => text).join(joint),
    labels: labelsOfAll(all),
    start: all.map(({ start }) => start),
    next(memory, moment) {
      const steps = all.map((one, i) => one.next((memory as readonly Json[])[i] ?? null, moment))
      return [steps.map(([next]) => next), decide(steps.map(([, holds]) => holds))]
    },
  }
}

export function labelsOfAll(conditions: readonly Condition[]): Labels {
  return {
    sources: conditions.flatMap(({ labels }) => labels.sources ?? []),
    destinations: conditions.flatMap(({ labels }) => labels.destinations ?? []),
  }
}

/** Describes the situation: the time, the message, the states of the conditions, and firings with their reasons. */
export function standing(moment: Moment, conditions: readonly Condition[]): string {
  const { message, fired } = moment
  const { sources } = labelsOfAll(conditions)
  const parts: string[] = []
  if (message !== undefined) {
    const { resource, timestamp: _timestamp, ...values } = message
    parts.push(`with ${resource} ${JSON.stringify(values)}`)
  }
  for (const label of new Set(sources)) parts.push(`${label} is ${moment.state(label) ?? 'not known'}`)
  for (const { node, source, why } of fired) parts.push(`${node} fires as ${source} is ${why?.trigger.to ?? 'run'}`)
  return [instantText(moment.time), ...parts].join(', ')
}
