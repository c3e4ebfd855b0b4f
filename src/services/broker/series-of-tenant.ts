/** The seam between the broker's core and its time series. */
import type { Store } from '#storage'
import type { MessageApi, SeriesApi } from './contract.ts'

/** What the time series side of the broker gives for one tenant. */
export interface TenantSeries {
  readonly series: SeriesApi
  readonly queryMessages: MessageApi['query']
}

export interface SeriesDependencies {
  readonly store: Store
  /** epoch ms */
  readonly now: () => number
}

export type MakeSeries = (dependencies: SeriesDependencies) => TenantSeries
