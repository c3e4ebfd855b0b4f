/**
 * Samples and messages by resource and time. A projection of a log: `append` may carry the log position that it
 * applies, and after a crash the owner appends again from `applied`. Appending the same again changes nothing.
 *
 * Not in here: grouping rules, percentiles, time zones and defaults of ranges: the service of time series owns them.
 */
import type { Json } from '#kernel'

/** What one sample may be. A later write at the same resource, metric and time wins. */
export type SampleValue = number | string | boolean

export interface Sample {
  readonly resource: string
  readonly metric: string
  /** epoch ms, whole */
  readonly time: number
  readonly value: SampleValue
  /** epoch ms from which it is gone */
  readonly expires?: number
}

/** A whole message as it is given back; kept beside its samples. */
export interface StoredMessage {
  readonly resource: string
  /** `events`, `commands` ... */
  readonly stream: string
  readonly time: number
  readonly body: { readonly [key: string]: Json }
  readonly expires?: number
}

/** A message on its way in. */
export interface NewMessage extends StoredMessage {
  /** the body as JSON, by whoever made it plain JSON and has it at hand: then nobody walks the body again */
  readonly text?: string
}

/** Samples of a range as columns, in its order: what very many cost least as. */
export interface SampleColumns {
  readonly times: Float64Array
  /** an array of numbers where all are */
  readonly values: Float64Array | readonly SampleValue[]
}

/** Both ends included; open where absent. */
export interface TimeRange {
  readonly from?: number
  readonly until?: number
}

export interface RangeQuery extends TimeRange {
  /** 1 to 1,000; samples of several are pooled by time */
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

/** What one bucket that is not empty holds. Numbers are over numeric samples, and null without any. */
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

/** How far a log was applied. */
export interface LogPlace {
  readonly log: string
  readonly partition: number
  /** from 1; from 0 when it rewinds */
  readonly position: number
  /** Remembered although it is lower than what was: the log is older than the series. */
  readonly rewinds?: boolean
}

export interface Series {
  /**
   * Readable when it resolves, and there after a crash of the process. `applies`: the log position that these reflect,
   * remembered in the same transaction. `synced`: there after a power cut, too, with all before it. Without that a power cut
   * may take back the last appends and removals, in order; what `applies` says then is where the log has to be applied again.
   */
  append(batch: {
    readonly samples?: readonly Sample[]
    readonly messages?: readonly NewMessage[]
    readonly applies?: LogPlace
    readonly synced?: boolean
  }): Promise<void>
  /** The position that `append` remembered last; 0 at first. */
  applied(log: string, partition: number): Promise<number>
  range(query: RangeQuery): Promise<readonly Sample[]>
  /** Times and values of the same samples. */
  columns(query: RangeQuery): Promise<SampleColumns>
  /** Buckets with at least one sample, oldest first. */
  buckets(query: BucketQuery): Promise<readonly Bucket[]>
  /** The newest sample of each metric of a resource, by name of the metric. */
  latest(resource: string, metric?: string): Promise<readonly Sample[]>
  /** Newest first unless asked otherwise, at most `limit` (1 to 10,000, default 100); ties by arrival. */
  messages(
    query: TimeRange & {
      readonly resource: string
      readonly stream: string
      readonly limit?: number
      readonly descending?: boolean
    },
  ): Promise<readonly StoredMessage[]>
  /**
   * Forgets samples (of some metrics), messages (of one stream), or both, of a resource in a range. `keep`, for messages
   * of one stream: of those that the stream has, the newest so many stay (0 to 10,000). `synced`: as for `append`.
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
  /** Lets go of what expired before `now` (epoch ms), in slices; gives how many. Readers pass it over already. */
  expire(now: number): Promise<number>
}
