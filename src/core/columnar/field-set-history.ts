/**
 * Stores what rows know about the messages before their last one: nothing while the fields stay the same. When the
 * fields change, the last message with the old fields is kept while it has a field that later messages lack: plugs read
 * it, and it determined the states of sensors that later messages did not run.
 *
 * Rows must treat a message that lacks values exactly as the state machine does:
 * ERA-1 a sensor that waits for values runs when the message has at least one of them that is not undefined; null is a
 *   value. A sensor that does not run keeps its state and everything known about it, without a time limit.
 * ERA-2 a message that runs no sensor is an input and not an invocation; it is remembered as its resource's last
 *   message.
 * ERA-3 a value that the last message lacks is taken from the last message that had it, while the validity of streams,
 *   counted from that message's arrival, lasts; plugs read it, but it does not run a comparison that waits for it.
 * ERA-4 comparing a value that is not a number fails: the sensor's state is then unknown, and triggers use the state
 *   before (unknown-states.ts).
 */
import { messageValue } from '../task/message-value.ts'
import type { Message } from '../task/origin.ts'
import type { Stream } from '../task/state.ts'
import { remember } from '../task/stream.ts'
import type { Fields } from './message-fields.ts'

/** An earlier message that is still needed. */
export interface KeptMessage {
  readonly message: Message
  readonly fields: Fields
  /** epoch ms at which it was taken */
  readonly time: number
  /** number of the message within its source */
  readonly index: number
  /** the message kept before this one */
  readonly older: KeptMessage | undefined
}

/** Describes consecutive messages that have the same fields. */
export interface FieldSetHistory {
  readonly fields: Fields
  /** number of the first of these messages within the source */
  readonly from: number
  /** earlier messages with fields that these messages lack, newest first */
  readonly kept: KeptMessage | undefined
  /** the preceding history, for rows whose last message belongs to it; its own `previous` is cleared */
  previous: FieldSetHistory | undefined
}

/** Most failures kept for a row; older ones are outside every window. */
export const MAX_FAILED = 64
/** Most consecutive messages with failing sensors that are replayed; the full state takes the next one. */
export const MAX_REPLAYED = 16

/** A message with the epoch ms at which it was taken. */
export interface TimedMessage {
  readonly message: Message
  readonly time: number
}

/** The last messages that left some states of a row unknown, and the messages between them. */
export interface UnknownMessages {
  /** what the row knew before these messages; undefined: the full state contains it */
  readonly from: BeforeUnknown | undefined
  /** oldest first */
  readonly replayed: readonly TimedMessage[]
  /** how often the messages in between fired something */
  readonly fired: number
}

/** Counts sensors that messages did not run, and messages that ran no sensor. */
export interface NotRunCounts {
  readonly missed: number
  readonly silent: number
}

/** Adds the state bits that each sensor had before its last run; meaningless while the last message ran all sensors. */
export interface NotRun extends NotRunCounts {
  readonly prior: number
}

export const ALL_RAN: NotRun = { prior: 0, missed: 0, silent: 0 }

/** What preceded a message that fired an actuator, and the message's own fields. */
export interface FiredAfter extends NotRunCounts {
  readonly fieldSets: FieldSetHistory
  /** gate states before the message, as bits, if state bits do not determine them */
  readonly gates?: number | undefined
}

/** What a row knew before the first replayed message. */
export interface BeforeUnknown {
  /** number of that message, and the history before it */
  readonly count: number
  readonly fieldSets: FieldSetHistory
  /** what earlier messages did not run since the full state was up to date; undefined: read it from the row */
  readonly missed?: NotRunCounts
  /** state bits before that message, and when each node entered its state */
  readonly before: number
  readonly since: number[]
  /**
   * the message before, which ran all sensors, and the state bits before that one; undefined: not needed, or in the
   * full state
   */
  readonly last: KeptMessage | undefined
  readonly prior: number
}

/** The history of a message, the message before it, and that message's history. */
export interface Known {
  readonly fieldSets: FieldSetHistory
  readonly message: Message | undefined
  readonly before: FieldSetHistory | undefined
}

export function firstFieldSets(fields: Fields): FieldSetHistory {
  // Less than any message number. -Infinity is not an integer and would turn `from` into a double everywhere.
  return { fields, from: -1, kept: undefined, previous: undefined }
}

