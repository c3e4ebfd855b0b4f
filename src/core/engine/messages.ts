/** Passes several messages to tasks. */
import type { Message } from '../task/origin.ts'
import { requireMessage } from './refusals.ts'

/** Distinguishes a single message from a list. Throws `VALIDATION` for anything else. */
export function isOne(messages: Message | readonly Message[]): messages is Message {
  if (typeof (messages as Message | null | undefined)?.resource === 'string') return true
  if (Array.isArray(messages)) return false
  requireMessage(messages, 'the message')
  return true
}

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
