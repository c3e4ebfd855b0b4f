/** What stands in the broker's log, from which series are made good after a crash. */
import { isPlainObject, type Json, parseWritten } from '#kernel'
import type { NewMessage, Sample, SampleValue, Series } from '#storage'
import type { BrokerMessage, Channel } from '../contract.ts'
import type { Post } from './arrival.ts'
import { CLAIMED_TIMESTAMP } from './time-bounds.ts'

export const LOG = 'broker'
export const PARTITION = 0

/** bytes of the texts of one entry: with their quotes escaped it still fits */
const MAX_BYTES = 400_000

/** Texts are kept as they are, not parsed again. */
interface MessageEntry {
  readonly k: Channel
  /** a resource, a message as JSON, the next resource ... */
  readonly m: readonly string[]
  /** epoch ms from which all of it is gone */
  readonly x?: number
  /** epoch ms at which it arrived, where a message says that it is of later */
  readonly a?: number
}

interface BulkEntry {
  readonly k: 'bulk'
  /** JSON: resource, metric, times and values of each column */
  readonly c: string
  readonly x?: number
}

type WireColumn = readonly [resource: string, metric: string, times: readonly number[], values: readonly SampleValue[]]

/** The entries of a post, one for most. */
export function entriesOf(post: Post): readonly Json[] {
  const { bulk, expires } = post
  if (bulk !== undefined) {
    return bulk.parts.map((columns) => {
      const c = columns.map(({ resource, metric, times, values }): WireColumn => [resource, metric, times, values])
      return { k: 'bulk', c: JSON.stringify(c), ...(expires !== undefined && { x: expires }) } satisfies BulkEntry
    })
  }
  return sharedEntries([post]).entries
}

/** Messages of posts of one channel, and by the place of the post which of the entries has it. */
export function sharedEntries(posts: readonly Post[]): { entries: readonly Json[]; places: readonly number[] } {
  const entries: Json[] = []
  const places: number[] = []
  let m: string[] = []
  let bytes = 0
  let before: number | undefined
  /** of what is in the entry, when it has one; undefined: of several times */
  let came: number | undefined
  let a: number | undefined
  for (const post of posts) {
    const { channel: k, arrivals, expires, arrived } = post
    const ahead = aheadOf(post)
    for (const { resource, text } of arrivals) {
      // as much as UTF-8 can take: exactness is not worth a second walk
      const size = (resource.length + text.length) * 3
      const isOther = (ahead !== undefined || a !== undefined) && arrived !== came
      if (m.length === 0 || expires !== before || isOther || bytes + size > MAX_BYTES) {
        m = []
        bytes = 0
        before = expires
        came = arrived
        a = ahead
        entries.push(messageEntry(k, m, expires, a))
      } else if (ahead !== undefined && a === undefined) {
        a = ahead
        entries[entries.length - 1] = messageEntry(k, m, expires, a)
      } else if (arrived !== came) came = undefined
      m.push(resource, text)
      bytes += size
    }
    places.push(entries.length - 1)
  }
  return { entries, places }
}

function messageEntry(k: Channel, m: readonly string[], x: number | undefined, a: number | undefined): Json {
  return { k, m, ...(x !== undefined && { x }), ...(a !== undefined && { a }) } satisfies MessageEntry
}

/** When it arrived, where a message says that it is of later. */
function aheadOf({ arrivals, arrived, channel }: Post): number | undefined {
  return channel === 'events' && arrivals.some(({ message }) => message.timestamp > arrived) ? arrived : undefined
}

/** What series get of a part of the log. */
export interface Projected {
  readonly samples: Sample[]
  readonly messages: NewMessage[]
}

export function nothing(): Projected {
  return { samples: [], messages: [] }
}

/** Whether one append takes no more than this. */
export function isFull({ samples, messages }: Projected): boolean {
  return samples.length + messages.length > MAX_AT_ONCE
}

/** samples and messages of one append to series; what one post has is never split, and is within their own bound */
const MAX_AT_ONCE = 40_000

export function projectPost(post: Post, into: Projected): void {
  const { channel, bulk, expires, arrivals, arrived } = post
  for (const columns of bulk?.parts ?? []) {
    for (const { resource, metric, times, values } of columns) {
      projectColumn([resource, metric, times, values], expires, into)
    }
  }
  for (const { resource, message, text } of arrivals) {
    project({ channel, resource, text, expires, arrived }, message, into)
  }
}

/** False for what this version cannot read. */
export function projectEntry(body: Json, into: Projected): boolean {
  const entry: unknown = body
  if (!isPlainObject(entry)) return false
  const { k, m, c, x } = entry as Partial<BulkEntry> & Partial<Omit<MessageEntry, 'k'>>
  if (c !== undefined) {
    for (const column of JSON.parse(c) as readonly WireColumn[]) projectColumn(column, x, into)
    return true
  }
  if (k === 'bulk' || !isList(m)) return false
  for (const one of messagesOfEntry(body)) project(one, one.message(), into)
  return true
}

/** A message of an entry. */
export interface LoggedMessage extends MessageOfPost {
  /** without its resource; read when it is asked for */
  readonly message: () => BrokerMessage
}

/** The messages that an entry tells, in their order; none for a bulk, and for what this version cannot read. */
export function messagesOfEntry(body: Json): readonly LoggedMessage[] {
  const entry: unknown = body
  if (!isPlainObject(entry)) return []
  const { k: channel, m, x: expires, a: arrived = Infinity } = entry as unknown as Partial<MessageEntry>
  if (channel === undefined || !isList(m)) return []
  const messages: LoggedMessage[] = []
  for (let i = 0; i + 1 < m.length; i += 2) {
    const [resource = '', text = ''] = [m[i], m[i + 1]]
    const message = (): BrokerMessage => parseWritten(text) as BrokerMessage
    messages.push({ channel, resource, text, expires, arrived, message })
  }
  return messages
}

/** What series get of each message of an entry; one part for a bulk. Throws as `projectEntry` does. */
export function partsOf(body: Json): readonly Projected[] {
  const messages = messagesOfEntry(body)
  const parts = Array.from({ length: Math.max(1, messages.length) }, nothing)
  for (const [i, part] of parts.entries()) {
    const one = messages[i]
    if (one === undefined) projectEntry(body, part)
    else project(one, one.message(), part)
  }
  return parts
}

/** As far as a log can be trusted to have what was put into it. */
function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value)
}

/** What a metric must be to become a sample; the rest lives in its message alone. */
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

/** Samples are of the time that the message names; the message itself is no newer than when it came. */
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

export type SeriesOf = Pick<Series, 'append' | 'applied'>
