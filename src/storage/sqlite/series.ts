/** Samples and messages of one tenant. */
import { type Json, parseWritten, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import {
  checkApplied,
  checkBuckets,
  checkLatest,
  checkMessages,
  checkNow,
  checkRange,
  checkRemoval,
  prepareBatch,
} from '../check-series.ts'
import { compareText } from '../order.ts'
import type { Bucket, BucketQuery, RangeQuery, Sample, SampleColumns, Series, StoredMessage } from '../series.ts'
import type { Opened } from './opened.ts'
import { FIGURES, type BucketColumns } from './read-buckets.ts'
import type { MessageRow } from './read-messages.ts'
import type { FoundColumns, LatestRow } from './read-samples.ts'
import type { StoreRead } from './reader.ts'
import type { SeriesJob } from './series-jobs.ts'
import { writeError } from './failure.ts'

type SeriesRead = Extract<StoreRead, { readonly of: 'series' }>['read']

/** Expired rows per job, so that appends have a turn. */
const EXPIRY_SLICE = 5_000
/** characters of a sample without names, about */
const SAMPLE_WEIGHT = 32

export class SqliteSeries implements Series {
  readonly #opened: Opened
  readonly #tenant: string

  constructor(opened: Opened, tenant: string) {
    this.#opened = opened
    this.#tenant = tenant
  }

  async append(batch: Parameters<Series['append']>[0]): Promise<void> {
    this.#opened.refuseWhenClosed()
    const prepared = prepareBatch(batch)
    const { samples, messages, applies } = prepared
    if (samples.length + messages.length === 0 && applies === undefined) return
    const weight = messages.reduce((sum, { text }) => sum + text.length, samples.length * SAMPLE_WEIGHT)
    await this.#write({ kind: 'append', tenant: this.#tenant, ...prepared }, weight)
  }

  async applied(log: string, partition: number): Promise<number> {
    this.#opened.refuseWhenClosed()
    checkApplied(log, partition)
    return this.#read({ kind: 'applied', tenant: this.#tenant, log, partition })
  }

  async range(query: RangeQuery): Promise<readonly Sample[]> {
    const { metric, resources, found } = await this.#range(query)
    const { times, values, places, expires } = found
    return new Yielder(machineTimers).map(values, (value, i): Sample => {
      const resource = resources[places?.[i] ?? 0] ?? ''
      const expiry = expires?.[i] ?? Number.NaN
      const sample = { resource, metric, time: times[i] ?? 0, value }
      return Number.isNaN(expiry) ? sample : { ...sample, expires: expiry }
    })
  }

  async columns(query: RangeQuery): Promise<SampleColumns> {
    const { times, values } = (await this.#range(query)).found
    return { times, values }
  }

  async buckets(query: BucketQuery): Promise<readonly Bucket[]> {
    this.#opened.refuseWhenClosed()
    const checked = checkBuckets(query)
    if (checked === undefined) return []
    const resources = checked.resources.toSorted(compareText)
    const read = { kind: 'buckets', tenant: this.#tenant, ...checked, resources, now: this.#opened.clock() } as const
    const { figures, firsts, lasts } = await this.#read<BucketColumns>(read)
    return new Yielder(machineTimers).map(firsts, (first, i): Bucket => {
      const at = i * FIGURES
      const numeric = figures[at + 2] ?? 0
      const reckoned = (place: number): number | null => (numeric === 0 ? null : (figures[at + place] ?? null))
      return {
        start: figures[at] ?? 0,
        count: figures[at + 1] ?? 0,
        numeric,
        sum: reckoned(3),
        min: reckoned(4),
        max: reckoned(5),
        sumOfSquares: reckoned(6),
        first,
        last: lasts[i] ?? first,
      }
    })
  }

  async latest(resource: string, metric?: string): Promise<readonly Sample[]> {
    this.#opened.refuseWhenClosed()
    checkLatest(resource, metric)
    const read = { kind: 'latest', tenant: this.#tenant, resource, metric, now: this.#opened.clock() } as const
    const rows = await this.#read<readonly LatestRow[]>(read)
    return rows.map(({ expires, ...row }) => ({ resource, ...row, ...(expires !== undefined && { expires }) }))
  }

  async messages(query: Parameters<Series['messages']>[0]): Promise<readonly StoredMessage[]> {
    this.#opened.refuseWhenClosed()
    const checked = checkMessages(query)
    const { resource, stream } = checked
    const read = { kind: 'messages', tenant: this.#tenant, ...checked, now: this.#opened.clock() } as const
    const rows = await this.#read<readonly MessageRow[]>(read)
    return new Yielder(machineTimers).map(rows, ([time, text, expires]): StoredMessage => {
      const body = parseWritten(text) as { readonly [key: string]: Json }
      return { resource, stream, time, body, ...(expires !== null && { expires }) }
    })
  }

  async remove(what: Parameters<Series['remove']>[0]): Promise<void> {
    this.#opened.refuseWhenClosed()
    await this.#write({ kind: 'remove', tenant: this.#tenant, ...checkRemoval(what) }, 0)
  }

  async expire(now: number): Promise<number> {
    this.#opened.refuseWhenClosed()
    checkNow(now)
    const slice = { kind: 'expire', tenant: this.#tenant, now, limit: EXPIRY_SLICE } as const
    for (let total = 0; ;) {
      const gone = await this.#write(slice, 0)
      total += gone
      if (gone < EXPIRY_SLICE) return total
    }
  }

  async #range(
    query: RangeQuery,
  ): Promise<{ readonly metric: string; readonly resources: readonly string[]; readonly found: FoundColumns }> {
    this.#opened.refuseWhenClosed()
    const { resources: named, ...checked } = checkRange(query)
    const resources = named.toSorted(compareText)
    const read = { kind: 'range', tenant: this.#tenant, resources, ...checked, now: this.#opened.clock() } as const
    return { metric: checked.metric, resources, found: await this.#read<FoundColumns>(read) }
  }

  async #write(job: SeriesJob, weight: number): Promise<number> {
    const answer = await this.#opened.seriesCommits.submit(job, weight)
    if (typeof answer === 'number') return answer
    throw writeError(answer)
  }

  #read<Answer>(read: SeriesRead): Promise<Answer> {
    return this.#opened.readers.read<Answer>({ of: 'series', read })
  }
}
