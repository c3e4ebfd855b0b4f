/** Writes appended samples and messages, inside the transaction of the caller. */
import type { LogPosition } from '../series.ts'
import type { Database } from './database.ts'
import { MessagesBuilder, type MessageColumns } from './message-block.ts'
import type { MessageWriter } from './message-writer.ts'
import { CODE, codeOf, kindOfCode, SAMPLE, seriesOfCode, storeBlock } from './sample-block.ts'
import type { Append, AppendOperation } from './series-jobs.ts'
import { SeriesNames } from './series-names.ts'

export class SeriesAppends {
  readonly #db: Database
  readonly #series: SeriesNames
  readonly #streams: SeriesNames
  readonly #tenants: Set<string>
  readonly #messages: MessageWriter

  constructor(db: Database, messages: MessageWriter) {
    this.#db = db
    this.#series = new SeriesNames(db, 'series')
    this.#streams = new SeriesNames(db, 'streams')
    this.#messages = messages
    this.#tenants = new Set(db.rows<[string]>('SELECT name FROM tenants').map(([name]) => name))
  }

  /** Returns the number of samples written. Skips appends whose position was applied before. */
  append(operation: AppendOperation): number {
    // copied, since a failed batch is retried from its input
    const copied = new Float64Array(operation.block.samples.length)
    const streams = new Float64Array(operation.appends.at(-1)?.messages ?? 0).fill(Number.NaN)
    let written = 0
    let start = 0
    let message = 0
    for (const append of operation.appends) {
      if (append.applies === undefined || this.#advance(append.tenant, append.applies)) {
        this.#copySamples(operation, append, start, copied, written)
        this.#copyStreams(operation, append, message, streams)
        this.#tenant(append.tenant)
        written += append.end - start
      }
      start = append.end
      message = append.messages
    }
    const samples = copied.subarray(0, written * SAMPLE)
    if (written > 0) storeBlock(this.#db, { samples, words: operation.block.words })
    let at = 0
    for (const columns of operation.messages) {
      const end = at + columns.times.length
      this.#messages.append(accepted({ ...columns, streams: streams.subarray(at, end) }))
      at = end
    }
    return written
  }

  forget(): void {
    this.#series.forget()
    this.#streams.forget()
    this.#tenants.clear()
  }

  /** Records the applied position; returns false when it was applied before. */
  #advance(tenant: string, { log, position, rewinds }: LogPosition): boolean {
    return this.#db.run(rewinds === true ? REWIND : ADVANCE, tenant, log, position) > 0
  }

  /** Fills in the keys of the series. */
  #copySamples(
    { names, block: { samples } }: AppendOperation,
    { tenant, end }: Append,
    start: number,
    into: Float64Array,
    from: number,
  ): void {
    into.set(samples.subarray(start * SAMPLE, end * SAMPLE), from * SAMPLE)
    const keys = new Map<number, number>()
    for (let at = from * SAMPLE; at < (from + end - start) * SAMPLE; at += SAMPLE) {
      const code = into[at + CODE] ?? 0
      const index = seriesOfCode(code)
      let key = keys.get(index)
      if (key === undefined) {
        key = this.#series.key(tenant, names[index * 2] ?? '', names[index * 2 + 1] ?? '')
        keys.set(index, key)
      }
      into[at + CODE] = codeOf(key, kindOfCode(code))
    }
  }

  #copyStreams(
    { streams, messages: blocks }: AppendOperation,
    { tenant, messages }: Append,
    start: number,
    into: Float64Array,
  ): void {
    const keys = new Map<number, number>()
    let first = 0
    for (const { streams: indexes } of blocks) {
      for (let i = Math.max(start, first); i < Math.min(messages, first + indexes.length); i += 1) {
        const index = indexes[i - first] ?? 0
        let key = keys.get(index)
        if (key === undefined) {
          key = this.#streams.key(tenant, streams[index * 2] ?? '', streams[index * 2 + 1] ?? '')
          keys.set(index, key)
        }
        into[i] = key
      }
      first += indexes.length
    }
  }

  #tenant(tenant: string): void {
    if (this.#tenants.has(tenant)) return
    this.#db.run('INSERT OR IGNORE INTO tenants (name) VALUES (?)', tenant)
    if (this.#tenants.size < MAX_TENANTS) this.#tenants.add(tenant)
  }
}

const MAX_TENANTS = 10_000

/** Drops messages without a stream, whose position was applied before. */
function accepted(columns: MessageColumns): MessageColumns {
  if (!columns.streams.includes(Number.NaN)) return columns
  const builder = new MessagesBuilder()
  for (const [index, stream] of columns.streams.entries()) if (!Number.isNaN(stream)) builder.take(columns, index)
  return builder.columns()
}

const REWIND = `
  INSERT INTO applied (tenant, log, position) VALUES (?, ?, ?)
  ON CONFLICT (tenant, log) DO UPDATE SET position = excluded.position`
const ADVANCE = `${REWIND} WHERE excluded.position > position`
