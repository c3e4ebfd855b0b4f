/** Reads samples and messages from PostgreSQL, without the ones that expire by `now` (epoch ms). */
import { type Json, parseWritten } from '#kernel'
import type { CheckedMessages, CheckedNames, CheckedRange } from '../check-series.ts'
import type { Bucket, BucketQuery, Sample, SampleValue, SeriesName, StoredMessage } from '../series.ts'
import type { Database } from './database.ts'
import { isArithmeticFailure } from './database-errors.ts'

interface ValueRow {
  readonly number: number | null
  readonly other: string | null
}

interface SampleRow extends ValueRow {
  readonly resource: string
  readonly metric: string
  readonly time: number
  readonly expires: number | null
}

interface BucketRow {
  readonly place: number
  readonly count: number
  readonly numeric: number
  readonly sum: number | null
  readonly squares: number | null
  readonly min: number | null
  readonly max: number | null
  readonly first_number: number | null
  readonly first_other: string | null
  readonly last_number: number | null
  readonly last_other: string | null
  /** the samples themselves, where the server cannot compute the sums */
  readonly numbers?: readonly number[] | null
}

interface MessageRow {
  readonly time: number
  readonly body: string
  readonly expires: number | null
}

export class SeriesReader {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async applied(tenant: string, log: string): Promise<number> {
    const [row] = await this.#database.read<{ position: number }>({
      text: `select position from ${this.#database.schema}.series_applied where tenant = $1 and log = $2`,
      values: [tenant, log],
    })
    return row?.position ?? 0
  }

  async range(tenant: string, query: CheckedRange, now: number): Promise<readonly Sample[]> {
    const { schema } = this.#database
    const order = query.descending ? 'desc' : 'asc'
    // each series returns at most the limit, using its index, so only these rows are merged
    const rows = await this.#database.read<SampleRow>({
      text: `select n.resource, n.metric, s.time, s.number, s.other, s.expires
             from ${schema}.series as n, lateral (
               select * from ${schema}.samples as s
               where s.series = n.series and s.time between $4 and $5 and (s.expires is null or s.expires > $6)
               order by s.time ${order} limit $7) as s
             where n.tenant = $1 and n.resource = any($2) and n.metric = $3
             order by s.time ${order}, n.resource ${order} limit $7`,
      values: [tenant, query.resources, query.metric, query.from, query.until, now, query.limit],
    })
    return rows.map(sampleOf)
  }

  async latest(tenant: string, resource: string, metric: string | undefined, now: number): Promise<readonly Sample[]> {
    const { schema } = this.#database
    const rows = await this.#database.read<SampleRow>({
      text: `select n.resource, n.metric, s.time, s.number, s.other, s.expires
             from ${schema}.series as n, lateral (
               select * from ${schema}.samples as s
               where s.series = n.series and (s.expires is null or s.expires > $4) order by s.time desc limit 1) as s
             where n.tenant = $1 and n.resource = $2 and ($3::text is null or n.metric = $3)
             order by n.metric`,
      values: [tenant, resource, metric ?? null, now],
    })
    return rows.map(sampleOf)
  }

  async buckets(tenant: string, query: BucketQuery, now: number): Promise<readonly Bucket[]> {
    const values = [tenant, query.resources, query.metric, query.from, query.until, now, query.width]
    const sums = 'sum(s.number) as sum, sum(s.number * s.number) as squares'
    const read = async (columns: string) =>
      await this.#database.read<BucketRow>({ text: this.#bucketQuery(columns), values })
    let rows: readonly BucketRow[]
    try {
      rows = await read(sums)
    } catch (error) {
      // the server rejects sums out of range, so compute them here from the samples
      if (!isArithmeticFailure(error)) throw error
      rows = await read('array_agg(s.number) filter (where s.number is not null) as numbers')
    }
    return rows.map((row) => bucketOf(row, query))
  }

  async messages(tenant: string, query: CheckedMessages, now: number): Promise<readonly StoredMessage[]> {
    const order = query.descending ? 'desc' : 'asc'
    const rows = await this.#database.read<MessageRow>({
      text: `select time, body, expires from ${this.#database.schema}.messages
             where tenant = $1 and resource = $2 and stream = $3 and time between $4 and $5
             and (expires is null or expires > $6)
             order by time ${order}, arrival ${order} limit $7`,
      values: [tenant, query.resource, query.stream, query.from, query.until, now, query.limit],
    })
    return rows.map(({ time, body, expires }) => ({
      resource: query.resource,
      stream: query.stream,
      time,
      body: parseWritten(body) as { readonly [key: string]: Json },
      ...(expires !== null && { expires }),
    }))
  }

  /** Skips from one stream to the next by the index, since a stream may have many messages. */
  async names(tenant: string, { of, resource, name, limit }: CheckedNames): Promise<readonly SeriesName[]> {
    const { schema } = this.#database
    const next = (after: string): string =>
      `(select resource, stream from ${schema}.messages where tenant = $1 and ${after} order by resource, stream limit 1)`
    const text =
      of === 'samples'
        ? `select resource, metric as name from ${schema}.series where tenant = $1 and (resource, metric) > ($2, $3)
           order by resource, metric limit $4`
        : `with recursive names as (
             ${next('(resource, stream) > ($2, $3)')}
             union all
             select n.resource, n.stream from names as l, lateral ${next('(resource, stream) > (l.resource, l.stream)')} as n)
           select resource, stream as name from names limit $4`
    return await this.#database.read<SeriesName>({ text, values: [tenant, resource, name, limit] })
  }

  /** First and last values are looked up by their times, which is cheaper than sorting all samples. */
  #bucketQuery(sums: string): string {
    const { schema } = this.#database
    const alive = '(s.expires is null or s.expires > $6)'
    const edge = (time: string, order: string): string =>
      `lateral (select s.number, s.other from names as n join ${schema}.samples as s on s.series = n.series
                where s.time = ${time} and ${alive} order by n.resource ${order} limit 1)`
    return `
      with names as materialized (
        select series, resource from ${schema}.series where tenant = $1 and resource = any($2) and metric = $3),
      counted as (
        select (s.time - $4::bigint) / $7::bigint as place, count(*) as count, count(s.number) as numeric,
               min(s.number) as min, max(s.number) as max, ${sums}, min(s.time) as first_time, max(s.time) as last_time
        from names as n join ${schema}.samples as s on s.series = n.series
        where s.time >= $4 and s.time < $5 and ${alive} group by 1)
      select c.*, f.number as first_number, f.other as first_other, l.number as last_number, l.other as last_other
      from counted as c, ${edge('c.first_time', 'asc')} as f, ${edge('c.last_time', 'desc')} as l order by c.place`
  }
}

function valueOf({ number, other }: ValueRow): SampleValue {
  return number ?? (JSON.parse(other ?? '""') as SampleValue)
}

function sampleOf(row: SampleRow): Sample {
  const { resource, metric, time, expires } = row
  return { resource, metric, time, value: valueOf(row), ...(expires !== null && { expires }) }
}

function bucketOf(row: BucketRow, { from, width }: BucketQuery): Bucket {
  const { numbers } = row
  return {
    start: from + row.place * width,
    count: row.count,
    numeric: row.numeric,
    sum: numbers === undefined ? row.sum : (numbers?.reduce((sum, value) => sum + value, 0) ?? null),
    min: row.min,
    max: row.max,
    sumOfSquares:
      numbers === undefined ? row.squares : (numbers?.reduce((sum, value) => sum + value * value, 0) ?? null),
    first: valueOf({ number: row.first_number, other: row.first_other }),
    last: valueOf({ number: row.last_number, other: row.last_other }),
  }
}
