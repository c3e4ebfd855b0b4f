/** Ordinary answers of plugs, recognized by cheap reads; plug/result.ts reads all others. */
import { isPlainRecord } from '../plug/answer-json.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a row keeps of an actuator's answer: its message or its raw data alone, or both. Undefined: nothing. */
export type KeptAnswer = string | Fields | MessageAndData | undefined

export class MessageAndData {
  readonly message: string
  readonly rawData: Fields

  constructor(message: string, rawData: Fields) {
    this.message = message
    this.rawData = rawData
  }
}

/** Kept in place of an answer that comes beside the row. */
export const LATER = new MessageAndData('', {})

export const NOT_ORDINARY: unique symbol = Symbol('not ordinary')

/** What is kept of an actuator's answer. */
export function keptOf(result: unknown): KeptAnswer | typeof NOT_ORDINARY {
  if (result === null) return undefined
  if (!isOrdinary(result)) return NOT_ORDINARY
  const { message, rawData } = result
  // The memory of an actuator is never read.
  const more = result['state'] ?? result['observedState'] ?? result['after'] ?? result['then']
  if (more !== undefined || (message !== undefined && typeof message !== 'string')) return NOT_ORDINARY
  if (rawData === undefined) return message
  if (!isSafeRecord(rawData)) return NOT_ORDINARY
  // Most have one of them, which needs no object around it.
  return message === undefined ? rawData : new MessageAndData(message, rawData)
}

/**
 * Made by a literal or JSON.parse, without a key `constructor` of its own: asked by plain reads, several times faster
 * than the questions of plug/result.ts, which decides in all other cases.
 */
function isOrdinary(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    value.constructor === Object &&
    Object.getPrototypeOf(value) === Object.prototype
  )
}

/** The state of an answer that is a state and perhaps raw data; -1 when there is more to it. */
export function plainState(states: readonly string[], result: unknown): number {
  if (typeof result === 'string') return indexOf(states, result)
  if (!isOrdinary(result)) return -1
  const { state, rawData } = result
  // null is a memory like any other, and nothing for the rest.
  if (result['internalState'] !== undefined) return -1
  const more = result['observedState'] ?? result['message'] ?? result['after'] ?? result['then'] ?? undefined
  if (more !== undefined || typeof state !== 'string') return -1
  if (rawData !== undefined && !isSafeRecord(rawData)) return -1
  return indexOf(states, state)
}

/** As the array's own, which is slow for short ones. */
function indexOf(states: readonly string[], state: string): number {
  for (let i = 0; i < states.length; i++) if (states[i] === state) return i
  return -1
}

function isSafeRecord(value: unknown): value is Record<string, unknown> {
  if (!isOrdinary(value) || value['prototype'] !== undefined || value['__proto__'] !== Object.prototype) return false
  return isPlainRecord(value)
}
