import { ownValue } from '../../kernel/json.ts'
import type { LaneInput } from '../task/input.ts'
import type { Message } from '../task/origin.ts'

/** Whether newer messages of the same resources have all the values of an input of broker data. */
export function coveredBy(input: LaneInput, newer: readonly Message[]): boolean {
  if (input.kind !== 'data' || input.sent?.channel !== undefined) return false
  return input.messages.every((message) =>
    newer.some((one) => one.resource === message.resource && hasAll(one, message)),
  )
}

function hasAll(newer: Message, older: Message): boolean {
  return Object.keys(older).every(
    (key) => key === 'timestamp' || ownValue(older, key) === undefined || ownValue(newer, key) !== undefined,
  )
}
