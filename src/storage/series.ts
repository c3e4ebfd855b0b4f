/**
 * Samples and messages by resource and time, as a projection of a log: `append` may record the log position that it
 * applies, and after a crash the owner appends again from `applied`. Appends are idempotent.
 *
 * Grouping rules, percentiles, time zones and defaults of ranges belong to the services.
 */
import type { Json } from '#kernel'

/** A later write of the same resource, metric and time wins. */
export type SampleValue = number | string | boolean

export interface Sample {
  readonly resource: string
  readonly metric: string
  /** epoch ms, whole */
  readonly time: number
  readonly value: SampleValue
  /** epoch ms */
  readonly expires?: number
}

/** A whole message, stored beside its samples. */
export interface StoredMessage {
  readonly resource: string
  /** `events`, `commands` ... */
  readonly stream: string
  readonly time: number
  readonly body: { readonly [key: string]: Json }
  readonly expires?: number
}

export interface NewMessage extends StoredMessage {
  /** the body as JSON, if already serialized: the body is then not validated again */
  readonly text?: string
}

/** Samples of a range as columns: cheaper than objects. */
export interface SampleColumns {
  readonly times: Float64Array
  /** a Float64Array if all are numbers */
  readonly values: Float64Array | readonly SampleValue[]
}

/** Both ends included; open where absent. */
export interface TimeRange {
  readonly from?: number
  readonly until?: number
}

export interface RangeQuery extends TimeRange {
  /** 1 to 1,000; their samples are merged by time */
  readonly resources: readonly string[]
  readonly metric: string
  readonly descending?: boolean
  /** 1 to 1,000,000; default 10,000 */
  readonly limit?: number
}

/** Buckets k = 0, 1 ... cover [from + k * width, from + (k + 1) * width) and end before `until`. */
export interface BucketQuery {
  readonly resources: readonly string[]
  readonly metric: string
  readonly from: number
  readonly until: number
  /** ms, above 0; at most 1,000,000 buckets */
  readonly width: number
}

/** A bucket with at least one sample. Figures of numeric samples; null without any. */
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

/** A position up to which a log was applied. */
export interface LogPlace {
  readonly log: string
  readonly partition: number
  /** from 1; from 0 when it rewinds */
  readonly position: number
  /** accepts a lower position than before: the log is older than the series */
  readonly rewinds?: boolean
}

export interface Series {
  /**
   * Readable, and safe from a crash of the process, when it resolves. `applies`: a log position that is recorded in the
   * same transaction. `synced`: safe from a power cut too, with all before it; otherwise a power cut may undo the last
   * appends and removals, in order, and `applied` returns where to apply the log again.
   */
  append(batch: {
    readonly samples?: readonly Sample[]
    readonly messages?: readonly NewMessage[]
    readonly applies?: LogPlace
    readonly synced?: boolean
  }): Promise<void>
  /** The last recorded position; 0 at first. */
  applied(log: string, partition: number): Promise<number>
  range(query: RangeQuery): Promise<readonly Sample[]>
  /** Times and values of the same samples. */
  columns(query: RangeQuery): Promise<SampleColumns>
  /** Buckets with at least one sample, oldest first. */
  buckets(query: BucketQuery): Promise<readonly Bucket[]>
  /** The newest sample of each metric of a resource, by name of the metric. */
  latest(resource: string, metric?: string): Promise<readonly Sample[]>
  /** Newest first by default, at most `limit` (1 to 10,000, default 100); ties by arrival. */
  messages(
    query: TimeRange & {
      readonly resource: string
      readonly stream: string
      readonly limit?: number
      readonly descending?: boolean
    },
  ): Promise<readonly StoredMessage[]>
  /**
   * Removes samples (of some metrics), messages (of one stream), or both, of a resource in a range. `keep`, for
   * messages of one stream: the newest so many of the stream stay (0 to 10,000). `synced`: as for `append`.
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
  /** Deletes what expired before `now` (epoch ms), in slices; returns the number. Readers never see expired ones. */
  expire(now: number): Promise<number>
}
