/** A query made ready to be carried out: its time line, its series, its layout. */
import type { Aggregate } from '#services/shared'
import type { Interpolation } from '../interpolation/fill.ts'
import type { ResourceSelection } from '../contract.ts'
import type { Query } from './query-schema.ts'
import type { RenderOptions } from '../render/render-modes.ts'
import type { TimeLine } from '../time-line/time-line.ts'

export interface QueryPlan {
  /** as it is carried out: after overrides */
  readonly query: Query
  readonly line: TimeLine
  readonly series: readonly SeriesPlan[]
  readonly render: RenderOptions
  /** what the caller should know of the query itself */
  readonly notes: readonly string[]
}

/** One series of a query; with a selection as many as it finds. */
export interface SeriesPlan {
  readonly name: string | undefined
  readonly source: SeriesSource
  readonly metric: string
  /** undefined: samples as they are */
  readonly aggregation: Aggregate | undefined
  readonly interpolation: Interpolation | undefined
  /** JSON pointer of its specification */
  readonly path: string
}

export type SeriesSource =
  | { readonly kind: 'listed'; readonly resources: readonly string[] }
  | { readonly kind: 'selected'; readonly selection: ResourceSelection; readonly groupBy: readonly string[] }

/** One column of the result. */
export interface ColumnPlan extends Omit<SeriesPlan, 'source'> {
  /** a resource, or what a group of them has in common */
  readonly label: { readonly resource: string } | { readonly group: string }
  /** whose samples it is made of */
  readonly resources: readonly string[]
}

/** The text of what a column is about. */
export function ownerOf({ label }: Pick<ColumnPlan, 'label'>): string {
  return 'resource' in label ? label.resource : label.group
}
