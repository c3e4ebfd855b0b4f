/** Samples as simply as they can be said: a map from resource, metric and time, read by filters and sorts. */
import type { Bucket, BucketQuery, RangeQuery, Sample, TimeRange } from '../../../src/storage/series.ts'
import { compare } from './collection-model.ts'

export class SeriesModel {
  readonly samples = new Map<string, Sample>()
  now: number

  constructor(now: number) {
    this.now = now
  }

  append(samples: readonly Sample[]): void {
    for (const sample of samples)
      this.samples.set(JSON.stringify([sample.resource, sample.metric, sample.time]), sample)
  }

  remove(what: TimeRange & { resource: string; metrics?: readonly string[] | undefined }): void {
    for (const [key, sample] of this.samples) {
      const meant = what.metrics === undefined || what.metrics.includes(sample.metric)
      if (sample.resource === what.resource && meant && within(sample.time, what)) this.samples.delete(key)
    }
  }

  /** How many were let go. */
  expire(now: number): number {
    const gone = [...this.samples].filter(([, sample]) => (sample.expires ?? Infinity) <= now)
    for (const [key] of gone) this.samples.delete(key)
    return gone.length
  }

  range(query: RangeQuery): readonly Sample[] {
    const found = this.seen()
      .filter((sample) => query.resources.includes(sample.resource) && sample.metric === query.metric)
      .filter((sample) => within(sample.time, query))
    if (query.descending === true) found.reverse()
    return found.slice(0, query.limit ?? 10_000)
  }

  latest(resource: string): readonly Sample[] {
    const newest = new Map<string, Sample>()
    for (const sample of this.seen()) if (sample.resource === resource) newest.set(sample.metric, sample)
    return [...newest.values()].sort((a, b) => compare(a.metric, b.metric))
  }

  buckets(query: BucketQuery): readonly Bucket[] {
    const buckets: Bucket[] = []
    for (let start = query.from; start < query.until; start += query.width) {
      const end = Math.min(start + query.width, query.until)
      const samples = this.range({ ...query, from: start, until: end - 1, limit: Infinity })
      const [first, last] = [samples[0], samples.at(-1)]
      if (first === undefined || last === undefined) continue
      const numbers = samples.map((sample) => sample.value).filter((value) => typeof value === 'number')
      const some = numbers.length > 0
      buckets.push({
        start,
        count: samples.length,
        numeric: numbers.length,
        sum: some ? numbers.reduce((sum, value) => sum + value, 0) : null,
        min: some ? Math.min(...numbers) : null,
        max: some ? Math.max(...numbers) : null,
        sumOfSquares: some ? numbers.reduce((sum, value) => sum + value * value, 0) : null,
        first: first.value,
        last: last.value,
      })
    }
    return buckets
  }

  /** Those that are not expired, by time, then by resource. */
  private seen(): Sample[] {
    return [...this.samples.values()]
      .filter((sample) => (sample.expires ?? Infinity) > this.now)
      .sort((a, b) => a.time - b.time || compare(a.resource, b.resource))
  }
}

function within(time: number, { from, until }: TimeRange): boolean {
  return time >= (from ?? -Infinity) && time <= (until ?? Infinity)
}
