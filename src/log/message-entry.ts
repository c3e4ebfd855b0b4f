/** Formats log entries for messages, and reads the messages back. */
import { isPlainObject, type Json, JsonText, parseWritten } from '#kernel'
import type { LogBody } from '#storage'

export const LOG_NAME = 'log'

export interface RoutedMessage {
  readonly resource: string
  readonly [metric: string]: unknown
}

/** Marks a log entry for the broker; series and streams follow such entries. */
export interface KeptMessage {
  readonly s: 'events' | 'commands'
  /** epoch ms at which the entry expires */
  readonly x?: number
  /** epoch ms at which the entry arrived; present when a message has a later timestamp */
  readonly a?: number
  /** resources and messages alternating, as JSON; present when a message has integers beyond 2^53 */
  readonly t?: readonly string[]
}

/** Member with the arrival time (epoch ms) of messages that no task took. */
export const ARRIVAL_TIME = 'w'

/** The messages of one post. They become one log entry, and invoke each listening task once. */
export interface NewMessages {
  readonly messages: unknown
  readonly text?: string | undefined
  readonly kept?: KeptMessage | undefined
}

export function messageBody({ messages, text, kept }: NewMessages, about: object | undefined): LogBody {
  if (text === undefined) {
    const m = about === undefined && kept?.t !== undefined ? undefined : messages
    return { k: 'data', ...(m !== undefined && { m }), ...kept, ...about } as unknown as Json
  }
  return new JsonText(`{"k":"data","m":${text}${membersOf(kept)}${membersOf(about)}}`)
}

export const KEPT_EVENTS: KeptMessage = { s: 'events' }

function membersOf(some: object | undefined): string {
  if (some === undefined) return ''
  if (some === KEPT_EVENTS) return ',"s":"events"'
  const text = JSON.stringify(some)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

export interface LoggedMessage {
  readonly channel: KeptMessage['s']
  readonly resource: string
  readonly expires: number | undefined
  /** epoch ms of arrival; infinite unless a message has a later timestamp */
  readonly arrived: number
  readonly text: string
  readonly message: Readonly<Record<string, unknown>>
}

export function isKept(body: Json): boolean {
  return isPlainObject(body) && (body['s'] !== undefined || body['k'] === 'bulk')
}

export function isInput(body: Json): boolean {
  return isPlainObject(body) && body['at'] !== undefined
}

export function* messagesOfEntry(body: Json): Generator<LoggedMessage, undefined> {
  if (!isPlainObject(body)) return
  const { s: channel, m, t, x: expires, a: arrived = Infinity } = body as Partial<KeptMessage> & { m?: unknown }
  if (channel === undefined) return
  if (t !== undefined) {
    for (let i = 0; i + 1 < t.length; i += 2) {
      const [resource = '', text = ''] = [t[i], t[i + 1]]
      yield { channel, resource, text, expires, arrived, message: parseWritten(text) as LoggedMessage['message'] }
    }
    return
  }
  for (const { resource, ...message } of (Array.isArray(m) ? m : [m]) as readonly RoutedMessage[]) {
    yield { channel, resource, text: JSON.stringify(message), expires, arrived, message }
  }
}
