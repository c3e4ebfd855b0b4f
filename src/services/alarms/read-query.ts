/** Parses the parameters of listing and timeline to conditions on stored alarms. */
import type { Condition, Query } from '#storage'
import { makeIssue, refuse } from '#kernel'
import { parameterReader } from '#services/shared'
import { type AlarmFilters, LISTING, TIMELINE } from './alarm-schema.ts'
import type { AlarmQuery } from './contract.ts'
import { searchText } from './search-texts.ts'

export interface ReadQuery {
  readonly where: readonly Condition[]
  readonly sort: NonNullable<Query['sort']>
  readonly page: number
  readonly size: number
  readonly withHistory: boolean
}

const DEFAULT_SIZE = 50

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

/** Names that are not additional properties. `all` is a parameter of old clients that has no effect. */
const RESERVED: ReadonlySet<string> = new Set([...Object.keys(LISTING), ...Object.keys(TIMELINE), 'all'])
const readListing = parameterReader({ ...LISTING, ...TIMELINE })
const readMoments = parameterReader(TIMELINE)

export function readQuery(query: AlarmQuery): ReadQuery {
  const read = readListing(query)
  const { page = 1, size = DEFAULT_SIZE, sort = 'timestamp', order = 'descending', history = true } = read
  return {
    where: [...conditions(read), ...propertyConditions(query)],
    sort: [{ field: SORTS[sort], descending: order.startsWith('desc') }],
    page,
    size,
    withHistory: history,
  }
}

export interface ReadTimeline {
  readonly where: readonly Condition[]
  /** epoch ms, both inclusive */
  readonly from: number
  readonly to: number
}

export function readTimeline(query: AlarmQuery): ReadTimeline {
  const read = readMoments(query)
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, source } = read
  if (source === undefined)
    throw refuse('the query', [makeIssue('QUERY', '/source', 'is missing', 'name at least one source')])
  return { where: [...conditions(read), ...propertyConditions(query)], from, to }
}

export function conditions(filters: AlarmFilters): readonly Condition[] {
  const where = (['source', 'type', 'status', 'severity', 'assignee'] as const).flatMap((field) =>
    anyOf(field, listOf(filters[field])),
  )
  for (const [from, to, field] of TIMES) {
    const [least, most] = [filters[from], filters[to]]
    if (least !== undefined) where.push({ field, op: 'gte', value: least })
    if (most !== undefined) where.push({ field, op: 'lte', value: most })
  }
  return where
}

function propertyConditions(query: AlarmQuery): readonly Condition[] {
  return Object.entries(query).flatMap(([name, value]) => {
    if (RESERVED.has(name)) return []
    const values = listOf(value).map((each) => searchText(name, typeof each === 'string' ? each : JSON.stringify(each)))
    return anyOf('properties', values)
  })
}

function listOf<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return []
  return Array.isArray(value) ? (value as readonly T[]) : [value as T]
}

function anyOf(field: string, values: readonly string[]): Condition[] {
  const [first, ...more] = values
  if (first === undefined) return []
  return [more.length === 0 ? { field, op: 'eq', value: first } : { field, op: 'in', values }]
}
