/** Parses a query, reporting all problems at once with their paths. */
import { Issues } from '#kernel'
import type { Overrides } from '../contract.ts'
import { optionsOf } from '../render/render-modes.ts'
import { resolveTimeLine } from '../time-line/time-line.ts'
import { withOverrides } from './overrides.ts'
import type { QueryPlan } from './plan.ts'
import { QueryBody } from './query-schema.ts'
import { distinctSeries, readSeries } from './read-series.ts'

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
