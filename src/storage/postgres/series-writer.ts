/** Writes samples and messages; a batch whose log position any host has already applied is skipped. */
import { createHash } from 'node:crypto'
import type { CheckedRemoval, PreparedBatch } from '../check-series.ts'
import type { Sample } from '../series.ts'
import type { Database, Statement } from './database.ts'
import { isRefusal } from './database-errors.ts'
import { Gathering, halves } from './gathering.ts'
import { Lane, type Finish, type Look } from './lane.ts'
import { seriesKey, type SeriesNames } from './series-names.ts'
import { checkStatementSize, MEBI } from './statement-size.ts'
import type { Tenants } from './state-writer.ts'

/** Most batches, and characters, in one transaction. */
const LIMITS = { items: 1_000, size: 16 * MEBI }
/** characters counted for a sample or message in addition to its text */
const OVERHEAD = 300

type Append = PreparedBatch & { readonly kind: 'append'; readonly tenant: string }
type Removal = CheckedRemoval & { readonly kind: 'remove'; readonly tenant: string }
export type SeriesChange = Append | Removal

interface Pending {
  readonly change: SeriesChange
  readonly size: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class SeriesWriter {
  readonly #database: Database
  readonly #names: SeriesNames
  readonly #tenants: Tenants
  readonly #lane: Lane
  readonly #gathering: Gathering<Pending>

  constructor(database: Database, names: SeriesNames, tenants: Tenants) {
    this.#database = database
    this.#names = names
    this.#tenants = tenants
    this.#lane = new Lane(database)
    this.#gathering = new Gathering((batch) => this.#write(batch), LIMITS)
  }

  get queued(): number {
    return this.#gathering.queued
  }

  async write(change: SeriesChange): Promise<void> {
    const size = sizeOf(change)
    checkStatementSize(size, 'The batch')
    await new Promise<void>((resolve, reject) => this.#gathering.add({ change, size, resolve, reject }))
  }

  async close(): Promise<void> {
    await this.#gathering.idle()
    await this.#lane.close()
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    const changes = batch.map(({ change }) => change)
    const appends = changes.filter((change) => change.kind === 'append')
    const tenants = appends.map(({ tenant }) => tenant)
    try {
      await this.#names.learn(appends)
      await this.#lane.run((look) => this.#transact(changes, tenants, look))
      this.#tenants.remember(tenants)
      for (const { resolve } of batch) resolve()
    } catch (error) {
      if (batch.length > 1 && isRefusal(error)) for (const half of halves(batch)) await this.#write(half)
      else for (const { reject } of batch) reject(error)
    }
  }

  async #transact(changes: readonly SeriesChange[], tenants: readonly string[], look: Look): Promise<Finish<void>> {
    const progress = await this.#progress(changes, look)
    const statements: Statement[] = [...this.#tenants.registering(tenants)]
    let together: Append[] = []
    const flush = (): void => {
      statements.push(...this.#samples(together), ...this.#messages(together))
      together = []
    }
    for (const change of changes) {
      if (change.kind === 'append') {
        if (progress.advance(change)) together.push(change)
        continue
      }
      flush()
      statements.push(...this.#removal(change))
    }
    flush()
    return { statements: [...statements, ...progress.changes()], result: undefined }
  }

  async #progress(changes: readonly SeriesChange[], look: Look) {
    const { schema } = this.#database
    const wanted = new Map<string, ProgressRow & { known: boolean; moved: boolean }>()
    for (const change of changes) {
      if (change.kind !== 'append' || change.applies === undefined) continue
      const { tenant, applies } = change
      wanted.set(`${tenant}/${applies.log}`, { tenant, log: applies.log, position: 0, known: false, moved: false })
    }
    const list = [...wanted.values()]
    const keys = [list.map(({ tenant }) => tenant), list.map(({ log }) => log)]
    if (list.length > 0) {
      const { rows } = await look<ProgressRow>({
        text: `select a.tenant, a.log, a.position from unnest($1::text[], $2::text[]) as k(tenant, log)
               join ${schema}.series_applied as a on (a.tenant, a.log) = (k.tenant, k.log)
               order by a.tenant, a.log for update of a`,
        values: keys,
      })
      for (const row of rows) wanted.set(`${row.tenant}/${row.log}`, { ...row, known: true, moved: false })
    }
    return {
      /** Returns false when the position was already applied. */
      advance({ tenant, applies }: Append): boolean {
        if (applies === undefined) return true
        const row = wanted.get(`${tenant}/${applies.log}`)
        if (row === undefined || (applies.rewinds !== true && applies.position <= row.position)) return false
        row.position = applies.position
        row.moved = true
        return true
      },
      changes(): readonly Statement[] {
        return [true, false].flatMap((known) => {
          const rows = [...wanted.values()].filter((row) => row.moved && row.known === known)
          if (rows.length === 0) return []
          const keys = 'unnest($1::text[], $2::text[], $3::bigint[]) as k(tenant, log, position)'
          const text = known
            ? `update ${schema}.series_applied as a set position = k.position from ${keys}
               where (a.tenant, a.log) = (k.tenant, k.log)`
            : `insert into ${schema}.series_applied select * from ${keys} order by tenant, log`
          const values = [
            rows.map(({ tenant }) => tenant),
            rows.map(({ log }) => log),
            rows.map(({ position }) => position),
          ]
          return [{ text, values }]
        })
      },
    }
  }

  #samples(appends: readonly Append[]): readonly Statement[] {
    const newest = new Map<string, { readonly series: number; readonly sample: Sample }>()
    for (const { tenant, samples } of appends) {
      for (const sample of samples) {
        const series = this.#names.of(seriesKey(tenant, sample.resource, sample.metric))
        newest.set(`${series} ${sample.time}`, { series, sample })
      }
    }
    if (newest.size === 0) return []
    // all hosts use the same order, to prevent deadlocks
    const rows = [...newest.values()].sort((a, b) => a.series - b.series || a.sample.time - b.sample.time)
    return [
      {
        text: `insert into ${this.#database.schema}.samples as s (series, time, number, other, expires)
               select * from unnest($1::bigint[], $2::bigint[], $3::double precision[], $4::text[], $5::bigint[])
               on conflict (series, time) do update
               set number = excluded.number, other = excluded.other, expires = excluded.expires
               where (s.number, s.other, s.expires) is distinct from (excluded.number, excluded.other, excluded.expires)`,
        values: [
          rows.map(({ series }) => series),
          rows.map(({ sample }) => sample.time),
          rows.map(({ sample }) => (typeof sample.value === 'number' ? sample.value : null)),
          rows.map(({ sample }) => (typeof sample.value === 'number' ? null : JSON.stringify(sample.value))),
          rows.map(({ sample }) => sample.expires ?? null),
        ],
      },
    ]
  }

  #messages(appends: readonly Append[]): readonly Statement[] {
    const rows = appends.flatMap(({ tenant, messages }) =>
      messages.map((message) => ({
        ...message,
        tenant,
        digest: `\\x${createHash('sha256').update(message.text).digest('hex')}`,
      })),
    )
    if (rows.length === 0) return []
    return [
      {
        text: `insert into ${this.#database.schema}.messages (tenant, resource, stream, time, digest, body, expires)
               select tenant, resource, stream, time, digest, body, expires
               from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bytea[], $6::text[], $7::bigint[])
               with ordinality as m(tenant, resource, stream, time, digest, body, expires, place) order by place
               on conflict do nothing`,
        values: [
          rows.map(({ tenant }) => tenant),
          rows.map(({ resource }) => resource),
          rows.map(({ stream }) => stream),
          rows.map(({ time }) => time),
          rows.map(({ digest }) => digest),
          rows.map(({ text }) => text),
          rows.map(({ expires }) => expires ?? null),
        ],
      },
    ]
  }

  #removal({ tenant, resource, from, until, metrics, stream, keep, samples, messages }: Removal): readonly Statement[] {
    const { schema } = this.#database
    const values = [tenant, resource, from, until]
    const ofSamples = {
      text: `delete from ${schema}.samples where time between $3 and $4 and series in (
               select series from ${schema}.series
               where tenant = $1 and resource = $2 and ($5::text[] is null or metric = any($5)))`,
      values: [...values, metrics ?? null],
    }
    const ofMessages = {
      text: `delete from ${schema}.messages where tenant = $1 and resource = $2 and time between $3 and $4`,
      values,
    }
    const ofStream = {
      text: `${ofMessages.text} and stream = $5 and arrival not in (
               select arrival from ${schema}.messages where tenant = $1 and resource = $2 and stream = $5
               order by time desc, arrival desc limit $6)`,
      values: [...values, stream ?? null, keep],
    }
    return [...(samples ? [ofSamples] : []), ...(messages ? [stream === undefined ? ofMessages : ofStream] : [])]
  }
}

function sizeOf(change: SeriesChange): number {
  if (change.kind === 'remove') return OVERHEAD
  let size = 0
  for (const { value } of change.samples) size += OVERHEAD + (typeof value === 'string' ? value.length : 0)
  for (const { text } of change.messages) size += OVERHEAD + text.length
  return size
}

interface ProgressRow {
  readonly tenant: string
  readonly log: string
  position: number
}
