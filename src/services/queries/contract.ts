/**
 * Time series queries as others see them: a time line, series with their aggregation and interpolation, and a layout, ad
 * hoc or stored by name. The same over HTTP and over fetch (`client.ts`). Whatever comes from outside is read by the
 * service itself: a body may be any JSON.
 *
 * QUERY-1 of one request all times are relative to one `now`, and the time line that was used is told
 * QUERY-2 a sample labelled t aggregates [t, t + freq) of what is stored, also where that lies outside of what was asked
 * QUERY-3 the answer of a large result is made in parts: memory does not grow with it, and no part holds the loop
 * QUERY-4 no method reaches samples or queries of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `CONFLICT` (the name is taken), `PRECONDITION`,
 * `TOO_LARGE`, `RATE_LIMITED` (too many wait), `DATA` (series cannot be read: 502 over HTTP), `CLOSED`.
 */
import type { Caller, ExpectedVersion, Issue, Json, JsonObject } from '#kernel'
import type { SearchParameters, StoredQuery } from './stored/stored-schema.ts'

/** The service as callers reach it. */
export interface QueriesService {
  as(caller: Caller): QueriesApi
}

/** The service inside the host: what its neighbours and the host call. */
export interface InternalQueries extends QueriesService {
  /** What an execution of this query would refuse, from the query alone. At once. */
  check(query: unknown): readonly Issue[]
  gauges(): QueriesGauges
}

/** Figures for /metrics; totals count since the start. */
export interface QueriesGauges {
  /** queries that are carried out at the moment */
  readonly running: number
  readonly executed: number
}

export interface QueriesApi {
  /** The whole result; that of a large one is better opened. */
  execute(source: QuerySource, options?: ExecuteOptions): Promise<QueryResult>
  /** The result as text or bytes in parts, which are made as they are taken. Rejects with what the query is refused for. */
  open(source: QuerySource, options?: OpenOptions): Promise<OpenedResult>
  readonly stored: StoredQueryApi
}

/** A query as in the body of `POST /data/query`, or the name of a stored one. */
export type QuerySource = { readonly query: unknown } | { readonly stored: string }

export type ResultFormat = 'json' | 'csv' | 'ndjson' | 'arrow'

export interface OpenOptions extends ExecuteOptions {
  /** default: CSV where the query's render mode says so, else JSON. All others pass over the render options */
  readonly format?: ResultFormat
  /** of CSV: texts that begin as formulas (`=`, `+`, `-`, `@`) stand behind an apostrophe. Default: texts as they are */
  readonly csv?: 'safe'
}

export interface OpenedResult {
  /** content type */
  readonly type: string
  readonly parts: AsyncIterable<string | Uint8Array>
  /** what the caller should know, where the parts have no place for it: all forms but JSON. Over HTTP as many as a header holds */
  readonly messages: readonly QueryMessage[]
}

/** Parameters of a URL by name, such as `interpolation.method`; one that repeats is a list. */
export type Overrides = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface ExecuteOptions {
  /** they take the place of members of the query; those that name none are passed over */
  readonly overrides?: Overrides
  /** whose series a query is about, where it names no resource at its top */
  readonly resource?: string
  /** stops what is under way when it aborts */
  readonly signal?: AbortSignal
  /** with `explain` in the result */
  readonly explain?: boolean
  /** epoch ms that durations are relative to, and after which no sample is seen; default: now, and no such bound */
  readonly now?: number
  /** what messages name as their action, such as `GET /data/query/name` */
  readonly action?: string
}

/** The result in the layout that was asked for, as plain JSON. */
export interface QueryResult {
  readonly messages: readonly QueryMessage[]
  /** as it was executed: after overrides */
  readonly query: JsonObject
  readonly data: readonly DataSet[]
  readonly explain?: Explanation
}

/** One set of columns or rows, or an array of objects, by the render mode. */
export type DataSet = RowSet | readonly JsonObject[]

export interface RowSet {
  /** with `header_array=row`: the index columns, then one entry for each series */
  readonly columns?: readonly ColumnHead[]
  /** with `header_array=column`: the names of what stands before the values of each row, then the times */
  readonly rows?: readonly Json[]
  /** of the columns, or of the rows with `header_array=column`: a series has its `name`, or `resource/metric/aggregation` as in CSV */
  readonly column_names: readonly string[]
  readonly data: readonly (readonly Json[])[]
  readonly data_axis: 'column' | 'row'
  readonly attributes: JsonObject
  readonly window_spec?: WindowSpec
}

export type ColumnHead = string | JsonObject

/** The time line that was used. */
export interface WindowSpec {
  /** epoch ms, included */
  readonly from: number
  /** epoch ms, excluded */
  readonly until: number
  /** ISO 8601, one unit */
  readonly window: string
  /** ISO 8601; absent when samples are not grouped */
  readonly freq?: string
}

export interface QueryMessage {
  readonly message: string
  readonly level: 'debug' | 'info' | 'warning' | 'error'
  /** ISO 8601 */
  readonly timestamp: string
  readonly action: string
  /** `data` of series, `query` of the query */
  readonly category: string
  readonly properties?: JsonObject
}

/** Where the time went, and what was read. */
export interface Explanation {
  readonly window_spec: WindowSpec
  /** samples that the result is made of */
  readonly pointsRead: number
  /** buckets of all series together; 0 without `freq` */
  readonly buckets: number
  readonly emptyBuckets: number
  /** ms */
  readonly time: { readonly plan: number; readonly read: number; readonly interpolate: number; readonly render: number }
  readonly series: readonly JsonObject[]
}

/** A write that counts only on the version that the writer saw; the ETag over HTTP. */
export interface StoredWriteOptions {
  readonly ifVersion?: ExpectedVersion
}

export interface StoredQueryApi {
  /** The body is `{ name, query, meta? }`; the name may come with the path. `CONFLICT` when it is taken. */
  create(body: unknown, name?: string): Promise<VersionedQuery>
  /** Also makes it when it is not there. A name in the body must be that one. */
  replace(name: string, body: unknown, options?: StoredWriteOptions): Promise<VersionedQuery>
  get(name: string): Promise<VersionedQuery>
  remove(name: string, options?: StoredWriteOptions): Promise<void>
  /** One page of those that the filter `q` finds, by name. */
  search(query: SearchParameters): Promise<StoredQueryPage>
}

export interface VersionedQuery {
  readonly value: StoredQuery
  /** counts the writes of this name */
  readonly version: number
}

export interface StoredQueryPage {
  readonly queries: readonly Omit<StoredQuery, 'query'>[]
  readonly offset: number
  readonly limit: number
  /** how many the filter finds in all */
  readonly total: number
}

/** Which resources a query is about, when it does not name them. */
export interface ResourceSelection {
  readonly type?: string
  readonly tag?: string
  /** in the query language of the listing of resources */
  readonly query?: string
}

/** What the queries ask of the resources. */
export interface ResourceSelector {
  /** By id, at most `limit`; with inherited values. */
  select(selection: ResourceSelection, limit: number): Promise<readonly SelectedResource[]>
}

export type SelectedResource = JsonObject & { readonly id: string }
