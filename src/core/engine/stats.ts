/** Counts which paths messages took through an engine; rows count for themselves. */

/** Counts messages by the reason why a task processed them on its full state. */
const NO_PLAIN_COUNTS = {
  /** a simulation or a journal controls each call, so that tasks cannot be rows */
  asked: 0,
  /** the rule uses something that rows do not support */
  shape: 0,
  /** a subscriber wants details of all tasks, or of this task */
  heard: 0,
  /** the message came together with others, on a channel, or from a rule */
  sent: 0,
  /** work of an earlier message is unfinished, or a sensor has no state */
  open: 0,
  /** the message has other fields than the rows currently accept */
  fields: 0,
  /** a value that the rule compares is not a number */
  value: 0,
  /** a plug failed, returned more than a row can store, or read its task: the message continued in the state machine */
  answer: 0,
  /** calls of this shape continue in the state machine so often that rows do not pay off */
  often: 0,
  /** the rules have too many different shapes */
  limit: 0,
  /** the message is one of a task's first, before the task becomes a row */
  first: 0,
}

export type PlainReason = keyof typeof NO_PLAIN_COUNTS

export interface EngineStats {
  /** messages processed by many tasks in one pass over their limits */
  readonly vectorized: number
  /** messages processed by one row after the other */
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
