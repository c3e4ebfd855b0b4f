/**
 * Contract of time series queries: a time line, series with aggregation and interpolation, and a layout, ad hoc or
 * stored by name; in process and over fetch (`client.ts`). The service validates external input itself: a body may be
 * any JSON.
 *
 * QUERY-1 all times in a request are relative to the same `now`, and the resolved time line is returned
 * QUERY-2 a sample labelled t aggregates [t, t + freq) of all stored samples, even outside the requested range
 * QUERY-3 a large result is sent in parts: memory use is independent of its size, and no part blocks the event loop
 * QUERY-4 no method grants access to samples or queries of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `CONFLICT` (the name is taken),
 * `PRECONDITION`, `TOO_LARGE`, `RATE_LIMITED` (too many queries are waiting), `DATA` (series cannot be read: 502 over
 * HTTP), `CLOSED`.
 */
import type { Caller, ExpectedVersion, Issue, Json, JsonObject } from '#kernel'
import type { SearchParameters, StoredQuery } from './stored/stored-schema.ts'

export interface QueriesService {
  as(caller: Caller): QueriesApi
}

/** The query service for use inside the host. */
export interface InternalQueries extends QueriesService {
  /** Returns the problems of executing a query that are visible in the query itself. Synchronous. */
  check(query: unknown): readonly Issue[]
  gauges(): QueriesGauges
}

/** Metrics of the service; totals count since the start of the host. */
export interface QueriesGauges {
  readonly running: number
  readonly executed: number
}

export interface QueriesApi {
  /** Returns the whole result; use `open` for large ones. */
  execute(source: QuerySource, options?: ExecuteOptions): Promise<QueryResult>
  /** Streams the result as text or bytes, produced on demand. Rejects with the problems of the query. */
  open(source: QuerySource, options?: OpenOptions): Promise<OpenedResult>
  readonly stored: StoredQueryApi
}

/** A query as in the body of `POST /data/query`, or the name of a stored query. */
export type QuerySource = { readonly query: unknown } | { readonly stored: string }

export type ResultFormat = 'json' | 'csv' | 'ndjson' | 'arrow'

export interface OpenOptions extends ExecuteOptions {
  /** default: CSV if the query's render mode asks for it, otherwise JSON. Other formats ignore the render options */
  readonly format?: ResultFormat
  /**
   * For CSV: prefixes texts that begin like formulas (`=`, `+`, `-`, `@`) with an apostrophe. Default: texts are
   * unchanged.
   */
  readonly csv?: 'safe'
}

export interface OpenedResult {
  readonly type: string
  readonly parts: AsyncIterable<string | Uint8Array>
  /**
   * notes for the caller in all formats except JSON, which contains them. Over HTTP, limited to what fits into a header
   */
  readonly messages: readonly QueryMessage[]
}

/** URL parameters by name, such as `interpolation.method`; repeated parameters are lists. */
export type Overrides = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface ExecuteOptions {
  /** values that replace fields of the query; unknown names are ignored */
  readonly overrides?: Overrides
  /** resource of the series, unless the query names one at its top level */
  readonly resource?: string
  readonly signal?: AbortSignal
  /** adds `explain` to the result */
  readonly explain?: boolean
  /**
   * reference time of durations, epoch ms; later samples are excluded. Default: the current time, without excluding
   * samples
   */
  readonly now?: number
  /** name of the action in messages, such as `GET /data/query/name` */
  readonly action?: string
}

/** The result in the requested layout, as plain JSON. */
export interface QueryResult {
  readonly messages: readonly QueryMessage[]
  /** the query as executed, after overrides */
  readonly query: JsonObject
  readonly data: readonly DataSet[]
  readonly explain?: Explanation
}

/** Columns, rows, or an array of objects, depending on the render mode. */
export type DataSet = RowSet | readonly JsonObject[]

export interface RowSet {
  /** with `header_array=row`: the index columns, followed by one entry per series */
  readonly columns?: readonly ColumnHead[]
  /** with `header_array=column`: names of the leading cells of each row, followed by the times */
  readonly rows?: readonly Json[]
  /**
   * Names of the columns or, with `header_array=column`, of the rows. A series is called by its `name`, or
   * `resource/metric/aggregation` as in CSV.
   */
  readonly column_names: readonly string[]
  readonly data: readonly (readonly Json[])[]
  readonly data_axis: 'column' | 'row'
  readonly attributes: JsonObject
  readonly window_spec?: WindowSpec
}

export type ColumnHead = string | JsonObject

/** The resolved time line. */
export interface WindowSpec {
  /** epoch ms, inclusive */
  readonly from: number
  /** epoch ms, exclusive */
  readonly until: number
  /** ISO 8601 duration in a single unit */
  readonly window: string
  /** ISO 8601 duration of a bucket; absent without grouping */
  readonly freq?: string
}

export interface QueryMessage {
  readonly message: string
  readonly level: 'debug' | 'info' | 'warning' | 'error'
  readonly timestamp: string
  readonly action: string
  /** `data` for series, `query` for the query */
  readonly category: string
  readonly properties?: JsonObject
}

/** Reports timing, and how much was read. */
export interface Explanation {
  readonly window_spec: WindowSpec
  /** number of samples used */
  readonly pointsRead: number
  /** number of buckets of all series; 0 without `freq` */
  readonly buckets: number
  readonly emptyBuckets: number
  readonly time: { readonly plan: number; readonly read: number; readonly interpolate: number; readonly render: number }
  readonly series: readonly JsonObject[]
}

/** Expected version of a stored query; over HTTP, the ETag. */
export interface StoredWriteOptions {
  readonly ifVersion?: ExpectedVersion
}

export interface StoredQueryApi {
  /**
   * Creates a stored query from `{ name, query, meta? }`; the name may be given in the path instead. Throws `CONFLICT`
   * when the name is taken.
   */
  create(body: unknown, name?: string): Promise<VersionedQuery>
  replace(name: string, body: unknown, options?: StoredWriteOptions): Promise<VersionedQuery>
  get(name: string): Promise<VersionedQuery>
  remove(name: string, options?: StoredWriteOptions): Promise<void>
  /** Returns one page of the stored queries that match the filter `q`, sorted by name. */
  search(query: SearchParameters): Promise<StoredQueryPage>
}

export interface VersionedQuery {
  readonly value: StoredQuery
  /** how often the name has been written */
  readonly version: number
}

export interface StoredQueryPage {
  readonly queries: readonly Omit<StoredQuery, 'query'>[]
  readonly offset: number
  readonly limit: number
  /** total number of stored queries that match */
  readonly total: number
}

export interface ResourceSelection {
  readonly type?: string
  readonly tag?: string
  /** filter, in the query language for listing resources */
  readonly query?: string
}

export interface ResourceSelector {
  /** Returns at most `limit` resources, sorted by id, with inherited values. */
  select(selection: ResourceSelection, limit: number): Promise<readonly SelectedResource[]>
}

export type SelectedResource = JsonObject & { readonly id: string }
