/** What stands in the broker's log, from which series are made good after a crash. */
import type { Json } from '../../../kernel/json.ts'
import { isPlainObject } from '../../../kernel/json.ts'
import type { Sample, Series, StoredMessage } from '../../../storage/contract.ts'
import type { BrokerMessage } from '../contract.ts'
import type { Post } from './arrival.ts'

export const LOG = 'broker'
export const PARTITION = 0

/** bytes of the texts of one entry: with their quotes escaped it still fits */
const MOST_BYTES = 400_000

/** One entry. `m`: a resource, a message as JSON, the next resource ... Texts are kept as they are, not parsed again. */
interface Entry {
  readonly k: 'events' | 'commands' | 'bulk'
  readonly m: readonly string[]
  /** epoch ms from which all of it is gone */
  readonly x?: number
}

/** The entries of a post, one for most. */
export function entriesOf(post: Post): readonly Json[] {
  const entries: Json[] = []
  let texts: string[] = []
  let bytes = 0
  const end = (): void => {
    entries.push(entryOf(post, texts) as unknown as Json)
    texts = []
    bytes = 0
  }
  for (const { resource, text } of post.arrivals) {
    // as much as UTF-8 can take: exactness is not worth a second walk
    const size = (resource.length + text.length) * 3
    if (texts.length > 0 && bytes + size > MOST_BYTES) end()
    texts.push(resource, text)
    bytes += size
  }
  if (texts.length > 0) end()
  return entries
}

function entryOf({ channel, isBulk, expires }: Post, m: readonly string[]): Entry {
  return { k: isBulk ? 'bulk' : channel, m, ...(expires !== undefined && { x: expires }) }
}

/** What series get of a part of the log. */
export interface Projected {
  readonly samples: Sample[]
  readonly messages: StoredMessage[]
}

export function nothing(): Projected {
  return { samples: [], messages: [] }
}

/** Whether one append takes no more than this. */
export function isFull({ samples, messages }: Projected): boolean {
  return samples.length + messages.length > MOST_AT_ONCE
}

/** samples and messages of one append to series; what one post has is never split, and is within their own bound */
const MOST_AT_ONCE = 40_000

export function projectPost(post: Post, into: Projected): void {
  const { channel, isBulk, expires, arrivals } = post
  for (const { resource, message } of arrivals) project(isBulk ? 'bulk' : channel, resource, message, expires, into)
}

/** Entries that this version cannot read are passed over: what is broken must not stop what follows. */
export function projectEntry(body: Json, into: Projected): boolean {
  const entry: unknown = body
  if (!isPlainObject(entry) || !Array.isArray(entry['m'])) return false
  const { k, m, x } = entry as unknown as Entry
  for (let i = 0; i + 1 < m.length; i += 2) {
    project(k, m[i] ?? '', JSON.parse(m[i + 1] ?? '') as BrokerMessage, x, into)
  }
  return true
}

function project(
  kind: Entry['k'],
  resource: string,
  message: BrokerMessage,
  expires: number | undefined,
  { samples, messages }: Projected,
): void {
  const { timestamp: time } = message
  const until = expires === undefined ? undefined : { expires }
  if (kind !== 'commands') {
    for (const metric of Object.keys(message)) {
      if (metric === 'timestamp') continue
      const value = message[metric]
      if (typeof value !== 'number' && typeof value !== 'string' && typeof value !== 'boolean') continue
      samples.push({ resource, metric, time, value, ...until })
    }
  }
  if (kind !== 'bulk') messages.push({ resource, stream: kind, time, body: message, ...until })
}

export type SeriesOf = Pick<Series, 'append' | 'applied'>
