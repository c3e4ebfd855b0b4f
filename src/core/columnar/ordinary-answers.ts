/** Recognizes ordinary results of plugs with a few cheap reads; plug/result.ts reads all others. */
import { isPlainJson, isPlainRecord } from '../plug/answer-json.ts'

type Fields = Readonly<Record<string, unknown>>

/** The part of an actuator's result that a row keeps: its message, its raw data, or both. Undefined: nothing. */
export type KeptAnswer = string | Fields | MessageAndData | undefined

export class MessageAndData {
  readonly message: string
  readonly rawData: Fields

  constructor(message: string, rawData: Fields) {
    this.message = message
    this.rawData = rawData
  }
}

/** Placeholder for a result that arrives outside the row. */
export const LATER = new MessageAndData('', {})

export const NOT_ORDINARY: unique symbol = Symbol('not ordinary')

/** Returns what to keep of an actuator's result. */
export function keptOf(result: unknown): KeptAnswer | typeof NOT_ORDINARY {
  if (result === null) return undefined
  if (!isOrdinary(result)) return NOT_ORDINARY
  const { message, rawData } = result
  // Nothing ever reads an actuator's memory.
  const more = result['state'] ?? result['observedState'] ?? result['after'] ?? result['then']
  if (more !== undefined || (message !== undefined && typeof message !== 'string')) return NOT_ORDINARY
  if (rawData === undefined) return message
  if (!isSafeRecord(rawData)) return NOT_ORDINARY
  // Most results have only one of these, which needs no wrapper.
  return message === undefined ? rawData : new MessageAndData(message, rawData)
}

/**
 * Returns whether `value` comes from an object literal or JSON.parse and has no key `constructor`. These reads are
 * several times faster than the checks of plug/result.ts, which decides all other cases.
 */
function isOrdinary(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    value.constructor === Object &&
    Object.getPrototypeOf(value) === Object.prototype
  )
}

/** Returns whether `value` is a promise that surely calls back once, and later. */
export function isNativePromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && value.constructor === Promise
}

/** Returns the state index of a result with only a state, raw data and a memory; -1 for any other. */
export function plainState(states: readonly string[], result: unknown): number {
  if (typeof result === 'string') return indexOf(states, result)
  if (!isOrdinary(result)) return -1
  const { state, rawData, internalState } = result
  // null counts as a memory, but as absent for the other fields.
  if (internalState !== undefined && !isPlainJson(internalState)) return -1
  const more = result['observedState'] ?? result['message'] ?? result['after'] ?? result['then'] ?? undefined
  if (more !== undefined || typeof state !== 'string') return -1
  if (rawData !== undefined && !isSafeRecord(rawData)) return -1
  return indexOf(states, state)
}

/** Like Array.indexOf, which is slow for short arrays. */
function indexOf(states: readonly string[], state: string): number {
  for (let i = 0; i < states.length; i++) if (states[i] === state) return i
  return -1
}

function isSafeRecord(value: unknown): value is Record<string, unknown> {
  if (!isOrdinary(value) || value['prototype'] !== undefined || value['__proto__'] !== Object.prototype) return false
  return isPlainRecord(value)
}
