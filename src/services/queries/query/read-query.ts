/** Reads a query: all of its problems at once, each with its place. */
import { isPlainObject, Issues, type JsonObject, shown } from '#kernel'
import type { Overrides } from '../contract.ts'
import { resolveTimeLine } from '../time-line/time-line.ts'
import { checkPlain } from './check-plain.ts'
import { checkSchema } from './check-schema.ts'
import { withOverrides } from './overrides.ts'
import type { QueryPlan } from './plan.ts'
import { QuerySchema } from './query-schema.ts'
import { distinctSeries, readSeries } from './read-series.ts'
import { modeOf, optionsOf, type RenderOptions } from '../render/render-modes.ts'

/** Names of options in a query. */
const OPTIONS: ReadonlyMap<string, keyof RenderOptions> = new Map<string, keyof RenderOptions>([
  ['roll_up', 'rollUp'],
  ['hierarchical', 'hierarchical'],
  ['value_key', 'valueKey'],
  ['show_levels', 'showLevels'],
  ['iso_timestamp', 'isoTimestamp'],
  ['row_key', 'rowKey'],
  ['column_key', 'columnKey'],
  ['header_array', 'headerArray'],
  ['data_axis', 'dataAxis'],
  ['key_separator', 'keySeparator'],
  ['key_seperator', 'keySeparator'],
  ['key_skip_empty', 'keySkipEmpty'],
  ['include_window_spec', 'includeWindowSpec'],
])

function readRender(render: unknown, issues: Issues): RenderOptions {
  const given = isPlainObject(render) ? render : {}
  const name = typeof render === 'string' ? render : given['mode']
  const mode = modeOf(typeof name === 'string' ? name : undefined)
  const explicit = Object.entries(given).flatMap(([key, value]) => {
    const option = OPTIONS.get(key)
    return option === undefined || value === null ? [] : [[option, value] as const]
  })
  if (mode === 'UPLOAD' && explicit.length > 0) {
    issues.wrong('/render', 'UPLOAD cannot be combined with other options', 'leave the options out')
  }
  return { ...optionsOf(mode), ...(Object.fromEntries(explicit) as Partial<RenderOptions>) }
}

export interface UncheckedQuery {
  readonly query: unknown
  readonly overrides?: Overrides
  /** epoch ms */
  readonly now: number
}

/** What is said when a frequency comes without an aggregation. */
const NO_AGGREGATION = 'freq is given and aggregation is not: mean is used'

/** What `UPLOAD` says of several. */
export const ONE_RESOURCE = 'UPLOAD takes a single resource'

/** Throws `VALIDATION` with every problem. */
export function readQuery(asked: UncheckedQuery): QueryPlan {
  const issues = new Issues('QUERY')
  const plan = tryQuery(asked, issues)
  issues.throwIfAny('the query')
  if (plan === undefined) throw new Error('a query without a problem could not be read')
  return plan
}

/** Undefined when something is wrong; then the issues know what. */
export function tryQuery({ query: body, overrides = {}, now }: UncheckedQuery, issues: Issues): QueryPlan | undefined {
  if (!isPlainObject(body)) {
    return issues.wrong('', `${shown(body)} is no query`, 'send an object such as {"resource": .., "metric": ..}')
  }
  checkPlain(body, '', issues)
  if (issues.count > 0) return undefined
  const query = withOverrides(body as JsonObject, overrides, issues)
  checkSchema(QuerySchema, query, issues)
  if (issues.count > 0) return undefined
  const line = resolveTimeLine(query, now, issues)
  const render = readRender(query['render'], issues)
  const isGrouped = line === undefined ? query['freq'] !== undefined : line.grid !== undefined
  const { series, isMean } = readSeries(query, isGrouped, issues)
  const distinct = distinctSeries(series, issues)
  if (render.upload) {
    const named = distinct.flatMap(({ source }) => (source.kind === 'listed' ? source.resources : []))
    if (new Set(named).size > 1) issues.wrong('/render', ONE_RESOURCE, 'ask for one resource, or for another mode')
  }
  if (issues.count > 0 || line === undefined) return undefined
  return { query, line, series: distinct, render, notes: isMean ? [NO_AGGREGATION] : [] }
}
