/** Defines the plan of a query: time line, series and layout. */
import type { Aggregate } from '#services/shared'
import type { Interpolation } from '../interpolation/fill.ts'
import type { ResourceSelection } from '../contract.ts'
import type { Query } from './query-schema.ts'
import type { RenderOptions } from '../render/render-modes.ts'
import type { TimeLine } from '../time-line/time-line.ts'

export interface QueryPlan {
  /** the query as executed, after overrides */
  readonly query: Query
  readonly line: TimeLine
  readonly series: readonly SeriesPlan[]
  readonly render: RenderOptions
  readonly notes: readonly string[]
}

/** One series of a query; a selection of resources becomes several series. */
export interface SeriesPlan {
  readonly name: string | undefined
  readonly source: SeriesSource
  readonly metric: string
  /** undefined for raw samples */
  readonly aggregation: Aggregate | undefined
  readonly interpolation: Interpolation | undefined
  readonly path: string
}

export type SeriesSource =
  | { readonly kind: 'listed'; readonly resources: readonly string[] }
  | { readonly kind: 'selected'; readonly selection: ResourceSelection; readonly groupBy: readonly string[] }

export interface ColumnPlan extends Omit<SeriesPlan, 'source'> {
  readonly label: { readonly resource: string } | { readonly group: string }
  readonly resources: readonly string[]
}

export function ownerOf({ label }: Pick<ColumnPlan, 'label'>): string {
  return 'resource' in label ? label.resource : label.group
}
