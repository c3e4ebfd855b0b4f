/** Determines properties of a lane's inputs, such as where the host stores their messages. */
import type { LaneInput, WaitingInput } from '../task/input.ts'
import type { Message } from '../task/origin.ts'
import type { Outcome } from './call-plug.ts'
import type { KeptMessages } from './host-control.ts'

export function isData({ input }: WaitingInput): boolean {
  return input.kind === 'data'
}

export function isFinal(outcome: Outcome): boolean {
  return outcome.ok && (outcome.after === undefined || outcome.after === 0)
}

export function keptIndexes({ position, messages }: KeptMessages, input: LaneInput): WaitingInput['kept'] {
  if (input.kind !== 'data' || messages === undefined) return undefined
  const indexes = input.messages.map((message) => (message === messages ? 0 : listOf(messages).indexOf(message)))
  return indexes.includes(-1) ? undefined : { position, places: indexes }
}

function listOf(messages: Message | readonly Message[]): readonly Message[] {
  return Array.isArray(messages) ? (messages as readonly Message[]) : []
}
