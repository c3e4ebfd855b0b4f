/** A read of one series, checked: what `GET .../series/{metric}` and `POST /series/query` have in common. */
import { IANAZone } from 'luxon'
import { at, isPlainObject, type Issues, ownValue, shown } from '#kernel'
import {
  type Aggregate,
  type AggregateDefinition,
  COMMON_AGGREGATES,
  finite,
  percentileOf,
  readName,
} from '#services/shared'
import { type Filter, readFilter } from './filter.ts'
import { DAY, type Grouping, LENGTH_FORMS, lengthMs, WEEK } from './grouping.ts'
import { type ResolvedRange, resolveRange } from './time-range.ts'

/** What a group of samples comes to. Numeric aggregates pass over texts and truth values. */
const DEFINITIONS: ReadonlyMap<string, AggregateDefinition> = new Map<string, AggregateDefinition>([
  ...COMMON_AGGREGATES,
  ['std', { needs: 'deviation', of: ({ deviation }) => finite(deviation ?? null) }],
  ['diff', { needs: 'change', of: ({ change }) => finite(change) }],
])
const PERCENTILE = /^percentile\((\d{0,9}(?:\.\d{1,20})?)\)$/

/** What is right, for errors. */
const AGGREGATE_FORMS = `write one of ${[...DEFINITIONS.keys()].join(', ')}, or percentile(q) with q above 0 and at most 1`

/** The aggregate of that name, undefined for none. */
function aggregateOf(name: string): Aggregate | undefined {
  const definition = DEFINITIONS.get(name) ?? percentile(name)
  return definition && { name, ...definition }
}

function percentile(name: string): AggregateDefinition | undefined {
  const text = PERCENTILE.exec(name)?.[1]
  const share = text === undefined || text === '' ? 0 : Number(text)
  if (!(share > 0 && share <= 1)) return undefined
  return { needs: 'ranks', of: ({ ranks }) => finite(percentileOf(ranks, share)) }
}

export interface SeriesRequest {
  readonly resources: readonly string[]
  readonly metric: string
  readonly range: ResolvedRange
  /** none: samples as they are */
  readonly aggregates: readonly Aggregate[]
  readonly grouping: Grouping
  /** an IANA zone, whose days or weeks the groups are */
  readonly zone: string | undefined
  readonly filter: Filter | undefined
  readonly descending: boolean
  /** points of the answer, at most */
  readonly limit: number
  /** the query as the answer repeats it */
  readonly echo: Readonly<Record<string, unknown>>
}

/** What a request is read from, with the place of it in a list of several. */
export interface UncheckedRequest {
  readonly place: string
  /** `aggregates` is a list, `aggregate` one name; undefined and null are not there */
  readonly members: Readonly<Record<string, unknown>>
  readonly now: number
  readonly issues: Issues
  /** points of an answer, at most; and as many when nothing is said */
  readonly most: number
  readonly usual?: number
}

const MAX_RESOURCES = 1_000
const MAX_AGGREGATES = 20

/** Undefined when something is wrong; then the issues know what. */
export function readRequest(asked: UncheckedRequest): SeriesRequest | undefined {
  const { place, members, now, issues, most, usual = most } = asked
  const metric = readName(members['metric'], `${place}/metric`, 'metric', issues)
  const resources = readResources(asked)
  const range = resolveRange(members, now, issues, place)
  const aggregates = readAggregates(asked)
  const grouping = readGrouping(asked, aggregates)
  const zone = readZone(asked, grouping)
  const filter = present(members['filter']) ? readFilter(members['filter'], `${place}/filter`, issues) : undefined
  const order = readOrder(asked)
  const limits = [readLimit(asked, 'limit', 1), readLimit(asked, 'maxResults', 0)].filter(
    (limit) => limit !== undefined,
  )
  if (metric === undefined || resources === undefined || range === undefined) return undefined
  return {
    resources,
    metric,
    range,
    aggregates: aggregates ?? [],
    grouping,
    zone,
    filter,
    descending: order === 'descending',
    limit: Math.min(most, limits.length === 0 ? usual : Math.min(...limits)),
    echo: {
      ...range,
      metric,
      aggregates: aggregates === undefined ? null : aggregates.map(({ name }) => name),
      grouping: present(members['grouping']) ? members['grouping'] : 'auto',
      resources,
      ...echoOf(members, ['aggregate', 'filter', 'limit', 'maxResults', 'order', 'window', 'zone']),
    },
  }
}

/** What was asked besides, as it was asked. */
function echoOf(members: UncheckedRequest['members'], names: readonly string[]): Record<string, unknown> {
  const told = names.filter((name) => present(members[name]))
  return Object.fromEntries(told.map((name) => [name, wholeOr(members[name])]))
}

/** Numbers of a URL are texts. */
function wholeOr(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}

