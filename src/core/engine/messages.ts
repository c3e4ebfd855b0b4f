import type { Message } from '../task/origin.ts'
import { requireMessage } from './refusals.ts'

/** One message or a list. Throws `VALIDATION` for what is neither. */
export function isOne(messages: Message | readonly Message[]): messages is Message {
  // The usual message is known by its resource, without asking what else it might be.
  if (typeof (messages as Message | null | undefined)?.resource === 'string') return true
  if (Array.isArray(messages)) return false
  requireMessage(messages, 'the message')
  return true
}
