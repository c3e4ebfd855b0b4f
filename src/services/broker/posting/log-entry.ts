/** Converts posts to log entries, and log entries to samples and messages for series. */
import { isPlainObject, type Json } from '#kernel'
import { KEPT_EVENTS, type KeptMessage, messageBody, messagesOfEntry } from '#log'
import type { LogBody, NewMessage, Sample, SampleValue } from '#storage'
import type { BrokerMessage, Channel, ForwardedPost } from '../contract.ts'
import { readableMessageOf, routedText, type PublishRequest } from './publish-request.ts'
import { CLAIMED_TIMESTAMP } from './time-bounds.ts'

interface BulkEntry {
  readonly k: 'bulk'
  /** JSON with the resource, metric, times and values of each column */
  readonly c: string
  readonly x?: number
}

type WireColumn = readonly [resource: string, metric: string, times: readonly number[], values: readonly SampleValue[]]

export function forwarded(post: PublishRequest): ForwardedPost {
  const { arrivals, hops, root, identityIgnores, store } = post
  const messages = arrivals.map((arrival) => readableMessageOf(arrival, post))
  const unstamped = arrivals.flatMap(({ isUnstamped }, index) => (isUnstamped === true ? [index] : []))
  const isCompared = unstamped.length < arrivals.length && identityIgnores !== undefined
  const text = textOf(post)
  return {
    messages,
    ...(text !== undefined && { text }),
    ...(store && { kept: keptOf(post) }),
    ...(hops > 0 && { hops, ...(root !== undefined && { root }) }),
    ...(unstamped.length > 0 && { unstamped }),
    ...(isCompared && { identityIgnores }),
  }
}

export function entriesOf(post: PublishRequest): readonly LogBody[] {
  const { bulk, expires, store } = post
  if (!store) return []
  if (bulk === undefined)
    return [messageBody({ messages: undefined, text: textOf(post), kept: keptOf(post) }, undefined)]
  return bulk.parts.map((columns) => {
    const c = columns.map(({ resource, metric, times, values }): WireColumn => [resource, metric, times, values])
    return { k: 'bulk', c: JSON.stringify(c), ...(expires !== undefined && { x: expires }) } satisfies BulkEntry
  })
}

function isReadable({ oddities }: PublishRequest): boolean {
  return oddities === undefined || oddities.unreadable === 0
}

/** Returns the messages as JSON; undefined if tasks must not receive everything that arrived. */
function textOf(post: PublishRequest): string | undefined {
  if (!isReadable(post)) return undefined
  const { arrivals } = post
  const [only] = arrivals
  return arrivals.length === 1 && only !== undefined ? routedText(only) : `[${arrivals.map(routedText).join()}]`
}

function keptOf(post: PublishRequest): KeptMessage {
  const { channel: s, expires: x, arrived, arrivals } = post
  const isAhead = s === 'events' && arrivals.some(({ message }) => message.timestamp > arrived)
  if (s === 'events' && x === undefined && !isAhead && isReadable(post)) return KEPT_EVENTS
  return {
    s,
    ...(x !== undefined && { x }),
    ...(isAhead && { a: arrived }),
    ...(!isReadable(post) && { t: arrivals.flatMap(({ resource, text }) => [resource, text]) }),
  }
}

export interface Projected {
  readonly samples: Sample[]
  readonly messages: NewMessage[]
}

export function nothing(): Projected {
  return { samples: [], messages: [] }
}

export function isFull({ samples, messages }: Projected): boolean {
  return samples.length + messages.length > MAX_AT_ONCE
}

/** maximum samples and messages per append; a single post is never split */
const MAX_AT_ONCE = 40_000

export function projectPost(post: PublishRequest, into: Projected): void {
  const { channel, bulk, expires, arrivals, arrived, store } = post
  if (!store) return
  for (const columns of bulk?.parts ?? []) {
    for (const { resource, metric, times, values } of columns) {
      projectColumn([resource, metric, times, values], expires, into)
    }
  }
  for (const { resource, message, text } of arrivals) {
    project({ channel, resource, text, expires, arrived }, message, into)
  }
}

/** Returns false if the form of the entry is unknown; inputs that are not stored add nothing. */
export function projectEntry(body: Json, into: Projected): boolean {
  const entry: unknown = body
  if (!isPlainObject(entry)) return false
  const { k, c, x } = entry as Partial<BulkEntry>
  if (k === 'bulk') {
    if (typeof c !== 'string') return false
    for (const column of JSON.parse(c) as readonly WireColumn[]) projectColumn(column, x, into)
    return true
  }
  for (const one of messagesOfEntry(body)) project(one, one.message as BrokerMessage, into)
  return typeof k === 'string'
}

/** Returns whether a metric becomes a sample; other metrics stay in the message only. */
export function isSample(value: unknown): value is SampleValue {
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
}

function projectColumn(column: WireColumn, expires: number | undefined, { samples }: Projected): void {
  const [resource, metric, times, values] = column
  for (let i = 0; i < times.length; i++) {
    const [time, value] = [times[i] ?? 0, values[i] ?? 0]
    samples.push(expires === undefined ? { resource, metric, time, value } : { resource, metric, time, value, expires })
  }
}

interface MessageOfPost {
  readonly channel: Channel
  readonly resource: string
  readonly text: string
  readonly expires: number | undefined
  readonly arrived: number
}

/** A message is not dated after its arrival; its samples keep its timestamp. */
function project(
  { channel, resource, text, expires, arrived }: MessageOfPost,
  message: BrokerMessage,
  { samples, messages }: Projected,
): void {
  const { timestamp: time } = message
  if (channel === 'events') {
    for (const metric of Object.keys(message)) {
      const value = message[metric]
      if (metric === 'timestamp' || metric === CLAIMED_TIMESTAMP || !isSample(value)) continue
      samples.push(
        expires === undefined ? { resource, metric, time, value } : { resource, metric, time, value, expires },
      )
    }
  }
  const newest = channel === 'events' ? Math.min(time, arrived) : time
  const stored = { resource, stream: channel, time: newest, body: message, text }
  messages.push(expires === undefined ? stored : { ...stored, expires })
}
