/**
 * Samples and messages by resource and time, as a projection of a log: `append` may record the log position that it
 * applies, and after a crash the owner appends again from `applied`. Appends are idempotent.
 *
 * Grouping rules, percentiles, time zones and defaults of ranges belong to the services.
 */
import type { Json } from '#kernel'

/** Value of a sample. A later write for the same resource, metric and time replaces it. */
export type SampleValue = number | string | boolean

export interface Sample {
  readonly resource: string
  readonly metric: string
  /** epoch ms, an integer */
  readonly time: number
  readonly value: SampleValue
  /** epoch ms after which the sample is absent */
  readonly expires?: number
}

/** A whole message, stored in addition to its samples. */
export interface StoredMessage {
  readonly resource: string
  /** such as `events` or `commands` */
  readonly stream: string
  readonly time: number
  readonly body: { readonly [key: string]: Json }
  readonly expires?: number
}

export interface NewMessage extends StoredMessage {
  /** the body as JSON, if already serialized; `body` is then not validated again */
  readonly text?: string
}

/** Samples of a range as columns, which are cheaper than objects. */
export interface SampleColumns {
  readonly times: Float64Array
  /** a Float64Array if all values are numbers */
  readonly values: Float64Array | readonly SampleValue[]
}

/** A range of times, both ends included; an absent end is open. */
export interface TimeRange {
  readonly from?: number
  readonly until?: number
}

export interface RangeQuery extends TimeRange {
  /** 1 to 1,000 resources; their samples are merged by time */
  readonly resources: readonly string[]
  readonly metric: string
  readonly descending?: boolean
  /** 1 to 1,000,000; default 10,000 */
  readonly limit?: number
}

/** Bucket k = 0, 1 ... covers [from + k * width, from + (k + 1) * width); the last bucket ends before `until`. */
export interface BucketQuery {
  readonly resources: readonly string[]
  readonly metric: string
  readonly from: number
  readonly until: number
  /** width in ms, above 0; at most 1,000,000 buckets */
  readonly width: number
}

/** A bucket with at least one sample. The figures cover its numeric samples, and are null if there are none. */
export interface Bucket {
  readonly start: number
  readonly count: number
  readonly numeric: number
  readonly sum: number | null
  readonly min: number | null
  readonly max: number | null
  readonly sumOfSquares: number | null
  readonly first: SampleValue
  readonly last: SampleValue
}

/** The position up to which a log was applied. */
export interface LogPosition {
  readonly log: string
  /** at least 1, or at least 0 with `rewinds` */
  readonly position: number
  /** accepts a lower position than before, because the log is older than the series */
  readonly rewinds?: boolean
}

/** `of`: which pairs are listed. `after`: only pairs after this one. */
export interface NamesQuery {
  readonly of: 'samples' | 'messages'
  readonly after?: SeriesName
  /** 1 to 10,000; default 1,000 */
  readonly limit?: number
}

export interface SeriesName {
  readonly resource: string
  /** metric of samples, or stream of messages */
  readonly name: string
}

export interface Series {
  /**
   * Appends samples and messages. When this resolves they are readable, and survive a crash of the process. `applies`:
   * a log position recorded in the same transaction. `synced`: this and all earlier appends survive a power cut as
   * well; otherwise a power cut may undo the last appends and removals, in order, and `applied` returns from where to
   * apply the log again.
   */
  append(batch: {
    readonly samples?: readonly Sample[]
    readonly messages?: readonly NewMessage[]
    readonly applies?: LogPosition
    readonly synced?: boolean
  }): Promise<void>
  /** Returns the last recorded position; 0 if none was recorded. */
  applied(log: string): Promise<number>
  range(query: RangeQuery): Promise<readonly Sample[]>
  /** Like `range`, but returns only times and values, as columns. */
  columns(query: RangeQuery): Promise<SampleColumns>
  /** Returns the buckets that have at least one sample, oldest first. */
  buckets(query: BucketQuery): Promise<readonly Bucket[]>
  /** Returns the newest sample of each metric of a resource, ordered by metric name. */
  latest(resource: string, metric?: string): Promise<readonly Sample[]>
  /**
   * Reads messages, newest first by default, at most `limit` (1 to 10,000, default 100). Messages with the same time
   * are ordered by arrival.
   */
  messages(
    query: TimeRange & {
      readonly resource: string
      readonly stream: string
      readonly limit?: number
      readonly descending?: boolean
    },
  ): Promise<readonly StoredMessage[]>
  /** Lists pairs of resource and metric, or resource and stream, that have data or had some, by code point. */
  names(query: NamesQuery): Promise<readonly SeriesName[]>
  /**
   * Removes a resource's samples (optionally of some metrics), messages (optionally of one stream), or both, within a
   * range. `keep`: for messages of one stream, the number of its newest messages to keep (0 to 10,000). `synced`: as
   * for `append`.
   */
  remove(
    what: TimeRange & {
      readonly resource: string
      readonly metrics?: readonly string[]
      readonly stream?: string
      readonly keep?: number
      readonly only?: 'samples' | 'messages'
      readonly synced?: boolean
    },
  ): Promise<void>
  /** Deletes what expired before `now` (epoch ms), in slices, and returns how much. Readers never see expired data. */
  expire(now: number): Promise<number>
}
