/** Checks the result of a plug before it becomes an observation. */
import { FORBIDDEN_KEYS, isPlainObject, messageOf, shown } from '#kernel'
import { isPlainJson, isPlainRecord, jsonFault } from './answer-json.ts'
import type { Plug } from './plug.ts'

/** Maximum length of a `then` chain. */
const MAX_CHAIN = 16

/** A checked result. All fields are always set, so that all results share one hidden class. */
export interface Answer {
  readonly ok: true
  readonly state: number
  readonly rawData: Readonly<Record<string, unknown>> | undefined
  /** `undefined` keeps the previous memory */
  readonly internalState: unknown
  readonly message: string | undefined
  readonly after: number | undefined
  /** length of the whole wait in ms, when part of it has passed */
  readonly whole: number | undefined
  /** always has its own `after` */
  readonly then: Answer | undefined
  /** true: the sensor runs again instead of getting this result */
  readonly again: boolean | undefined
}

export interface BadAnswer {
  readonly ok: false
  readonly error: string
  /** a retry would fail in the same way */
  readonly isFinal?: true
  /** minimum wait before a retry, ms */
  readonly retryAfter?: number
}

/** Returns the index of a state, or -1. Fast path for bare strings. */
export function stateIndex(plug: Plug, state: string): number {
  return plug.states.indexOf(state)
}

/**
 * Reads the result of `execute`: nothing, a state, or an object with `state` (`observedState` in older scripts),
 * `rawData`, `internalState`, `message`, `after`, `whole` and `then`. Ignores other fields. Raw data and memory must be
 * plain JSON. Returns an invalid result as a value with a readable reason; never throws.
 */
export function readAnswer(plug: Plug, answer: unknown): Answer | BadAnswer {
  try {
    return readStep(plug, answer, '', 0)
  } catch (error) {
    // getters and proxies may throw
    return bad(plug, `returned an unreadable answer: ${messageOf(error)}`)
  }
}

function readStep(plug: Plug, answer: unknown, path: string, depth: number): Answer | BadAnswer {
  if (typeof answer === 'string') return answerOfState(plug, answer)
  if (answer === undefined || answer === null) return NO_ANSWER
  if (!isPlainObject(answer))
    return bad(plug, `returned ${shown(answer)}; return a state or an object such as { state, rawData }`)

  // Object.prototype contains none of these names, so plain reads return own fields, several times faster than
  // own-property checks.
  const named = answer['state'] ?? answer['observedState'] ?? undefined
  const state = typeof named === 'string' ? stateIndex(plug, named) : -1
  if (state === -1 && named !== undefined) return wrongState(plug, named)

  const rawData = answer['rawData'] ?? undefined
  if (rawData !== undefined && !isPlainObject(rawData)) {
    return bad(plug, `returned ${shown(rawData)} as rawData; it must be an object such as { value: 21.5 }`)
  }
  if (rawData !== undefined && hasForbiddenKey(rawData)) {
    return bad(plug, `returned rawData with one of the keys ${[...FORBIDDEN_KEYS].join(', ')}, which are not allowed`)
  }
  if (rawData !== undefined && !isPlainRecord(rawData)) return notJson(plug, rawData, `${path}rawData`)
  const message = answer['message'] ?? undefined
  if (message !== undefined && typeof message !== 'string') {
    return bad(plug, `returned ${shown(message)} as message; it must be text`)
  }
  const after = answer['after'] ?? undefined
  if (after !== undefined && !isDelay(after)) {
    return bad(plug, `returned ${shown(after)} as after; it must be milliseconds, 0 or more`)
  }
  const whole = answer['whole'] ?? undefined
  if (whole !== undefined && !isDelay(whole)) {
    return bad(plug, `returned ${shown(whole)} as whole; it must be milliseconds, 0 or more`)
  }
  const next = answer['then'] ?? undefined
  let then: Answer | undefined
  if (next !== undefined) {
    if (depth + 1 > MAX_CHAIN) return bad(plug, `returned a chain of more than ${MAX_CHAIN} results by then`)
    const read = readStep(plug, next, `${path}then.`, depth + 1)
    if (!read.ok) return read
    if (read.after === undefined) {
      return bad(plug, 'returned a result in then without its own after; add after in milliseconds')
    }
    then = read
  }
  const internalState = answer['internalState']
  // actuators have no memory
  if (internalState !== undefined && plug.kind === 'sensor' && !isPlainJson(internalState))
    return notJson(plug, internalState, `${path}internalState`)
  const again = answer['again'] === true ? true : undefined
  return { ok: true, state, rawData, internalState, message, after, whole, then, again }
}

function notJson(plug: Plug, value: unknown, path: string): BadAnswer {
  return bad(plug, `returned ${jsonFault(value, path) ?? `${path}, which changes with each read`}`)
}

function hasForbiddenKey(record: Record<string, unknown>): boolean {
  // These names have known inherited values, so plain reads prove that the record has no own fields of these names,
  // much faster than own-property checks.
  const isPlain =
    record['constructor'] === Object && record['prototype'] === undefined && record['__proto__'] === Object.prototype
  if (isPlain && Object.getPrototypeOf(record) === Object.prototype) return false
  return (
    Object.hasOwn(record, '__proto__') || Object.hasOwn(record, 'constructor') || Object.hasOwn(record, 'prototype')
  )
}

/** Result of a plug that returned nothing, and of a skipped call. */
export const NO_ANSWER: Answer = Object.freeze(answerWith(-1))

function answerOfState(plug: Plug, state: string): Answer | BadAnswer {
  const index = stateIndex(plug, state)
  return index === -1 ? wrongState(plug, state) : answerWith(index)
}

function answerWith(state: number): Answer {
  return {
    ok: true,
    state,
    rawData: undefined,
    internalState: undefined,
    message: undefined,
    after: undefined,
    whole: undefined,
    then: undefined,
    again: undefined,
  }
}

function wrongState(plug: Plug, state: unknown): BadAnswer {
  const text = typeof state === 'string' && state !== '' ? state : shown(state)
  const known = plug.states.length === 0 ? 'it has no states' : `it can be ${listed(plug.states)}`
  return { ok: false, error: `State ${text.slice(0, 200)} is invalid for plug ${plug.name}; ${known}` }
}

function listed(states: readonly string[]): string {
  const more = states.length - 20
  return more > 0 ? `${states.slice(0, 20).join(', ')} and ${more} more` : states.join(', ')
}

function bad(plug: Plug, what: string): BadAnswer {
  return { ok: false, error: `plug ${plug.name} ${what}` }
}

function isDelay(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
