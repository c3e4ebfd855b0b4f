/** Messages of several resources (`POST /messages/query`). */
import { AppError } from '#kernel'
import type { Series } from '#storage'
import type { BrokerMessage, MessageApi } from '../contract.ts'
import { MAX_KEPT, messageOf } from '../recent-messages.ts'
import { rangeOf } from './series-request.ts'
import { MessageQuery } from './series-schema.ts'

/** messages of one answer */
const MAX_ANSWERED = 20_000

/** Newest first for each resource that has some, in the order in which they are named. */
export async function queryMessages(series: Series, body: unknown, now: number): ReturnType<MessageApi['query']> {
  const query = MessageQuery.read(body)
  const limit = Math.min(query.limit ?? MAX_KEPT, MAX_KEPT)
  const { from = null, until = null, window = null } = query
  const isBounded = from !== null || until !== null || window !== null
  const range = isBounded ? rangeOf(query, now) : undefined
  const results: { resource: string; messages: readonly BrokerMessage[] }[] = []
  let total = 0
  for (const resource of new Set(query.resources)) {
    const kept = await series.messages({
      resource,
      stream: 'events',
      limit: range === undefined ? limit : MAX_KEPT,
    })
    const within = range === undefined ? kept : kept.filter(({ time }) => time >= range.from && time <= range.until)
    const messages = within.slice(0, limit).map(messageOf)
    if (messages.length > 0) results.push({ resource, messages })
    total += messages.length
    if (total > MAX_ANSWERED) {
      const most = `the answer has more than ${MAX_ANSWERED} messages`
      throw new AppError('TOO_LARGE', `${most}; ask for fewer resources, or with a smaller limit`)
    }
  }
  return { query: { ...query, ...range }, results }
}
