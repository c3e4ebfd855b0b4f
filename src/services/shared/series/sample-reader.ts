/** Reads samples in pages, so that memory does not grow with their number. */
import { AppError } from '#kernel'
import type { Bucket, RangeQuery, Sample, SampleColumns, Series } from '#storage'
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
  slices(span: Span, descending = false): AsyncGenerator<readonly Sample[]> {
    return this.#pages(span, descending, (query) => this.#series.range(query), SAMPLES)
  }

  /** The same as columns, which cost less. */
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
      // samples of the last time may go on behind a full page: they come with the next
      let whole = size
      while (whole > 0 && timeAt(page, whole - 1) === edge) whole -= 1
      this.#count(whole)
      const rest: Span = descending ? { ...span, until: edge } : { ...span, from: edge }
      const next = this.#ahead ? readPage(rest) : undefined
      // who stops reading does not hear that it failed
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
      `the query goes through more than ${this.#most} samples; ask for a shorter range, or for aggregates other than median, percentile, std and diff and without a filter`,
    )
  }
}

/** What is to know of a page of samples, however it has them. */
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
