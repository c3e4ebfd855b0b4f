/**
 * Which paths messages took through an engine, and why some took the plain one. Rows are not counted per message: each
 * knows its own number.
 */

/** Why a task took a message on its full state. */
const NO_PLAIN_COUNTS = {
  /** a simulation or a journal controls each call, so that tasks cannot be rows */
  asked: 0,
  /** the rule has something that rows do not support */
  shape: 0,
  /** a subscriber wants details of all tasks, or of that one */
  heard: 0,
  /** it came with others, on a channel, or from a rule */
  sent: 0,
  /** work of an earlier message is open, or a sensor has no state */
  open: 0,
  /** it has other fields than the rows accept at the moment */
  fields: 0,
  /** a compared value is not a number */
  value: 0,
  /** a plug failed, answered more than a row can hold or read its task: the message continued in the state machine */
  answer: 0,
  /** calls of its shape continue in the state machine so often that rows do not pay */
  often: 0,
  /** too many shapes of rules */
  limit: 0,
  /** one of the first, before the task becomes a row */
  first: 0,
}

export type PlainReason = keyof typeof NO_PLAIN_COUNTS

/** Messages by path, once per task that took one, since the engine was created; the numbers only grow. */
export interface EngineStats {
  /** taken by many tasks in one pass over their limits */
  readonly vectorized: number
  /** taken by one row after the other */
  readonly rows: number
  readonly plain: number
  readonly why: Readonly<Record<PlainReason, number>>
}

export type PlainCounts = Record<PlainReason, number>

export function noPlainCounts(): PlainCounts {
  return { ...NO_PLAIN_COUNTS }
}

export function statsOf(why: Readonly<PlainCounts>, vectorized = 0, rows = 0): EngineStats {
  const plain = Object.values(why).reduce((sum, count) => sum + count, 0)
  return { vectorized, rows, plain, why: { ...why } }
}
