/**
 * Which way messages took through an engine, and why some took the plain one. What stays in rows is not counted message
 * by message: a row knows how many it took anyway.
 */

/** Why a task took a message on its full state. */
export const PLAIN_REASONS = [
  /** a simulation or a journal asks for each call, so that nothing runs as rows */
  'asked',
  /** the rule has something that no row can do */
  'shape',
  /** somebody wants what happens at every message, of all tasks or of that one */
  'heard',
  /** it came with others, on a channel, or from a rule */
  'sent',
  /** something that an earlier message began is open, or a sensor has no state */
  'open',
  /** it has other fields than those that rows take at the moment */
  'fields',
  /** a value that is compared is no number */
  'value',
  /** a plug failed, answered more than a row can hold or looked at its task: the message went on in the state machine */
  'answer',
  /** calls of its form go on in the state machine so often that rows do not pay */
  'often',
  /** there are too many forms of rules */
  'limit',
  /** one of the first, before the task becomes a row */
  'first',
] as const

export type PlainReason = (typeof PLAIN_REASONS)[number]

/** Messages that tasks took, once for each task that took one, since the engine was made. Numbers that only grow. */
export interface EngineStats {
  /** taken by many tasks in one pass over their limits */
  readonly vectorized: number
  /** taken by one task after the other, each a row of numbers */
  readonly rows: number
  /** taken on the full state of a task */
  readonly plain: number
  /** the plain ones by why */
  readonly why: Readonly<Record<PlainReason, number>>
}

export type PlainCounts = Record<PlainReason, number>

export function noPlainCounts(): PlainCounts {
  return Object.fromEntries(PLAIN_REASONS.map((reason) => [reason, 0])) as PlainCounts
}

/** What these counts say, together with what rows took. */
export function statsOf(why: Readonly<PlainCounts>, vectorized = 0, rows = 0): EngineStats {
  const plain = PLAIN_REASONS.reduce((sum, reason) => sum + why[reason], 0)
  return { vectorized, rows, plain, why: { ...why } }
}
