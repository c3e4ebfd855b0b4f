/** Reads samples in pages, with constant memory. */
import { AppError } from '#kernel'
import type { Bucket, RangeQuery, Sample, SampleColumns, Series } from '#storage'
import { MAX_TIME } from './times.ts'

/** Resources and range of samples; both ends are inclusive. */
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
  /** Maximum samples; default 1,000,000 */
  readonly most?: number | undefined
  /** Samples per read; default 10,000. More than there are resources at one time */
  readonly page?: number
  readonly ahead?: boolean
  readonly signal?: AbortSignal
}

/** Reads the store for one request in pages, and rejects when the limit is exceeded. */
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

  /** Buckets summed by the store. `until` is inclusive here too. */
  async buckets({ resources, metric, from, until }: Span, width: number): Promise<readonly Bucket[]> {
    this.#signal?.throwIfAborted()
    return this.#series.buckets({ resources, metric, from, until: Math.min(until + 1, MAX_TIME), width })
  }

  first({ resources, metric, from, until }: OpenSpan, descending: boolean, limit: number): Promise<readonly Sample[]> {
    return this.#series.range({ resources, metric, ...(from !== undefined && { from }), until, descending, limit })
  }

  /** Pages ordered by time. Throws `TOO_LARGE` above the limit. */
  slices(span: Span, descending = false): AsyncGenerator<readonly Sample[]> {
    return this.#pages(span, descending, (query) => this.#series.range(query), SAMPLES)
  }

  columns(span: Span, descending = false): AsyncGenerator<SampleColumns> {
    return this.#pages(span, descending, (query) => this.#series.columns(query), COLUMNS)
  }

  async *#pages<Page>(
    span: Span,
    descending: boolean,
    read: (query: RangeQuery) => Promise<Page>,
    { sizeOf, timeAt, upTo }: Paging<Page>,
  ): AsyncGenerator<Page> {
    if (span.from > span.until) return
    const readPage = async ({ resources, metric, from, until }: Span): Promise<Page> => {
      this.#signal?.throwIfAborted()
      return read({ resources, metric, from, until, descending, limit: this.#page })
    }
    for (let reading = readPage(span); ;) {
      const page = await reading
      const size = sizeOf(page)
      const isLast = size < this.#page
      const edge = size === 0 ? 0 : timeAt(page, size - 1)
      if (isLast) {
        this.#count(size)
        yield page
        return
      }
      // samples of the last time may continue on the next page: keep them for it
      let whole = size
      while (whole > 0 && timeAt(page, whole - 1) === edge) whole -= 1
      this.#count(whole)
      const rest: Span = descending ? { ...span, until: edge } : { ...span, from: edge }
      const next = this.#ahead ? readPage(rest) : undefined
      // a caller that stops reading does not observe its failure
      next?.catch(() => undefined)
      yield upTo(page, whole)
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

interface Paging<Page> {
  sizeOf(page: Page): number
  timeAt(page: Page, place: number): number
  upTo(page: Page, end: number): Page
}

const SAMPLES: Paging<readonly Sample[]> = {
  sizeOf: (page) => page.length,
  timeAt: (page, place) => page[place]?.time ?? 0,
  upTo: (page, end) => page.slice(0, end),
}

const COLUMNS: Paging<SampleColumns> = {
  sizeOf: ({ times }) => times.length,
  timeAt: ({ times }, place) => times[place] ?? 0,
  upTo: ({ times, values }, end) => ({
    times: times.subarray(0, end),
    values: values instanceof Float64Array ? values.subarray(0, end) : values.slice(0, end),
  }),
}
