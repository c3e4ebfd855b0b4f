/**
 * What rows know of the messages before their last one: nothing while the fields stay the same. When the fields change, the
 * last message with the old ones is kept while it has a field that later messages lack: plugs read it, and it determined
 * the states of sensors that later messages did not run.
 *
 * How the state machine takes a message that lacks values, which rows have to equal:
 * ERA-1 a sensor that waits for values runs when the message has one of them that is not undefined; null is a value.
 *   A sensor that does not run keeps its state for any time, and all that is known of it.
 * ERA-2 a message that runs no sensor is an input and not an invocation; it is remembered as the last of its resource.
 * ERA-3 a value that the last message does not have is found in the last one that had it, for the validity of streams
 *   counted from when that came; plugs read it, but a comparison that waits for it does not run by it.
 * ERA-4 a comparison of a value that is not a number fails: its state is unknown then, and triggers go by the state before
 *   (unknown-states.ts).
 */
import { messageValue } from '../task/message-value.ts'
import type { Message } from '../task/origin.ts'
import type { Stream } from '../task/state.ts'
import { remember } from '../task/stream.ts'
import type { Fields } from './message-fields.ts'

/** A message of which something still counts. */
export interface KeptMessage {
  readonly message: Message
  readonly fields: Fields
  /** epoch ms at which it was taken */
  readonly time: number
  /** its number among those of its source */
  readonly index: number
  /** the one that was kept before */
  readonly older: KeptMessage | undefined
}

/** Messages one after the other that have the same fields. */
export interface FieldSetHistory {
  readonly fields: Fields
  /** number of its first message among those of its source */
  readonly from: number
  /** earlier messages that have what these do not have, newest first */
  readonly kept: KeptMessage | undefined
  /** the one before, for who has got the last message of that one; without its own */
  previous: FieldSetHistory | undefined
}

/**
 * The same of a row whose messages have two lists of fields by turns, as where metrics come one a message: rows share it,
 * and have the last message with the other list beside it. With a field-set history for each turn, most of a message's time went there.
 */
export interface AlternatingHistory {
  readonly fields: Fields
  /** of the message that is kept, the only one */
  readonly keptFields: Fields
  /** when the next message has those again; undefined: it has all of these then, and keeps nothing */
  next: AlternatingHistory | undefined
}

/** Alternating histories of one batch. */
export class AlternatingHistories {
  readonly #all = new Map<Fields, Map<Fields, AlternatingHistory>>()

  /** Equal ones are one. Neither list has all fields of the other, or `next` says so. */
  of(fields: Fields, keptFields: Fields): AlternatingHistory {
    let others = this.#all.get(fields)
    if (others === undefined) this.#all.set(fields, (others = new Map<Fields, AlternatingHistory>()))
    let fieldSets = others.get(keptFields)
    if (fieldSets === undefined) {
      others.set(keptFields, (fieldSets = { fields, keptFields, next: undefined }))
      if (!keptFields.covers(fields)) fieldSets.next = this.of(keptFields, fields)
    }
    return fieldSets
  }
}

/** Failures that are kept of a row; more are out of every window. */
export const MAX_FAILED = 64
/** Messages near each other in which sensors fail; the full state takes the next one. */
export const MAX_REPLAYED = 16

/** A message and when it was taken, epoch ms. */
export interface TimedMessage {
  readonly message: Message
  readonly time: number
}

/** The last messages after which a row did not know all states, with those between them. */
export interface UnknownMessages {
  /** what came before them; undefined: the full state has seen it */
  readonly from: BeforeUnknown | undefined
  /** oldest first */
  readonly replayed: readonly TimedMessage[]
  /** how often those between them fired something */
  readonly fired: number
}

/** Sensors that messages did not run, and messages that ran none. */
export interface NotRunCounts {
  readonly missed: number
  readonly silent: number
}

/** What a row knew before the first message that is replayed. */
export interface BeforeUnknown {
  /** of that message, and what is known of those before it */
  readonly count: number
  readonly fieldSets: FieldSetHistory
  /** what was not run before it, since the full state was up to date; undefined: what the row says, since no later one counts */
  readonly missed?: NotRunCounts
  /** state bits before it, and since when each node had its state */
  readonly before: number
  readonly since: number[]
  /** the message before, which ran all sensors, and state bits before that; undefined: the full state has seen it, or it is not needed */
  readonly last: KeptMessage | undefined
  readonly prior: number
}

/** The field-set history of a message, the message before, and the field-set history of that. */
export interface Known {
  readonly fieldSets: FieldSetHistory
  readonly message: Message | undefined
  readonly before: FieldSetHistory | undefined
}

export function firstFieldSets(fields: Fields): FieldSetHistory {
  // Less than the number of any message. -Infinity, which is not an integer, would make `from` a double in every field-set history.
  return { fields, from: -1, kept: undefined, previous: undefined }
}

/** The field-set history of an indexed row whose next message goes another way than those with its usual fields. */
export interface DetouredHistory extends FieldSetHistory {
  readonly own: FieldSetHistory
}

export function detouredHistory(own: FieldSetHistory): DetouredHistory {
  // no message matches them, which is what the short way asks
  return { ...own, fields: { ...own.fields, match: () => false }, own }
}

/** The field-set history after a message with other fields, which is the next one. `last`: the one before it. */
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

/** The same number. A sum of doubles is a double, which costs the object that keeps it a box: what fits in 32 bits needs none. */
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

/** Messages after one, oldest first. */
export function keptSince({ kept }: FieldSetHistory, index: number): readonly KeptMessage[] {
  const list: KeptMessage[] = []
  for (let one = kept; one !== undefined && one.index > index; one = one.older) list.push(one)
  return list.reverse()
}

/** All that is found at `now`, when a message is the last one; as `carriedValue`. */
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

/** Whether an earlier message has one of these values. */
export function isKept({ kept }: FieldSetHistory, names: readonly string[]): boolean {
  for (let one = kept; one !== undefined; one = one.older) if (names.some((name) => one.fields.has(name))) return true
  return false
}

/**
 * What is found under a name that the last message does not have, at `now`. `seen`: number of the last message that
 * `stream` knows.
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
  return streamValue(key, now, validity, stream)
}

/** The same of what the full state has seen. */
export function streamValue(key: string, now: number, validity: number, stream: Stream | null | undefined): unknown {
  if (!stream) return undefined
  const value = messageValue(stream.values, key)
  if (value !== undefined) return stream.at + validity > now ? value : undefined
  const carried = stream.carried?.get(key)
  return carried !== undefined && carried.until > now ? carried.value : undefined
}

/** What was compared last under a name: in the last message, or in the last that had it. */
export function lastValue(last: Message, { kept }: FieldSetHistory, name: string): unknown {
  if (last[name] !== undefined) return last[name]
  for (let one = kept; one !== undefined; one = one.older) if (one.message[name] !== undefined) return one.message[name]
  return undefined
}
