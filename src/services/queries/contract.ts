/**
 * Contract of time series queries: a time line, series with aggregation and interpolation, and a layout, ad hoc or
 * stored by name; in process and over fetch (`client.ts`). The service validates external input itself: a body may be
 * any JSON.
 *
 * QUERY-1 of one request all times are relative to one `now`, and the resolved time line is returned
 * QUERY-2 a sample labelled t aggregates [t, t + freq) of what is stored, also where that lies outside of what was
 *   asked
 * QUERY-3 the answer of a large result is made in parts: memory does not grow with it, and no part holds the loop
 * QUERY-4 no method reaches samples or queries of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `CONFLICT` (the name is taken),
 * `PRECONDITION`, `TOO_LARGE`, `RATE_LIMITED` (too many wait), `DATA` (series cannot be read: 502 over HTTP), `CLOSED`.
 */
import type { Caller, ExpectedVersion, Issue, Json, JsonObject } from '#kernel'
import type { SearchParameters, StoredQuery } from './stored/stored-schema.ts'

export interface QueriesService {
  as(caller: Caller): QueriesApi
}

/** Service inside the host, for neighbours and the host. */
export interface InternalQueries extends QueriesService {
  /** Problems of executing this query, as far as the query alone shows them. Synchronous. */
  check(query: unknown): readonly Issue[]
  gauges(): QueriesGauges
}

/** Figures for /metrics; totals count since the start. */
export interface QueriesGauges {
  readonly running: number
  readonly executed: number
}

export interface QueriesApi {
  /** Returns the whole result; use `open` for large ones. */
  execute(source: QuerySource, options?: ExecuteOptions): Promise<QueryResult>
  /** Streams the result as text or bytes, made on demand. Rejects with the problems of the query. */
  open(source: QuerySource, options?: OpenOptions): Promise<OpenedResult>
  readonly stored: StoredQueryApi
}

/** Query as in the body of `POST /data/query`, or the name of a stored one. */
export type QuerySource = { readonly query: unknown } | { readonly stored: string }

export type ResultFormat = 'json' | 'csv' | 'ndjson' | 'arrow'

export interface OpenOptions extends ExecuteOptions {
  /** Default: CSV where the query's render mode says so, else JSON. Other formats ignore the render options */
  readonly format?: ResultFormat
  /**
   * For CSV: prefixes texts that begin as formulas (`=`, `+`, `-`, `@`) with an apostrophe. Default: texts unchanged
   */
  readonly csv?: 'safe'
}

export interface OpenedResult {
  readonly type: string
  readonly parts: AsyncIterable<string | Uint8Array>
  /** Notes for the caller in all formats but JSON, which contains them. Over HTTP as many as a header holds */
  readonly messages: readonly QueryMessage[]
}

/** URL parameters by name, such as `interpolation.method`; repeated ones are lists. */
export type Overrides = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface ExecuteOptions {
  /** Replacements for fields of the query; unknown names are ignored */
  readonly overrides?: Overrides
  /** Resource of series, where the query does not name one at its top */
  readonly resource?: string
  readonly signal?: AbortSignal
  /** Adds `explain` to the result */
  readonly explain?: boolean
  /** Base of durations in epoch ms, after which samples are excluded; default: now, without that bound */
  readonly now?: number
  /** Action named in messages, such as `GET /data/query/name` */
  readonly action?: string
}

/** Result in the requested layout, as plain JSON. */
export interface QueryResult {
  readonly messages: readonly QueryMessage[]
  /** Executed query: after overrides */
  readonly query: JsonObject
  readonly data: readonly DataSet[]
  readonly explain?: Explanation
}

/** Columns or rows, or an array of objects, by the render mode. */
export type DataSet = RowSet | readonly JsonObject[]

export interface RowSet {
  /** With `header_array=row`: the index columns, then one entry per series */
  readonly columns?: readonly ColumnHead[]
  /** With `header_array=column`: names of the leading cells of each row, then the times */
  readonly rows?: readonly Json[]
  /**
   * Names of the columns, or of the rows with `header_array=column`: a series has its `name`, or
   * `resource/metric/aggregation` as in CSV
   */
  readonly column_names: readonly string[]
  readonly data: readonly (readonly Json[])[]
  readonly data_axis: 'column' | 'row'
  readonly attributes: JsonObject
  readonly window_spec?: WindowSpec
}

export type ColumnHead = string | JsonObject

/** Resolved time line. */
export interface WindowSpec {
  /** Epoch ms, inclusive */
  readonly from: number
  /** Epoch ms, exclusive */
  readonly until: number
  /** ISO 8601, one unit */
  readonly window: string
  /** ISO 8601; absent without grouping */
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

/** Timing and read volume. */
export interface Explanation {
  readonly window_spec: WindowSpec
  /** Number of samples used */
  readonly pointsRead: number
  /** Buckets of all series; 0 without `freq` */
  readonly buckets: number
  readonly emptyBuckets: number
  readonly time: { readonly plan: number; readonly read: number; readonly interpolate: number; readonly render: number }
  readonly series: readonly JsonObject[]
}

/** Expected version of a write; the ETag over HTTP. */
export interface StoredWriteOptions {
  readonly ifVersion?: ExpectedVersion
}

export interface StoredQueryApi {
  /** The body is `{ name, query, meta? }`; the name may be in the path instead. Throws `CONFLICT` when it is taken. */
  create(body: unknown, name?: string): Promise<VersionedQuery>
  replace(name: string, body: unknown, options?: StoredWriteOptions): Promise<VersionedQuery>
  get(name: string): Promise<VersionedQuery>
  remove(name: string, options?: StoredWriteOptions): Promise<void>
  /** One page of the results of the filter `q`, sorted by name. */
  search(query: SearchParameters): Promise<StoredQueryPage>
}

export interface VersionedQuery {
  readonly value: StoredQuery
  /** Number of writes of this name */
  readonly version: number
}

export interface StoredQueryPage {
  readonly queries: readonly Omit<StoredQuery, 'query'>[]
  readonly offset: number
  readonly limit: number
  /** Total number of results of the filter */
  readonly total: number
}

export interface ResourceSelection {
  readonly type?: string
  readonly tag?: string
  /** Filter in the query language of the listing of resources */
  readonly query?: string
}

export interface ResourceSelector {
  /** Sorted by id, at most `limit`; with inherited values. */
  select(selection: ResourceSelection, limit: number): Promise<readonly SelectedResource[]>
}

export type SelectedResource = JsonObject & { readonly id: string }
