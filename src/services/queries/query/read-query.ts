/** Parses a query, reporting all problems at once with their paths. */
import { type TSchema, Type } from 'typebox'
import { at, isPlainObject, Issues, type Json, sameJson } from '#kernel'
import type { Overrides } from '../contract.ts'
import type { Interpolation } from '../interpolation/fill.ts'
import { ORDERED } from '../interpolation/methods.ts'
import { optionsOf } from '../render/render-modes.ts'
import { resolveTimeLine } from '../time-line/time-line.ts'
import { aggregationOf } from './aggregations.ts'
import type { QueryPlan, SeriesPlan, SeriesSource } from './plan.ts'
import { type Query, QueryBody, QuerySchema, type SeriesOfQuery } from './query-schema.ts'

export interface UncheckedQuery {
  readonly query: unknown
  readonly overrides?: Overrides
  readonly now: number
}

const NO_AGGREGATION = 'freq without aggregation: mean is used'

/** Error when `UPLOAD` is used with several resources. */
export const ONE_RESOURCE = 'UPLOAD takes a single resource'

export function readQuery({ query: body, overrides = {}, now }: UncheckedQuery): QueryPlan {
  const query = QueryBody.read(withOverrides(body, overrides))
  const issues = new Issues('QUERY')
  const line = resolveTimeLine(query, now, issues)
  const render = optionsOf(query.render)
  if (render.upload && typeof query.render === 'object' && Object.keys(query.render).length > 1)
    issues.wrong('/render', 'UPLOAD cannot be combined with other options', 'omit the options')
  const isGrouped = line === undefined ? query.freq !== undefined : line.grid !== undefined
  const { series, isMean } = readSeries(query, isGrouped, issues)
  const distinct = distinctSeries(series, issues)
  const named = distinct.flatMap(({ source }) => (source.kind === 'listed' ? source.resources : []))
  if (render.upload && new Set(named).size > 1)
    issues.wrong('/render', ONE_RESOURCE, 'request one resource, or another mode')
  issues.throwIfAny('the query')
  if (line === undefined) throw new Error('a query without a problem has no time line')
  return { query, line, series: distinct, render, notes: isMean ? [NO_AGGREGATION] : [] }
}

const NUMBER = /^-?\d{1,17}(?:\.\d{1,17})?(?:e[+-]?\d{1,3})?$/i
/** Fields that may be given as a text; it stands for an object with this one field. */
const SHORT_FORMS: Readonly<Record<string, string>> = { interpolation: 'method', render: 'mode' }

/** Accepted schemas by parameter name. Series cannot be overridden. */
const FORMS: ReadonlyMap<string, readonly TSchema[]> = new Map(
  Object.entries(QuerySchema.properties).flatMap(([name, schema]) => {
    if (name === 'data' || name === 'seriesId') return []
    const forms = formsOf(schema)
    const plain = forms.filter((form) => !Type.IsObject(form))
    const inner = forms.flatMap((form) => (Type.IsObject(form) ? Object.entries(form.properties) : []))
    return [
      ...(plain.length > 0 ? [[name, plain] as const] : []),
      ...inner.map(([key, part]) => [`${name}.${key}`, formsOf(part)] as const),
    ]
  }),
)

/** Replaces fields of a query with URL parameters such as `window`, `interpolation.method` and `render.mode`. */
export const OVERRIDE_NAMES: readonly string[] = [...FORMS.keys()]

/** Merges the overrides. `data` is merged as well, so that validation rejects it. */
export function withOverrides(query: unknown, overrides: Overrides): unknown {
  if (!isPlainObject(query)) return query
  const changed: Record<string, unknown> = { ...query }
  for (const [name, override] of Object.entries(overrides)) {
    const forms = FORMS.get(name)
    if (override === undefined || (forms === undefined && name !== 'data')) continue
    const value = typeof override === 'string' && forms !== undefined ? valueOf(override, forms) : override
    const [key = '', inner] = name.split('.')
    changed[key] = inner === undefined ? value : { ...objectOf(key, changed[key]), [inner]: value }
  }
  return changed
}

function valueOf(override: string, forms: readonly TSchema[]): Json {
  const has = (isForm: (form: TSchema) => boolean): boolean => forms.some(isForm)
  if (has(Type.IsBoolean) && (override === 'true' || override === 'false')) return override === 'true'
  if ((has(Type.IsNumber) || has(Type.IsInteger)) && NUMBER.test(override)) return Number(override)
  const isList =
    has(Type.IsArray) && (override.includes(',') || !has((form) => Type.IsString(form) || Type.IsEnum(form)))
  return isList ? override.split(',') : override
}

