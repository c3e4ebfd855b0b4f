/** Reads and writes the samples and messages of one tenant. */
import { type Json, parseWritten, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { CheckedMessages, CheckedNames, CheckedRange, CheckedRemoval, PreparedBatch } from '../check-series.ts'
import type { SeriesMedium } from '../checked-store.ts'
import type { Committed, Write } from '../contract.ts'
import type { DamageWatch } from '../damage.ts'
import { compareText } from '../order.ts'
import type { Bucket, BucketQuery, Sample, SampleColumns, SeriesName, StoredMessage } from '../series.ts'
import type { Specs } from '../spec.ts'
import type { CountMemory } from './count-memory.ts'
import type { Database } from './database.ts'
import type { Declarations } from './declarations.ts'
import { writeError } from './failure.ts'
import type { GroupCommit } from './group-commit.ts'
import { type BucketColumns, FIGURES } from './read-buckets.ts'
import type { FoundColumns, LatestRow } from './read-samples.ts'
import type { ReaderPool } from './reader-pool.ts'
import type { MessageRow, NameRow, StoreRead } from './reader.ts'
import type { SeriesAnswer, SeriesJob, SeriesOperation } from './series-jobs.ts'

type SeriesRead = Extract<StoreRead, { readonly of: 'series' }>['read']

/** Most expired rows per job, so that appends get their turn. */
const EXPIRY_SLICE = 5_000
/** approximate characters of a sample without names */
const SAMPLE_WEIGHT = 32

export class SqliteSeries implements SeriesMedium {
  readonly #opened: Opened
  readonly #tenant: string

  constructor(opened: Opened, tenant: string) {
    this.#opened = opened
    this.#tenant = tenant
  }

  async append(batch: PreparedBatch): Promise<void> {
    const weight = batch.messages.reduce((sum, { text }) => sum + text.length, batch.samples.length * SAMPLE_WEIGHT)
    await this.#write({ kind: 'append', tenant: this.#tenant, ...batch }, weight)
  }

  applied(log: string): Promise<number> {
    return this.#read({ kind: 'applied', tenant: this.#tenant, log })
  }

  async range(query: CheckedRange, now: number): Promise<readonly Sample[]> {
    const { metric } = query
    const resources = query.resources.toSorted(compareText)
    const { times, values, indexes, expires } = await this.#range(query, now)
    return new Yielder(machineTimers).map(values, (value, i): Sample => {
      const resource = resources[indexes?.[i] ?? 0] ?? ''
      const expiry = expires?.[i] ?? Number.NaN
      const sample = { resource, metric, time: times[i] ?? 0, value }
      return Number.isNaN(expiry) ? sample : { ...sample, expires: expiry }
    })
  }

  async columns(query: CheckedRange, now: number): Promise<SampleColumns> {
    const { times, values } = await this.#range(query, now)
    return { times, values }
  }

  async buckets(query: BucketQuery, now: number): Promise<readonly Bucket[]> {
    const resources = query.resources.toSorted(compareText)
    const read = { kind: 'buckets', tenant: this.#tenant, ...query, resources, now } as const
    const { figures, firsts, lasts } = await this.#read<BucketColumns>(read)
    return new Yielder(machineTimers).map(firsts, (first, i): Bucket => {
      const at = i * FIGURES
      const numeric = figures[at + 2] ?? 0
      const figure = (offset: number): number | null => (numeric === 0 ? null : (figures[at + offset] ?? null))
      return {
        start: figures[at] ?? 0,
        count: figures[at + 1] ?? 0,
        numeric,
        sum: figure(3),
        min: figure(4),
        max: figure(5),
        sumOfSquares: figure(6),
        first,
        last: lasts[i] ?? first,
      }
    })
  }

  async latest(resource: string, metric: string | undefined, now: number): Promise<readonly Sample[]> {
    const read = { kind: 'latest', tenant: this.#tenant, resource, metric, now } as const
    const rows = await this.#read<readonly LatestRow[]>(read)
    return rows.map(({ expires, ...row }) => ({ resource, ...row, ...(expires !== undefined && { expires }) }))
  }

  async messages(query: CheckedMessages, now: number): Promise<readonly StoredMessage[]> {
    const { resource, stream } = query
    const read = { kind: 'messages', tenant: this.#tenant, ...query, now } as const
    const rows = await this.#read<readonly MessageRow[]>(read)
    return new Yielder(machineTimers).map(rows, ([time, text, expires]): StoredMessage => {
      const body = parseWritten(text) as { readonly [key: string]: Json }
      return { resource, stream, time, body, ...(expires !== null && { expires }) }
    })
  }

  async names(query: CheckedNames): Promise<readonly SeriesName[]> {
    const rows = await this.#read<readonly NameRow[]>({ kind: 'names', tenant: this.#tenant, ...query })
    return rows.map(([resource, name]) => ({ resource, name }))
  }

  async remove(what: CheckedRemoval): Promise<void> {
    await this.#write({ kind: 'remove', tenant: this.#tenant, ...what }, 0)
  }

  async expire(now: number): Promise<number> {
    const slice = { kind: 'expire', tenant: this.#tenant, now, limit: EXPIRY_SLICE } as const
    for (let total = 0; ;) {
      const gone = await this.#write(slice, 0)
      total += gone
      if (gone < EXPIRY_SLICE) return total
    }
  }

  #range({ resources, ...query }: CheckedRange, now: number): Promise<FoundColumns> {
    return this.#read<FoundColumns>({
      kind: 'range',
      tenant: this.#tenant,
      resources: resources.toSorted(compareText),
      ...query,
      now,
    })
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

/** Holds what the stores of one open data folder share. */
export type SeriesCommits = GroupCommit<SeriesJob, readonly SeriesOperation[], SeriesAnswer>

export interface Opened {
  readonly specs: Specs
  readonly declarations: Declarations
  /** connection on this thread, for fast reads by key */
  readonly gets: Database
  readonly readers: ReaderPool
  readonly counts: CountMemory
  readonly damage: DamageWatch
  readonly seriesCommits: SeriesCommits
  /** epoch ms */
  readonly clock: () => number
  refuseWhenClosed(): void
  commit(tenant: string, writes: readonly Write[]): Promise<Committed>
  trim(tenant: string, log: string, upTo: number): Promise<void>
}
