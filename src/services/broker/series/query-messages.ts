/** Messages of several resources (`POST /messages/query`). */
import { AppError, isPlainObject, Issues, ownValue, shown } from '#kernel'
import type { Series } from '#storage'
import type { BrokerMessage, MessageApi } from '../contract.ts'
import { messageOf } from '../recent-messages.ts'
import { readNames, refuseOthers } from './series-request.ts'
import { type ResolvedRange, resolveRange } from './time-range.ts'

/** messages of a resource that are kept for retrieval */
const MAX_KEPT = 100
/** messages of one answer */
const MAX_ANSWERED = 20_000
const MEMBERS: ReadonlySet<string> = new Set(['resources', 'limit', 'from', 'until', 'window'])

/** Newest first for each resource that has some, in the order in which they are named. */
export async function queryMessages(series: Series, body: unknown, now: number): ReturnType<MessageApi['query']> {
  const { resources, range, limit, echo } = readQuery(body, now)
  const results: { resource: string; messages: readonly BrokerMessage[] }[] = []
  let total = 0
  for (const resource of resources) {
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
  return { query: echo, results }
}

interface MessageQuery {
  readonly resources: readonly string[]
  /** undefined: all that is kept */
  readonly range: ResolvedRange | undefined
  readonly limit: number
  readonly echo: Readonly<Record<string, unknown>>
}

function readQuery(body: unknown, now: number): MessageQuery {
  const issues = new Issues('QUERY')
  if (!isPlainObject(body)) {
    issues.wrong('', `${shown(body)} is no query`, 'write an object with resources and limit')
    issues.throwIfAny('the query')
    return { resources: [], range: undefined, limit: 0, echo: {} }
  }
  refuseOthers(body, MEMBERS, '', issues)
  const parts = { from: ownValue(body, 'from'), until: ownValue(body, 'until'), window: ownValue(body, 'window') }
  const isBounded = Object.values(parts).some((part) => part !== undefined && part !== null)
  const range = isBounded ? resolveRange(parts, now, issues) : undefined
  const resources = readNames(ownValue(body, 'resources'), '/resources', issues)
  const limit = ownValue(body, 'limit') ?? MAX_KEPT
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1) {
    issues.wrong('/limit', `${shown(limit)} is no whole number of at least 1`, 'give messages for each resource')
  }
  issues.throwIfAny('the query')
  return { resources: resources ?? [], range, limit: Math.min(Number(limit), MAX_KEPT), echo: { ...body, ...range } }
}
