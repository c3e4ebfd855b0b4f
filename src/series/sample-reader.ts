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

export interface ReaderOptions {
  /** samples that may be gone through; default 1,000,000 */
  readonly most?: number | undefined
  /** samples of one read; default 10,000. More than there are resources at one time */
  readonly page?: number
  /** asks for the next page while one is worked on */
  readonly ahead?: boolean
  /** stops reading when it aborts */
  readonly signal?: AbortSignal
}

/** Reads storage for one request, in bounded slices, and refuses when it would become too much. */
export class SampleReader {
  readonly #series: Series
  readonly #most: number
  readonly #page: number
  readonly #ahead: boolean
  readonly #signal: AbortSignal | undefined
  #read = 0

  constructor(series: Series, { most = MAX_READ, page = PAGE, ahead = false, signal }: ReaderOptions = {}) {
    this.#series = series
    this.#most = most
    this.#page = page
    this.#ahead = ahead
    this.#signal = signal
  }

  /** What storage reckons by itself. `until` is included here as well. */
  async buckets({ resources, metric, from, until }: Span, width: number): Promise<readonly Bucket[]> {
    this.#signal?.throwIfAborted()
    return this.#series.buckets({ resources, metric, from, until: Math.min(until + 1, MAX_TIME), width })
  }

  /** The first of a span in the order that is asked for. */
  first({ resources, metric, from, until }: OpenSpan, descending: boolean, limit: number): Promise<readonly Sample[]> {
    return this.#series.range({ resources, metric, ...(from !== undefined && { from }), until, descending, limit })
  }

  /** Pooled by time, some at a time. Throws `TOO_LARGE` above the bound. */
  async *slices(span: Span, descending = false): AsyncGenerator<readonly Sample[]> {
    if (span.from > span.until) return
    for (let reading = this.#readPage(span, descending); ;) {
      const page = await reading
      const edge = page.at(-1)?.time
      const isLast = edge === undefined || page.length < this.#page
      // samples of the last time may go on behind a full page: they come with the next
      const whole = isLast ? page : page.filter(({ time }) => time !== edge)
      this.#count(whole.length)
      if (isLast) {
        yield whole
        return
      }
      const rest: Span = descending ? { ...span, until: edge } : { ...span, from: edge }
      const next = this.#ahead ? this.#readPage(rest, descending) : undefined
      // who stops reading does not hear that it failed
      next?.catch(() => undefined)
      yield whole
      reading = next ?? this.#readPage(rest, descending)
    }
  }

  async #readPage({ resources, metric, from, until }: Span, descending: boolean): Promise<readonly Sample[]> {
    this.#signal?.throwIfAborted()
    return this.#series.range({ resources, metric, from, until, descending, limit: this.#page })
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
