/** The series of a query: what each says, and what the query says for those that do not. */
import { at, isPlainObject, type Issues, type JsonObject, sameJson } from '#kernel'
import { readName } from '#services/shared'
import type { Interpolation } from '../interpolation/fill.ts'
import { ORDERED, type MethodName } from '../interpolation/methods.ts'
import { aggregationOf } from './aggregations.ts'
import type { SeriesPlan, SeriesSource } from './plan.ts'

export interface SeriesOfQuery {
  readonly series: readonly SeriesPlan[]
  /** an aggregation was wanted and not given */
  readonly isMean: boolean
}

/** The schema has seen to the types. */
export function readSeries(query: JsonObject, isGrouped: boolean, issues: Issues): SeriesOfQuery {
  const { data } = query
  const specifications: readonly (readonly [JsonObject, string])[] = Array.isArray(data)
    ? data.map((one, i) => [isPlainObject(one) ? (one as JsonObject) : {}, `/data/${i}`])
    : [[{}, '']]
  let isMean = false
  const series = specifications.flatMap(([own, path]): readonly SeriesPlan[] => {
    const member = (name: string) => {
      const isOwn = own[name] !== undefined && own[name] !== null
      return { value: isOwn ? own[name] : (query[name] ?? undefined), path: at(isOwn ? path : '', name) }
    }
    const source = readSource(own, query, path, issues)
    const metric = member('metric')
    const metricName = readName(
      metric.value,
      metric.value === undefined ? at(path, 'metric') : metric.path,
      'metric',
      issues,
    )
    const aggregation = member('aggregation').value
    const interpolation = member('interpolation')
    const filling = readInterpolation(interpolation.value, interpolation.path, issues)
    if (source === undefined || metricName === undefined) return []
    if (isGrouped && aggregation === undefined) isMean = true
    const names = isGrouped ? listOf(aggregation ?? 'mean') : [undefined]
    if (source.kind === 'selected' && source.groupBy.length > 0 && !isGrouped) {
      issues.wrong(at(path, 'resources', 'groupBy'), 'stands without freq', 'give freq and an aggregation')
    }
    const name = typeof own['name'] === 'string' ? own['name'] : undefined
    return names.map((each) => ({
      name,
      source,
      metric: metricName,
      aggregation: each === undefined ? undefined : aggregationOf(each),
      interpolation: filling,
      path: path === '' ? '/metric' : path,
    }))
  })
  return { series, isMean }
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)]
}

/** A series names a resource, or resources; what it says itself counts before what the query says. */
function readSource(own: JsonObject, query: JsonObject, path: string, issues: Issues): SeriesSource | undefined {
  const isThere = (value: unknown): boolean => value !== undefined && value !== null
  const holder = isThere(own['resource']) || isThere(own['resources']) ? own : query
  const place = holder === own ? path : ''
  const { resource, resources } = holder
  if (isThere(resource) && isThere(resources)) {
    return issues.wrong(at(place, 'resources'), 'stands beside resource', 'leave out one of the two')
  }
  if (!isThere(resources)) {
    const where = isThere(resource) ? at(place, 'resource') : at(path, 'resource')
    const name = readName(resource, where, 'resource', issues)
    return name === undefined ? undefined : { kind: 'listed', resources: [name] }
  }
  if (Array.isArray(resources)) {
    const names = resources.map((one: unknown, i) => readName(one, at(place, 'resources', i), 'resource', issues))
    return names.every((name) => name !== undefined) ? { kind: 'listed', resources: [...new Set(names)] } : undefined
  }
  return readSelection(resources as JsonObject, at(place, 'resources'), issues)
}

function readSelection(resources: JsonObject, path: string, issues: Issues): SeriesSource | undefined {
  const { groupBy, ...selection } = resources
  if (Object.keys(selection).length === 0) {
    return issues.wrong(path, 'selects nothing', 'give type, tag or query')
  }
  const keys = groupBy === undefined || groupBy === null ? [] : listOf(groupBy)
  return { kind: 'selected', selection, groupBy: keys }
}

function readInterpolation(value: unknown, path: string, issues: Issues): Interpolation | undefined {
  if (value === undefined) return undefined
  const given: Partial<Record<string, unknown>> = isPlainObject(value) ? value : { method: value }
  const method = given['method'] as MethodName
  const { value: fixed, order, limit } = given as { value?: number; order?: number; limit?: number }
  if (ORDERED.has(method) && order === undefined) {
    issues.wrong(at(path, 'order'), `is missing, and ${method} needs it`, 'give a whole number from 1 to 5')
  }
  if (method === 'fixed' && fixed === undefined) {
    issues.wrong(at(path, 'value'), 'is missing, and fixed needs it', 'give a number')
  }
  return {
    method,
    ...(fixed !== undefined && { value: fixed }),
    ...(order !== undefined && ORDERED.has(method) && { order }),
    ...(limit !== undefined && { limit }),
  }
}

/**
 * Without those that come again. Two that differ in interpolation alone are refused, unless each has a name of its own.
 */
export function distinctSeries(series: readonly SeriesPlan[], issues: Issues): readonly SeriesPlan[] {
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
    return issues.wrong(one.path, text, 'give each of them a name') ?? false
  })
}
