/** Reads the series of a query, filling in defaults from the query. */
import { at, type Issues, sameJson } from '#kernel'
import type { Interpolation } from '../interpolation/fill.ts'
import { ORDERED } from '../interpolation/methods.ts'
import { aggregationOf } from './aggregations.ts'
import type { SeriesPlan, SeriesSource } from './plan.ts'
import type { Query, SeriesOfQuery } from './query-schema.ts'

interface ReadSeries {
  readonly series: readonly SeriesPlan[]
  /** true when the mean was used by default */
  readonly isMean: boolean
}

export function readSeries(query: Query, isGrouped: boolean, issues: Issues): ReadSeries {
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
    return issues.wrong(one.path, text, 'set the name of each') ?? false
  })
}
