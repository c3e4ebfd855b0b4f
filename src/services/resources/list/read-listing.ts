/** Schemas of listing parameters, and their translation to store queries. */
import { type TSchema, Type } from 'typebox'
import { parameterReader } from '#services/shared'
import { type Problem, refined } from '#services/shared/contract'
import type { Condition } from '#storage'
import type { ListQuery } from '../contract.ts'
import { TEXT_FIELDS } from '../resource-record.ts'
import { DISTANCE_UNITS, type Circle, metresOf } from './circle.ts'
import { isPath } from './project.ts'
import { translate, type KnownFields } from './query-conditions.ts'
import { matches, parseQuery, type Query } from './query-match.ts'

export interface Paging {
  readonly skip: number
  readonly limit: number
}

export interface Search extends Paging {
  readonly where: readonly Condition[]
  readonly check?: (entity: object) => boolean
  readonly fields: readonly string[]
}

export interface Listing extends Search {
  readonly circle?: Circle
  readonly sort: { readonly path: string; readonly isField: boolean; readonly descending: boolean }
  readonly denormalized: boolean
}

const MOST = 100

const MAX_LISTED = 1_000
const LONGEST_FILTER = 256
const MAX_IDS = 1_000
const MAX_TAGS = 50
const MAX_FIELDS = 100

function names(maxItems = MAX_IDS) {
  return Type.Optional(Type.Array(Type.String(), { maxItems }))
}

/** A text with a rule; an empty text counts as absent. */
function ruled<S extends TSchema>(schema: S, problemOf: (text: string) => Problem | undefined) {
  return refined(schema, (value) => {
    const problem = typeof value === 'string' && value !== '' ? problemOf(value) : undefined
    return problem === undefined ? [] : [problem]
  })
}

const notAPath = (path: string): Problem => ({ message: `"${path}" is not the path of an attribute` })
const paths = Type.Optional(
  refined(Type.Array(Type.String({ description: 'paths with dots, separated by commas' })), (value) => {
    const fields = fieldsIn(value)
    const wrong = fields.find((field) => !isPath(field))
    if (wrong !== undefined) return [notAPath(wrong)]
    return fields.length > MAX_FIELDS ? [{ message: `names more than ${MAX_FIELDS} fields` }] : []
  }),
)

export const PAGING = {
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_LISTED })),
}
const SEARCH = {
  filter: Type.Optional(
    ruled(Type.String({ maxLength: LONGEST_FILTER, description: 'text contained in id, name, tags ...' }), (text) =>
      text.length > LONGEST_FILTER
        ? { message: `Bad request: 'filter' parameter can only be ${LONGEST_FILTER} characters` }
        : undefined,
    ),
  ),
  query: Type.Optional(
    Type.Decode(
      ruled(Type.String({ description: 'such as name:like(pump*) AND limits.minimum:gt(3)' }), (text) => {
        const parsed = parseQuery(text)
        if (!('problem' in parsed)) return undefined
        return { message: parsed.problem, suggestion: 'write a query such as name:like(pump*) AND tags:in(a,b)' }
      }),
      queryIn,
    ),
  ),
}
const SHOWN = { field: paths, fields: paths, ...PAGING }

export const RESOURCE_LISTING = {
  ...SEARCH,
  tag: names(MAX_TAGS),
  id: names(),
  provider: names(),
  customer: names(),
  resourceTypeId: names(),
  toplevelOnly: Type.Optional(Type.Boolean()),
  lat: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
  lon: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
  distance: Type.Optional(
    ruled(Type.String({ description: 'such as 500m, 100km or 3mi' }), (text) => {
      if (metresOf(text) !== undefined) return undefined
      const suggestion = `write a number with one of ${DISTANCE_UNITS.join(', ')}`
      return { message: `"${text}" is not a distance`, suggestion }
    }),
  ),
  sort: Type.Optional(ruled(Type.String(), (text) => (isPath(text) ? undefined : notAPath(text)))),
  order: Type.Optional(Type.Enum(['ascending', 'descending'])),
  denormalized: Type.Optional(Type.Boolean({ default: true })),
  ...SHOWN,
}
export const TYPE_LISTING = { ...SEARCH, id: names(), template: names(), ...SHOWN }
export const CONSTRAINT_LISTING = { ...SEARCH, ...PAGING }

