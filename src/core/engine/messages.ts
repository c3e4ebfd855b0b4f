/** Which tasks take which of several messages that came together. */
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

/** The messages of each task that takes some of them, in the order in which they came. */
export function messagesByTask<T>(
  messages: readonly Message[],
  listenersOf: (resource: string) => Iterable<T>,
): ReadonlyMap<T, readonly Message[]> {
  const byTask = new Map<T, Message[]>()
  for (const message of messages) {
    for (const task of listenersOf(message.resource)) {
      const list = byTask.get(task)
      if (list) list.push(message)
      else byTask.set(task, [message])
    }
  }
  return byTask
}
