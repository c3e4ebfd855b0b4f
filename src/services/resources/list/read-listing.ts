/** The parameters of a listing of resources, read with all problems at once. */
import { AppError } from '#kernel'
import { QueryReader } from '#services/shared'
import type { Condition } from '#storage'
import type { ListQuery, ResourceEntity } from '../contract.ts'
import { TEXT_FIELDS } from '../resource-record.ts'
import type { Circle } from './circle.ts'
import { DISTANCE_UNITS, metresOf } from './distance.ts'
import { fieldsOf, isPath } from './project.ts'
import { translate, type KnownFields } from './query-conditions.ts'
import { parseQuery } from './query-language.ts'
import { matches } from './query-match.ts'

export interface Paging {
  readonly skip: number
  readonly limit: number
}

export interface Listing extends Paging {
  readonly where: readonly Condition[]
  /** what the store cannot find out; all must hold for the resource as it is shown */
  readonly checks: readonly ((shown: ResourceEntity) => boolean)[]
  readonly circle?: Circle
  readonly sort: { readonly path: string; readonly isField: boolean; readonly descending: boolean }
  /** empty: everything */
  readonly fields: readonly string[]
  readonly denormalized: boolean
}

const DEFAULT_LIMIT = 100
const MAX_LISTED = 1_000
const LONGEST_FILTER = 256
const MAX_IDS = 1_000
const MAX_TAGS = 50

const RESOURCE_FIELDS: KnownFields = {
  texts: new Set(['id', 'parentId', ...TEXT_FIELDS]),
  numbers: new Set(['lastMessageTimestamp']),
  lists: new Set(['tags']),
  references: 'references',
}

/** Throws `VALIDATION`. */
export function readListing(query: ListQuery): Listing {
  const reader = new QueryReader(query)
  const paging = readPaging(reader)
  // what costs least to ask comes first
  const where: Condition[] = [...fieldConditions(reader), ...filterConditions(reader)]
  const checks: Listing['checks'][number][] = []
  const asked = readQuery(reader, RESOURCE_FIELDS)
  where.push(...asked.where)
  if (asked.check !== undefined) checks.push(asked.check)
  const circle = readCircle(reader)
  if (reader.flag('toplevelOnly') === true) where.push({ field: 'parentId', op: 'exists', value: false })
  const sort = reader.text('sort') ?? 'id'
  if (!isPath(sort)) reader.wrong('sort', `"${sort}" is no path of an attribute`)
  const descending = reader.oneOf('order', ['ascending', 'descending']) === 'descending'
  const denormalized = reader.flag('denormalized') ?? true
  if (reader.text('q') !== undefined) reader.wrong('q', 'is not read', 'use query, such as query=name:like(pump*)')
  reader.done()
  const isField = RESOURCE_FIELDS.texts.has(sort) || RESOURCE_FIELDS.numbers.has(sort)
  return {
    ...paging,
    where,
    checks,
    ...(circle && { circle }),
    sort: { path: sort, isField, descending },
    fields: fieldsOf(query),
    denormalized,
  }
}

export function readPaging(reader: QueryReader): Paging {
  const limit = reader.integer('limit', { most: MAX_LISTED }) ?? DEFAULT_LIMIT
  return { skip: reader.integer('skip') ?? 0, limit }
}

/** Throws `VALIDATION` in words that clients know. */
export function filterConditions(reader: QueryReader): readonly Condition[] {
  const filter = reader.text('filter')
  if (filter === undefined) return []
  if (filter.length > LONGEST_FILTER) {
    throw new AppError('VALIDATION', `Bad request: 'filter' parameter can only be ${LONGEST_FILTER} characters`)
  }
  return [{ field: 'words', op: 'contains', value: filter }]
}

/** Conditions for the store, and a check for the rest. */
export function readQuery(
  reader: QueryReader,
  fields: KnownFields,
): { readonly where: readonly Condition[]; readonly check?: (entity: object) => boolean } {
  const text = reader.text('query')
  if (text === undefined) return { where: [] }
  const parsed = parseQuery(text)
  if ('problem' in parsed) {
    reader.wrong('query', parsed.problem, 'write for example name:like(pump*) AND tags:in(a,b)')
    return { where: [] }
  }
  const { where, isExact } = translate(parsed.query, fields)
  const asTexts = (path: string): boolean => fields.texts.has(path) || fields.lists.has(path)
  return isExact ? { where } : { where, check: (entity) => matches(parsed.query, entity, asTexts) }
}

export function idConditions(reader: QueryReader): readonly Condition[] {
  const ids = reader.texts('id').filter((id) => id !== '')
  if (ids.length > MAX_IDS) reader.wrong('id', `is there ${ids.length} times`, `at most ${MAX_IDS}`)
  return ids.length === 0 ? [] : [{ field: 'id', op: 'in', values: ids.slice(0, MAX_IDS) }]
}

function fieldConditions(reader: QueryReader): readonly Condition[] {
  const tags = reader.texts('tag').filter((tag) => tag !== '')
  if (tags.length > MAX_TAGS) reader.wrong('tag', `is there ${tags.length} times`, `at most ${MAX_TAGS}`)
  const whole = (['provider', 'customer', 'resourceTypeId'] as const).flatMap((field): Condition[] => {
    const values = reader.texts(field).filter((value) => value !== '')
    const [value] = values
    if (value === undefined) return []
    // an index may answer several that are equal together
    return [values.length === 1 ? { field, op: 'eq', value } : { field, op: 'in', values: values.slice(0, MAX_IDS) }]
  })
  const tagged = tags.slice(0, MAX_TAGS).map((value): Condition => ({ field: 'tags', op: 'eq', value }))
  return [...idConditions(reader), ...whole, ...tagged]
}

/** All three parameters, or none. */
function readCircle(reader: QueryReader): Circle | undefined {
  const lat = reader.number('lat')
  const lon = reader.number('lon')
  const text = reader.text('distance')
  const given = (['lat', 'lon', 'distance'] as const).filter((name) => reader.text(name) !== undefined)
  if (given.length === 0) return undefined
  for (const name of ['lat', 'lon', 'distance'] as const) {
    if (!given.includes(name)) reader.missing(name, 'a search by place needs lat, lon and distance')
  }
  if (lat !== undefined && Math.abs(lat) > 90) reader.wrong('lat', `${lat} is off the globe`, 'give -90 to 90')
  if (lon !== undefined && Math.abs(lon) > 180) reader.wrong('lon', `${lon} is off the globe`, 'give -180 to 180')
  const metres = text === undefined ? undefined : metresOf(text)
  if (text !== undefined && metres === undefined) {
    reader.wrong('distance', `"${text}" is no distance`, `write a number with one of ${DISTANCE_UNITS.join(', ')}`)
  }
  if (lat === undefined || lon === undefined || metres === undefined) return undefined
  if (Math.abs(lat) > 90 || Math.abs(lon) > 180) return undefined
  return { center: { lat, lon }, metres }
}
