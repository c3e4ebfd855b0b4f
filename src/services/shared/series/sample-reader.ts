/** Reads samples in pages, with constant memory. */
import { AppError } from '#kernel'
import type { Bucket, Sample, SampleColumns, Series } from '#storage'
import { MAX_TIME } from './times.ts'

export interface Span {
  readonly resources: readonly string[]
  readonly metric: string
  readonly from: number
  readonly until: number
}

export type OpenSpan = Omit<Span, 'from'> & { readonly from: number | undefined }

const PAGE = 10_000
const MAX_READ = 1_000_000

export interface ReaderOptions {
  /** maximum number of samples; default 1,000,000 */
  readonly most?: number | undefined
  /** samples per read; default 10,000. More than the resources, which may all have a sample at the same time */
  readonly page?: number
  readonly ahead?: boolean
  readonly signal?: AbortSignal
}

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

  /** Returns buckets summed by the store. Here too, `until` is inclusive. */
  async buckets({ resources, metric, from, until }: Span, width: number): Promise<readonly Bucket[]> {
    this.#signal?.throwIfAborted()
    return this.#series.buckets({ resources, metric, from, until: Math.min(until + 1, MAX_TIME), width })
  }

  first({ resources, metric, from, until }: OpenSpan, descending: boolean, limit: number): Promise<readonly Sample[]> {
    return this.#series.range({ resources, metric, ...(from !== undefined && { from }), until, descending, limit })
  }

  /** Yields pages ordered by time. Throws `TOO_LARGE` above the limit. */
  async *columns(span: Span, descending = false): AsyncGenerator<SampleColumns> {
    if (span.from > span.until) return
    const readPage = async ({ resources, metric, from, until }: Span): Promise<SampleColumns> => {
      this.#signal?.throwIfAborted()
      return this.#series.columns({ resources, metric, from, until, descending, limit: this.#page })
    }
    for (let reading = readPage(span); ;) {
      const page = await reading
      const { times, values } = page
      if (times.length < this.#page) {
        this.#count(times.length)
        yield page
        return
      }
      // samples of the last time may continue on the next page, so keep them for that page
      const edge = times.at(-1) ?? 0
      const whole = times.indexOf(edge)
      this.#count(whole)
      const rest: Span = descending ? { ...span, until: edge } : { ...span, from: edge }
      const next = this.#ahead ? readPage(rest) : undefined
      // prevents an unhandled rejection when the caller stops reading
      next?.catch(() => undefined)
      yield {
        times: times.subarray(0, whole),
        values: values instanceof Float64Array ? values.subarray(0, whole) : values.slice(0, whole),
      }
      reading = next ?? readPage(rest)
    }
  }

  #count(samples: number): void {
    this.#read += samples
    if (this.#read <= this.#most) return
    throw new AppError(
      'TOO_LARGE',
      `the query reads more than ${this.#most} samples; request a shorter range, or aggregates other than median, percentile, std and diff and without a filter`,
    )
  }
}