function present(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Each once, as named first. */
export function readNames(list: unknown, path: string, issues: Issues): readonly string[] | undefined {
  if (!Array.isArray(list) || list.length === 0) {
    const message = list === undefined || list === null ? 'is missing' : `${shown(list)} is no list of resources`
    return issues.wrong(path, message, 'name at least one resource, as ["boiler-1"]')
  }
  if (list.length > MAX_RESOURCES) {
    return issues.wrong(path, `${list.length} are too many`, `name at most ${MAX_RESOURCES}`)
  }
  const names = list.map((name: unknown, i) => readName(name, `${path}/${i}`, 'resource', issues))
  return names.every((name) => name !== undefined) ? [...new Set(names)] : undefined
}

function readResources({ members, place, issues }: UncheckedRequest): readonly string[] | undefined {
  return readNames(members['resources'], `${place}/resources`, issues)
}

/** Undefined when none are asked for. */
function readAggregates({ members, place, issues }: UncheckedRequest): readonly Aggregate[] | undefined {
  const one = members['aggregate']
  const several = members['aggregates']
  const named: { readonly name: unknown; readonly path: string }[] = []
  if (present(several) && !Array.isArray(several)) {
    issues.wrong(`${place}/aggregates`, `${shown(several)} is no list of aggregates`, 'write ["mean"]')
  }
  const list: readonly unknown[] = Array.isArray(several) ? several : []
  // an echo has both
  if (present(one) && !list.includes(one)) named.push({ name: one, path: `${place}/aggregate` })
  for (const [i, name] of list.slice(0, MAX_AGGREGATES).entries()) {
    named.push({ name, path: `${place}/aggregates/${i}` })
  }
  if (list.length > MAX_AGGREGATES) {
    issues.wrong(`${place}/aggregates`, `${list.length} are too many`, `ask for at most ${MAX_AGGREGATES}`)
  }
  if (named.length === 0) return undefined
  return named.flatMap(({ name, path }) => {
    const aggregate = typeof name === 'string' ? aggregateOf(name) : undefined
    if (aggregate === undefined) issues.wrong(path, `${shown(name)} is no aggregate`, AGGREGATE_FORMS)
    return aggregate ?? []
  })
}

function readGrouping(
  { members, place, issues }: UncheckedRequest,
  aggregates: readonly Aggregate[] | undefined,
): Grouping {
  const grouping = members['grouping']
  if (!present(grouping) || grouping === 'auto' || grouping === 'none') return 'auto'
  const length = typeof grouping === 'string' ? lengthMs(grouping) : undefined
  if (length === undefined) {
    issues.wrong(`${place}/grouping`, `${shown(grouping)} is no grouping`, `write auto, ${LENGTH_FORMS}`)
  } else if (aggregates === undefined) {
    issues.wrong(`${place}/aggregates`, 'is missing, though there is a grouping', AGGREGATE_FORMS)
  }
  return length ?? 'auto'
}

/** Hours and what is shorter are the same everywhere. */
function readZone({ members, place, issues }: UncheckedRequest, grouping: Grouping): string | undefined {
  const { zone } = members
  if (!present(zone)) return undefined
  if (typeof zone !== 'string' || !IANAZone.isValidZone(zone)) {
    return issues.wrong(`${place}/zone`, `${shown(zone)} is no time zone`, 'write one such as Europe/Brussels')
  }
  if (grouping === DAY || grouping === WEEK) return zone
  return issues.wrong(`${place}/zone`, 'stands without days or weeks', 'group by day or week, or leave it out')
}

function readOrder({ members, place, issues }: UncheckedRequest): 'ascending' | 'descending' {
  const { order = 'ascending' } = members
  if (order === 'ascending' || order === 'descending') return order
  if (order !== null) issues.wrong(`${place}/order`, `${shown(order)} is unknown`, 'write ascending or descending')
  return 'ascending'
}

function readLimit({ members, place, issues }: UncheckedRequest, name: string, least: number): number | undefined {
  const value = members[name]
  if (!present(value)) return undefined
  const limit = wholeOr(value)
  if (typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= least) return limit
  return issues.wrong(`${place}/${name}`, `${shown(value)} is no whole number of at least ${least}`)
}

const BODY_MEMBERS: ReadonlySet<string> = new Set([
  'metric',
  'resources',
  'aggregates',
  'aggregate',
  'grouping',
  'zone',
  'from',
  'until',
  'window',
  'filter',
  'order',
  'limit',
  'maxResults',
])

/** One element of the body of `POST /series/query`. */
export function readBodyRequest(
  body: unknown,
  { place, ...asked }: Omit<UncheckedRequest, 'members'>,
): SeriesRequest | undefined {
  const { issues } = asked
  if (!isPlainObject(body)) {
    return issues.wrong(place, `${shown(body)} is no query`, 'write an object with metric, resources and aggregates')
  }
  refuseOthers(body, BODY_MEMBERS, place, issues)
  const members = Object.fromEntries([...BODY_MEMBERS].map((name) => [name, ownValue(body, name)]))
  const request = readRequest({ place, members, ...asked })
  if (request !== undefined && request.aggregates.length === 0 && request.resources.length > 1) {
    issues.wrong(`${place}/aggregates`, 'is missing, though there are several resources', AGGREGATE_FORMS)
  }
  return request
}

/** Complains of each member that nobody would read. */
export function refuseOthers(
  body: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  place: string,
  issues: Issues,
): void {
  for (const key of Object.keys(body).filter((name) => !known.has(name))) {
    issues.wrong(at(place, key.slice(0, 100)), 'is no member of this query', `write one of ${[...known].join(', ')}`)
  }
}
