/** Reads samples in pages, so that memory does not grow with their number. */
import { AppError } from '../kernel/errors.ts'
import type { Bucket, Sample, Series } from '../storage/contract.ts'
import { MAX_TIME } from './times.ts'

/** Whose samples, and in which range; both ends are included. */
export interface Span {
  readonly resources: readonly string[]
  readonly metric: string
  readonly from: number
  readonly until: number
}

/** The same, open at its begin. */
export type OpenSpan = Omit<Span, 'from'> & { readonly from: number | undefined }

/** samples of one read; above the number of resources, all of which may have a sample at one time */
const PAGE = 10_000
/** samples that one request may go through */
const MAX_READ = 1_000_000

/** Reads storage for one request, in bounded slices, and refuses when it would become too much. */
export class SampleReader {
  readonly #series: Series
  readonly #most: number
  #read = 0

  constructor(series: Series, most = MAX_READ) {
    this.#series = series
    this.#most = most
  }

  /** What storage reckons by itself. `until` is included here as well. */
  buckets({ resources, metric, from, until }: Span, width: number): Promise<readonly Bucket[]> {
    return this.#series.buckets({ resources, metric, from, until: Math.min(until + 1, MAX_TIME), width })
  }

  /** The first of a span in the order that is asked for. */
  first({ resources, metric, from, until }: OpenSpan, descending: boolean, limit: number): Promise<readonly Sample[]> {
    return this.#series.range({ resources, metric, ...(from !== undefined && { from }), until, descending, limit })
  }

  /** Pooled by time, some at a time. Throws `TOO_LARGE` above the bound. */
  async *slices(span: Span, descending = false): AsyncGenerator<readonly Sample[]> {
    const { resources, metric } = span
    let { from, until } = span
    while (from <= until) {
      const page = await this.#series.range({ resources, metric, from, until, descending, limit: PAGE })
      const edge = page.at(-1)?.time
      // samples of the last time may go on behind a full page: they come with the next
      const whole = page.length < PAGE ? page : page.filter(({ time }) => time !== edge)
      this.#count(whole.length)
      yield whole
      if (edge === undefined || page.length < PAGE) return
      if (descending) until = edge
      else from = edge
    }
  }

  #count(samples: number): void {
    this.#read += samples
    if (this.#read <= this.#most) return
    throw new AppError(
      'TOO_LARGE',
      `the query goes through more than ${this.#most} samples; ask for a shorter range, or for aggregates other than median, percentile, std and diff and without a filter`,
    )
  }
}