/** The history of an indexed row whose next message must not take the fast path for its usual fields. */
export interface DetouredHistory extends FieldSetHistory {
  readonly own: FieldSetHistory
}

export function detouredHistory(own: FieldSetHistory): DetouredHistory {
  // no message matches these fields, so the fast path is skipped
  return { ...own, fields: { ...own.fields, match: () => false }, own }
}

/** Returns the history after a message with other fields. `last`: the message before it. */
export function nextFieldSets(
  fieldSets: FieldSetHistory,
  last: Message,
  time: number,
  number: number,
  fields: Fields,
): FieldSetHistory {
  const { fields: before, kept } = fieldSets
  const index = unboxed(number)
  let older = kept
  if (kept !== undefined) {
    const isCovered = kept.older === undefined && (fields.covers(kept.fields) || before.covers(kept.fields))
    older = isCovered ? undefined : stillKept(kept, [fields, before])
  }
  const own = fields.covers(before) ? older : { message: last, fields: before, time, index, older }
  fieldSets.previous = undefined
  return { fields, from: index + 1, kept: own, previous: fieldSets }
}

/** Returns the same number, as an integer where 32 bits suffice: a sum of doubles would be stored in a box. */
function unboxed(number: number): number {
  const whole = number | 0
  return whole === number ? whole : number
}

function stillKept(kept: KeptMessage, newer: readonly Fields[]): KeptMessage | undefined {
  const needed: KeptMessage[] = []
  const above = [...newer]
  for (let one: KeptMessage | undefined = kept; one !== undefined; one = one.older) {
    const { fields } = one
    if (!fields.names.every((name) => above.some((other) => other.has(name)))) needed.push(one)
    above.push(fields)
  }
  let list: KeptMessage | undefined
  for (const one of needed.toReversed()) list = one.older === list ? one : { ...one, older: list }
  return list
}

/** Returns the kept messages after message `index`, oldest first. */
export function keptSince({ kept }: FieldSetHistory, index: number): readonly KeptMessage[] {
  const list: KeptMessage[] = []
  for (let one = kept; one !== undefined && one.index > index; one = one.older) list.push(one)
  return list.reverse()
}

/** Returns all values that can be found at `now` after a message, each as `carriedValue` returns it. */
export function carriedValues(
  fieldSets: FieldSetHistory,
  message: Message,
  now: number,
  streamValidity: number,
  seen: number,
  stream: Stream | null | undefined,
): Record<string, unknown> {
  const streams = [stream ? { ...stream, carried: stream.carried && new Map(stream.carried) } : null]
  const state = { streams }
  for (const one of keptSince(fieldSets, seen)) {
    remember({ state, model: { streamValidity }, now: one.time }, 0, one.message)
  }
  remember({ state, model: { streamValidity }, now }, 0, message)
  const carried = [...(streams[0]?.carried ?? [])].filter(([, { until }]) => until > now)
  return { ...Object.fromEntries(carried.map(([key, { value }]) => [key, value])), ...message }
}

/** Returns whether an earlier message has a value under one of these names. */
export function isKept({ kept }: FieldSetHistory, names: readonly string[]): boolean {
  for (let one = kept; one !== undefined; one = one.older) if (names.some((name) => one.fields.has(name))) return true
  return false
}

/**
 * Returns the earlier value of a name that the last message lacks, as of `now`. `seen`: number of the last message in
 * `stream`.
 */
export function carriedValue(
  { kept }: FieldSetHistory,
  key: string,
  now: number,
  validity: number,
  seen: number,
  stream: Stream | null | undefined,
): unknown {
  for (let one = kept; one !== undefined && one.index > seen; one = one.older) {
    const value = messageValue(one.message, key)
    if (value !== undefined) return one.time + validity > now ? value : undefined
  }
  // from the stream of the full state
  if (!stream) return undefined
  const value = messageValue(stream.values, key)
  if (value !== undefined) return stream.at + validity > now ? value : undefined
  const carried = stream.carried?.get(key)
  return carried !== undefined && carried.until > now ? carried.value : undefined
}

/** Returns the value last compared under a name: from the last message, or from the last one that had it. */
export function lastValue(last: Message, { kept }: FieldSetHistory, name: string): unknown {
  if (last[name] !== undefined) return last[name]
  for (let one = kept; one !== undefined; one = one.older) if (one.message[name] !== undefined) return one.message[name]
  return undefined
}
