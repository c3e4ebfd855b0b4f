/** The parameters of the listing and of the timeline, as conditions over stored alarms. */
import type { Condition, Query } from '#storage'
import { QueryReader } from '#services/shared'
import { unknownWord } from './body-reader.ts'
import type { AlarmQuery } from './contract.ts'
import { searchText } from './search-texts.ts'
import { SEVERITIES, STATUSES, wordIn } from './words.ts'

export interface ReadQuery {
  readonly where: readonly Condition[]
  readonly sort: NonNullable<Query['sort']>
  /** from 1 */
  readonly page: number
  readonly size: number
  readonly withHistory: boolean
}

const DEFAULT_SIZE = 50
const MAX_SIZE = 1000
const MAX_PAGE = 10_000_000

/** Parameter and field of what is asked by time. */
const TIMES = [
  ['dateFrom', 'dateTo', 'timestamp'],
  ['creationTimeFrom', 'creationTimeTo', 'createTime'],
  ['lastUpdatedFrom', 'lastUpdatedTo', 'updateTime'],
  ['lastTriggeredFrom', 'lastTriggeredTo', 'triggerTime'],
] as const
const SORTS = {
  timestamp: 'timestamp',
  lastUpdateTime: 'updateTime',
  lastTriggeredTime: 'triggerTime',
  creationTime: 'createTime',
} as const
const ORDERS = ['descending', 'ascending', 'desc', 'asc'] as const

/** Never names of additional properties. `all` is a switch of old clients that says nothing here. */
const RESERVED: ReadonlySet<string> = new Set([
  'type',
  'status',
  'severity',
  'source',
  'assignee',
  'page',
  'size',
  'sort',
  'order',
  'from',
  'to',
  'all',
  'history',
  ...TIMES.flatMap(([from, to]) => [from, to]),
])

/** `VALIDATION` with all problems. */
export function readQuery(query: AlarmQuery): ReadQuery {
  const reader = new QueryReader(query)
  const where = conditions(reader)
  const page = reader.integer('page', { least: 1, most: MAX_PAGE }) ?? 1
  const size = reader.integer('size', { least: 1, most: MAX_SIZE }) ?? DEFAULT_SIZE
  const sort = reader.oneOf('sort', Object.keys(SORTS) as readonly (keyof typeof SORTS)[]) ?? 'timestamp'
  const order = reader.oneOf('order', ORDERS) ?? 'descending'
  const withHistory = reader.flag('history') ?? true
  reader.done()
  return {
    where,
    sort: [{ field: SORTS[sort], descending: order.startsWith('desc') }],
    page,
    size,
    withHistory,
  }
}

export interface ReadTimeline {
  readonly where: readonly Condition[]
  /** epoch ms, both inclusive */
  readonly from: number
  readonly to: number
}

/** `VALIDATION` with all problems, also without a source. */
export function readTimeline(query: AlarmQuery): ReadTimeline {
  const reader = new QueryReader(query)
  const where = conditions(reader)
  if (reader.texts('source').length === 0) reader.missing('source', 'a timeline is of at least one source')
  const from = reader.time('from') ?? Number.NEGATIVE_INFINITY
  const to = reader.time('to') ?? Number.POSITIVE_INFINITY
  reader.done()
  return { where, from, to }
}

/** What filters say, as the listing and batches have them. */
export function conditions(reader: QueryReader): readonly Condition[] {
  const where: Condition[] = []
  const anyOf = (field: string, values: readonly string[]): void => {
    const [first, ...more] = values
    if (first === undefined) return
    where.push(more.length === 0 ? { field, op: 'eq', value: first } : { field, op: 'in', values })
  }
  anyOf('source', reader.texts('source'))
  anyOf('type', reader.texts('type'))
  anyOf('status', words(reader, 'status', STATUSES))
  anyOf('severity', words(reader, 'severity', SEVERITIES))
  anyOf('assignee', reader.texts('assignee').slice(-1))
  for (const [from, to, field] of TIMES) {
    const [least, most] = [reader.time(from), reader.time(to)]
    if (least !== undefined) where.push({ field, op: 'gte', value: least })
    if (most !== undefined) where.push({ field, op: 'lte', value: most })
  }
  for (const name of reader.keys) {
    if (RESERVED.has(name)) continue
    const values = reader.texts(name).map((value) => searchText(name, value))
    anyOf('properties', values)
  }
  return where
}

function words(reader: QueryReader, name: string, known: readonly string[]): readonly string[] {
  const given = reader.texts(name)
  const found = given.map((text) => wordIn(known, text))
  if (found.includes(undefined)) reader.wrong(name, unknownWord(name, known))
  return found.filter((word) => word !== undefined)
}