function objectOf(key: string, value: unknown): object {
  if (isPlainObject(value)) return value
  const short = SHORT_FORMS[key]
  return typeof value === 'string' && short !== undefined ? { [short]: value } : {}
}

function formsOf(schema: TSchema): readonly TSchema[] {
  return Type.IsUnion(schema) ? schema.anyOf : [schema]
}

interface ReadSeries {
  readonly series: readonly SeriesPlan[]
  /** true when the mean was used by default */
  readonly isMean: boolean
}

/** Reads the series of a query, filling in defaults from the query. */
function readSeries(query: Query, isGrouped: boolean, issues: Issues): ReadSeries {
  let isMean = false
  const series = (query.data ?? [{}]).flatMap((entry: SeriesOfQuery, i): readonly SeriesPlan[] => {
    const path = query.data === undefined ? '' : `/data/${i}`
    const source = readSource(entry, query, path, issues)
    const { metric = query.metric, aggregation = query.aggregation, name } = entry
    if (metric === undefined) issues.wrong(at(path, 'metric'), 'is missing', 'name a metric')
    const isOfEntry = entry.interpolation !== undefined
    const settingPath = at(isOfEntry ? path : '', 'interpolation')
    const interpolation = readInterpolation(isOfEntry ? entry.interpolation : query.interpolation, settingPath, issues)
    if (source === undefined || metric === undefined) return []
    if (isGrouped && aggregation === undefined) isMean = true
    if (source.kind === 'selected' && source.groupBy.length > 0 && !isGrouped)
      issues.wrong(at(path, 'resources', 'groupBy'), 'requires freq', 'add freq and an aggregation')
    const names = isGrouped ? listOf(aggregation ?? 'mean') : [undefined]
    return names.map((each) => ({
      name,
      source,
      metric,
      aggregation: each === undefined ? undefined : aggregationOf(each),
      interpolation,
      path: path === '' ? '/metric' : path,
    }))
  })
  return { series, isMean }
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

/** Returns the resource or resources of a series; its own fields take precedence over the query's. */
function readSource(entry: SeriesOfQuery, query: Query, path: string, issues: Issues): SeriesSource | undefined {
  const isOfEntry = entry.resource !== undefined || entry.resources !== undefined
  const { resource, resources } = isOfEntry ? entry : query
  const settingPath = at(isOfEntry ? path : '', 'resources')
  if (resources === undefined) {
    if (resource !== undefined) return { kind: 'listed', resources: [resource] }
    return issues.wrong(at(path, 'resource'), 'is missing', 'name a resource')
  }
  if (resource !== undefined)
    return issues.wrong(settingPath, 'cannot be combined with resource', 'omit one of the two')
  if (isList(resources)) return { kind: 'listed', resources: [...new Set(resources)] }
  const { groupBy = [], ...selection } = resources
  if (Object.keys(selection).length === 0) return issues.wrong(settingPath, 'selects nothing', 'add type, tag or query')
  return { kind: 'selected', selection, groupBy: listOf(groupBy) }
}

function isList(resources: NonNullable<Query['resources']>): resources is readonly string[] {
  return Array.isArray(resources)
}

function readInterpolation(setting: Query['interpolation'], path: string, issues: Issues): Interpolation | undefined {
  if (setting === undefined) return undefined
  const { order, ...interpolation }: Interpolation = typeof setting === 'string' ? { method: setting } : setting
  const { method, value } = interpolation
  const isOrdered = ORDERED.has(method)
  if (isOrdered && order === undefined)
    issues.wrong(at(path, 'order'), `is missing, and ${method} needs it`, 'add a whole number from 1 to 5')
  if (method === 'fixed' && value === undefined)
    issues.wrong(at(path, 'value'), 'is missing, and fixed needs it', 'add a number')
  return { ...interpolation, ...(isOrdered && order !== undefined && { order }) }
}

/** Removes duplicates. Rejects two series that differ only in interpolation, unless each has a name. */
function distinctSeries(series: readonly SeriesPlan[], issues: Issues): readonly SeriesPlan[] {
  const known = new Map<string, SeriesPlan[]>()
  return series.filter((one) => {
    const { source, metric, aggregation } = one
    const key = JSON.stringify([source, metric, aggregation?.name ?? null])
    const alike = known.get(key)
    if (alike === undefined) {
      known.set(key, [one])
      return true
    }
    if (alike.some((other) => sameJson(other.interpolation ?? null, one.interpolation ?? null))) return false
    const all = [...alike, one]
    if (new Set(all.map(({ name }) => name ?? '')).size === all.length && all.every(({ name }) => name !== undefined)) {
      alike.push(one)
      return true
    }
    const text = 'has the resource, metric and aggregation of another series, and another interpolation'
    return issues.wrong(one.path, text, 'set the name of each') ?? false
  })
}
