/** The parameters of listings: what they may be, and what is asked of the store by them. */
import { type TSchema, Type } from 'typebox'
import { parameterReader } from '#services/shared'
import { type Problem, refined } from '#services/shared/contract'
import type { Condition } from '#storage'
import type { ListQuery, ResourceEntity } from '../contract.ts'
import { TEXT_FIELDS } from '../resource-record.ts'
import { DISTANCE_UNITS, type Circle, metresOf } from './circle.ts'
import { isPath } from './project.ts'
import { translate, type KnownFields } from './query-conditions.ts'
import { parseQuery, type Query } from './query-language.ts'
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

const MAX_LISTED = 1_000
const LONGEST_FILTER = 256
const MAX_IDS = 1_000
const MAX_TAGS = 50
const MAX_FIELDS = 100

/** A parameter that may be there several times. */
function names(maxItems = MAX_IDS) {
  return Type.Optional(Type.Array(Type.String(), { maxItems }))
}

/** A text with a rule; an empty one is none. */
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
    ruled(Type.String({ maxLength: LONGEST_FILTER, description: 'text somewhere in id, name, tags ...' }), (text) =>
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
        return { message: parsed.problem, suggestion: 'write for example name:like(pump*) AND tags:in(a,b)' }
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
      ruled(Type.String(), () => ({ message: 'is not read', suggestion: 'use query, such as query=name:like(pump*)' })),
    ),
  },
  (query) => {
    const given = query as Readonly<Record<string, unknown>>
    const missing = PLACE.filter((name) => given[name] === undefined || given[name] === '')
    if (missing.length === PLACE.length) return []
    const suggestion = 'a search by place needs lat, lon and distance'
    return missing.map((name) => ({ at: `/${name}`, message: 'is missing', suggestion }))
  },
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

/** `most`: of a page, unless it is asked for more. Throws `VALIDATION`, as all of these. */
export function pagingOf(query: ListQuery, most = 100): Paging {
  const { skip = 0, limit = most } = readPage(query)
  return { skip, limit }
}

export function readListing(query: ListQuery): Listing {
  const { skip = 0, limit = 100, lat, lon, ...asked } = readResources(query)
  const { filter, tag, id, sort = '', order, denormalized = true } = asked
  const { check, where } = searched({ filter, query: asked.query }, RESOURCE_FIELDS)
  const metres = metresOf(asked.distance ?? '')
  const path = sort === '' ? 'id' : sort
  return {
    skip,
    limit,
    // what costs least to ask comes first
    where: [
      ...oneOf('id', id),
      ...(['provider', 'customer', 'resourceTypeId'] as const).flatMap((name) => oneOf(name, asked[name])),
      ...full(tag).map((value): Condition => ({ field: 'tags', op: 'eq', value })),
      ...where,
      ...(asked.toplevelOnly === true ? [{ field: 'parentId', op: 'exists', value: false } as const] : []),
    ],
    checks: check === undefined ? [] : [check],
    ...(lat !== undefined && lon !== undefined && metres !== undefined && { circle: { center: { lat, lon }, metres } }),
    sort: {
      path,
      isField: RESOURCE_FIELDS.texts.has(path) || RESOURCE_FIELDS.numbers.has(path),
      descending: order === 'descending',
    },
    fields: fieldsOf(asked),
    denormalized,
  }
}

/** What is asked for of types and of constraints. */
export interface Search extends Paging {
  readonly where: readonly Condition[]
  readonly check?: (entity: object) => boolean
  readonly fields: readonly string[]
}

export function readTypeListing(query: ListQuery): Search {
  const { skip = 0, limit = 100, id, template, ...asked } = readTypes(query)
  const { where, check } = searched(asked, TYPE_FIELDS)
  const templates = full(template).map((value): Condition => ({ field: 'templates', op: 'eq', value }))
  return {
    skip,
    limit,
    where: [...oneOf('id', id), ...templates, ...where],
    ...(check && { check }),
    fields: fieldsOf(asked),
  }
}

export function readConstraintListing(query: ListQuery): Search {
  const { skip = 0, limit = 100, ...asked } = readConstraints(query)
  return { skip, limit, ...searched(asked, CONSTRAINT_FIELDS), fields: [] }
}

type Names = readonly string[] | undefined

/** The paths of `field` and `fields`, each once. */
export function fieldsOf({ field, fields }: { readonly field?: Names; readonly fields?: Names }): readonly string[] {
  return [...new Set([...full(field), ...fieldsIn(fields)])]
}

function fieldsIn(value: unknown): readonly string[] {
  const lists: readonly unknown[] = Array.isArray(value) ? value : []
  const all = lists.flatMap((list) => (typeof list === 'string' ? list.split(',') : []))
  return all.map((name) => name.trim()).filter((name) => name !== '')
}

function queryIn(text: string): Query | undefined {
  const parsed = parseQuery(text)
  return 'query' in parsed ? parsed.query : undefined
}

/** Conditions for the store, and a check for the rest. */
function searched(
  { filter = '', query }: { readonly filter?: string | undefined; readonly query?: Query | undefined },
  fields: KnownFields,
): Pick<Search, 'where' | 'check'> {
  const words: readonly Condition[] = filter === '' ? [] : [{ field: 'words', op: 'contains', value: filter }]
  if (query === undefined) return { where: words }
  const { where, isExact } = translate(query, fields)
  const asTexts = (path: string): boolean => fields.texts.has(path) || fields.lists.has(path)
  return { where: [...words, ...where], ...(!isExact && { check: (entity) => matches(query, entity, asTexts) }) }
}

function full(values: readonly string[] = []): readonly string[] {
  return values.filter((value) => value !== '')
}

function oneOf(field: string, given: Names): readonly Condition[] {
  const values = full(given)
  const [value] = values
  if (value === undefined) return []
  // an index may answer several that are equal together
  return [values.length === 1 ? { field, op: 'eq', value } : { field, op: 'in', values }]
}
