/** Entries of the log that have messages: how they are written, and what readers make of them. */
import { isPlainObject, type Json, JsonText, parseWritten } from '#kernel'
import type { LogBody } from '#storage'

export const LOG_NAME = 'log'
export const PARTITION = 0

/** A message as tasks and subscribers see it. */
export interface RoutedMessage {
  readonly resource: string
  readonly [metric: string]: unknown
}

/** That an entry belongs to the messages of the broker: series and streams follow it. */
export interface KeptMessage {
  /** what it came on */
  readonly s: 'events' | 'commands'
  /** epoch ms from which all of it is gone */
  readonly x?: number
  /** epoch ms at which it arrived, where a message says that it is of later */
  readonly a?: number
  /**
   * A resource, a message as JSON, the next resource ...: where a message has whole numbers that no number keeps. Tasks
   * get `m`, which is without them.
   */
  readonly t?: readonly string[]
}

/** Member with the arrival, epoch ms, of messages that no task took: kept inputs have them with their time. */
export const ARRIVED = 'w'

/** What becomes one entry: the messages of one poster, which are one invocation of each task that takes them. */
export interface NewMessages {
  readonly messages: unknown
  /** the same as JSON, where there is such a text */
  readonly text?: string | undefined
  readonly kept?: KeptMessage | undefined
}

/** `about`: what tasks have to know besides the messages; undefined when none takes them. */
export function messageBody({ messages, text, kept }: NewMessages, about: object | undefined): LogBody {
  if (text === undefined) {
    const m = about === undefined && kept?.t !== undefined ? undefined : messages
    return { k: 'data', ...(m !== undefined && { m }), ...kept, ...about } as unknown as Json
  }
  return new JsonText(`{"k":"data","m":${text}${membersOf(kept)}${membersOf(about)}}`)
}

/** What is kept of most posts. */
export const KEPT_EVENTS: KeptMessage = { s: 'events' }

function membersOf(some: object | undefined): string {
  if (some === undefined) return ''
  if (some === KEPT_EVENTS) return ',"s":"events"'
  const text = JSON.stringify(some)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

/** A message that series and streams have of an entry. */
export interface LoggedMessage {
  readonly channel: KeptMessage['s']
  readonly resource: string
  readonly expires: number | undefined
  /** epoch ms; infinite where no message is of later */
  readonly arrived: number
  /** without its resource */
  readonly text: string
  readonly message: Readonly<Record<string, unknown>>
}

/** Whether series and streams follow the entry. */
export function isKept(body: Json): boolean {
  return isPlainObject(body) && (body['s'] !== undefined || body['k'] === 'bulk')
}

/** Whether tasks took the entry. */
export function isInput(body: Json): boolean {
  return isPlainObject(body) && body['at'] !== undefined
}

/** The messages of an entry that series and streams follow, in their order; none of any other entry. */
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
