/** Parses the parameters of listing and timeline to conditions on stored alarms. */
import type { Condition, Query } from '#storage'
import { makeIssue, refuse } from '#kernel'
import { parameterReader } from '#services/shared'
import { type AlarmFilters, LISTING, SELECTED_EVENTS, TIMELINE } from './alarm-schema.ts'
import type { AlarmEvent, AlarmQuery } from './contract.ts'
import type { LiveEvent } from './event-tail.ts'
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

const EQUAL = ['source', 'type', 'status', 'severity', 'assignee', 'lifecycle', 'suppression'] as const

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
  const where: Condition[] = EQUAL.flatMap((field) => anyOf(field, listOf(filters[field])))
  if (filters.commented !== undefined) where.push({ field: 'comments', op: 'exists', value: filters.commented })
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
    const texts = listOf(value).map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
    const names = name.startsWith(ADDITIONAL) ? [name.slice(ADDITIONAL.length), name] : [name]
    return anyOf(
      'properties',
      names.flatMap((one) => texts.map((each) => searchText(one, each))),
    )
  })
}

/** Before the name of an additional property, for names that are also parameters. */
const ADDITIONAL = 'additional.'

export function readCounted(query: AlarmQuery): readonly Condition[] {
  return [...conditions(readListing(query)), ...propertyConditions(query)]
}

const readEvents = parameterReader(SELECTED_EVENTS)

type Selection = (event: AlarmEvent) => boolean

/** Returns whether an event is selected, by the alarm after it; undefined: all are. */
export function readSelection(query: AlarmQuery): Selection | undefined {
  const wanted = Object.entries(readEvents(query)).map(([name, value]) => {
    return [name, new Set<unknown>(listOf(value))] as const
  })
  if (wanted.length === 0) return undefined
  return ({ alarm }) => wanted.every(([name, values]) => values.has(name === 'source' ? alarm.source.id : alarm[name]))
}

export async function* selected(events: AsyncGenerator<LiveEvent>, fits: Selection | undefined) {
  for await (const live of events) if (fits === undefined || fits(live.event)) yield live
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
