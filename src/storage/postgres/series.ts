/** The series of one tenant: checks queries, then reads or writes. */
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
import { columnsOf } from '../sample-columns.ts'
import type { BucketQuery, RangeQuery, Series } from '../series.ts'
import type { Opened } from './opened.ts'

export class PostgresSeries implements Series {
  readonly #opened: Opened
  readonly #tenant: string

  constructor(opened: Opened, tenant: string) {
    this.#opened = opened
    this.#tenant = tenant
  }

  append(batch: Parameters<Series['append']>[0]): Promise<void> {
    return this.#opened.act(async ({ seriesWriter }) => {
      const prepared = prepareBatch(batch)
      if (prepared.samples.length + prepared.messages.length === 0 && prepared.applies === undefined) return
      await seriesWriter.write({ kind: 'append', tenant: this.#tenant, ...prepared })
    })
  }

  applied(log: string, partition: number) {
    return this.#opened.act(async ({ seriesReader }) => {
      checkApplied(log, partition)
      return await seriesReader.applied(this.#tenant, log, partition)
    })
  }

  range(query: RangeQuery) {
    return this.#opened.act(async ({ seriesReader, clock }) => {
      return await seriesReader.range(this.#tenant, checkRange(query), clock())
    })
  }

  async columns(query: RangeQuery) {
    return columnsOf(await this.range(query))
  }

  buckets(query: BucketQuery) {
    return this.#opened.act(async ({ seriesReader, clock }) => {
      const checked = checkBuckets(query)
      return checked === undefined ? [] : await seriesReader.buckets(this.#tenant, checked, clock())
    })
  }

  latest(resource: string, metric?: string) {
    return this.#opened.act(async ({ seriesReader, clock }) => {
      checkLatest(resource, metric)
      return await seriesReader.latest(this.#tenant, resource, metric, clock())
    })
  }

  messages(query: Parameters<Series['messages']>[0]) {
    return this.#opened.act(async ({ seriesReader, clock }) => {
      return await seriesReader.messages(this.#tenant, checkMessages(query), clock())
    })
  }

  remove(what: Parameters<Series['remove']>[0]): Promise<void> {
    return this.#opened.act(async ({ seriesWriter }) => {
      await seriesWriter.write({ kind: 'remove', tenant: this.#tenant, ...checkRemoval(what) })
    })
  }

  expire(now: number): Promise<number> {
    return this.#opened.act(async ({ seriesExpiry }) => {
      checkNow(now)
      return await seriesExpiry.expire(this.#tenant, now)
    })
  }
}