const PLACE = ['lat', 'lon', 'distance'] as const
const readPage = parameterReader(PAGING)
const readResources = parameterReader(
  {
    ...RESOURCE_LISTING,
    q: Type.Optional(
      ruled(Type.String(), () => ({
        message: 'is not supported',
        suggestion: 'use query, such as query=name:like(pump*)',
      })),
    ),
  },
  locationProblems,
)
const readTypes = parameterReader(TYPE_LISTING)
const readConstraints = parameterReader(CONSTRAINT_LISTING)

const RESOURCE_FIELDS: KnownFields = {
  texts: new Set(['id', 'parentId', ...TEXT_FIELDS]),
  numbers: new Set(['lastMessageTimestamp']),
  lists: new Set(['tags']),
  references: 'references',
}
const TYPE_FIELDS: KnownFields = {
  texts: new Set(['id', 'name', 'provider', 'providerId', 'customer']),
  numbers: new Set(),
  lists: new Set(),
}
const CONSTRAINT_FIELDS: KnownFields = { texts: new Set(['id']), numbers: new Set(), lists: new Set(['tags']) }

export function pagingOf(query: ListQuery, most = MOST): Paging {
  const { skip = 0, limit = most } = readPage(query)
  return { skip, limit }
}

export function locationProblems(query: unknown): readonly Problem[] {
  const parameters = query as Readonly<Record<string, unknown>>
  const missing = PLACE.filter((name) => parameters[name] === undefined || parameters[name] === '')
  if (missing.length === PLACE.length) return []
  const suggestion = 'a search by location requires lat, lon and distance'
  return missing.map((name) => ({ at: `/${name}`, message: 'is missing', suggestion }))
}

export function readListing(query: ListQuery): Listing {
  const listed = readResources(query)
  const { lat, lon, distance = '', sort = '', order, denormalized = true, toplevelOnly = false } = listed
  const { where, ...search } = searchOf(listed, RESOURCE_FIELDS)
  const metres = metresOf(distance)
  const path = sort === '' ? 'id' : sort
  return {
    ...search,
    where: toplevelOnly ? [...where, { field: 'parentId', op: 'exists', value: false }] : where,
    ...(lat !== undefined && lon !== undefined && metres !== undefined && { circle: { center: { lat, lon }, metres } }),
    sort: {
      path,
      isField: RESOURCE_FIELDS.texts.has(path) || RESOURCE_FIELDS.numbers.has(path),
      descending: order === 'descending',
    },
    denormalized,
  }
}

export function readTypeListing(query: ListQuery): Search {
  return searchOf(readTypes(query), TYPE_FIELDS)
}

export function readConstraintListing(query: ListQuery): Search {
  return searchOf(readConstraints(query), CONSTRAINT_FIELDS)
}

interface Searched {
  readonly skip?: number
  readonly limit?: number
  readonly filter?: string
  readonly query?: Query | undefined
  readonly [name: string]: unknown
}

function searchOf(
  { skip = 0, limit = MOST, filter = '', query, ...parameters }: Searched,
  fields: KnownFields,
): Search {
  const where: Condition[] = []
  for (const field of ['id', 'provider', 'customer', 'resourceTypeId']) {
    const values = full(parameters[field])
    const [value] = values
    // prefers `eq`, because one index can serve several `eq` conditions
    if (value !== undefined) where.push(values.length === 1 ? { field, op: 'eq', value } : { field, op: 'in', values })
  }
  for (const value of full(parameters['tag'])) where.push({ field: 'tags', op: 'eq', value })
  for (const value of full(parameters['template'])) where.push({ field: 'templates', op: 'eq', value })
  if (filter !== '') where.push({ field: 'words', op: 'contains', value: filter })
  const page = { skip, limit, where, fields: fieldsOf(parameters) }
  if (query === undefined) return page
  const translated = translate(query, fields)
  where.push(...translated.where)
  const asTexts = (path: string): boolean => fields.texts.has(path) || fields.lists.has(path)
  return { ...page, ...(!translated.isExact && { check: (entity) => matches(query, entity, asTexts) }) }
}

export function fieldsOf({
  field,
  fields,
}: {
  readonly field?: unknown
  readonly fields?: unknown
}): readonly string[] {
  return [...new Set([...full(field), ...fieldsIn(fields)])]
}

function fieldsIn(value: unknown): readonly string[] {
  return full(full(value).flatMap((list) => list.split(',').map((name) => name.trim())))
}

function queryIn(text: string): Query | undefined {
  const parsed = parseQuery(text)
  return 'query' in parsed ? parsed.query : undefined
}

function full(values: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(values) ? values : []
  return list.filter((value): value is string => typeof value === 'string' && value !== '')
}
