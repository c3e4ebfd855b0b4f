/** Writes appended samples and messages. Works inside the transaction of its caller. */
import { hash } from 'node:crypto'
import type { LogPlace } from '../series.ts'
import type { Database } from './database.ts'
import { InsertRows, MAX_ROWS } from './insert-rows.ts'
import { CODE, codeOf, kindOfCode, SAMPLE, seriesOfCode, storeBlock } from './sample-block.ts'
import type { Append, AppendOperation } from './series-jobs.ts'
import { SeriesNames } from './series-names.ts'

export class SeriesAppends {
  readonly #db: Database
  readonly #series: SeriesNames
  readonly #streams: SeriesNames
  readonly #tenants: Set<string>
  readonly #messageRows: InsertRows
  readonly #digests = Array.from({ length: MAX_ROWS }, () => Buffer.alloc(DIGEST_BYTES))

  constructor(db: Database) {
    this.#db = db
    this.#series = new SeriesNames(db, 'series')
    this.#streams = new SeriesNames(db, 'streams')
    this.#messageRows = new InsertRows(db, INSERT_MESSAGES, MESSAGE_COLUMNS)
    this.#tenants = new Set(db.rows<[string]>('SELECT name FROM tenants').map(([name]) => name))
  }

  /** Gives how many samples were written: none of an append whose position was applied before. */
  append(operation: AppendOperation): number {
    // Not in place: what cannot be written with others is tried again from what was handed over.
    const placed = new Float64Array(operation.block.samples.length)
    let written = 0
    let start = 0
    let message = 0
    for (const append of operation.appends) {
      if (append.applies === undefined || this.#advance(append.tenant, append.applies)) {
        this.#place(operation, append, start, placed, written)
        this.#messages(operation, append, message)
        this.#tenant(append.tenant)
        written += append.end - start
      }
      start = append.end
      message = append.messages
    }
    const samples = placed.subarray(0, written * SAMPLE)
    if (written > 0) storeBlock(this.#db, { samples, words: operation.block.words })
    return written
  }

  forget(): void {
    this.#series.forget()
    this.#streams.forget()
    this.#tenants.clear()
  }

  /** False when the position was applied before. */
  #advance(tenant: string, { log, partition, position, rewinds }: LogPlace): boolean {
    return this.#db.run(rewinds === true ? REWIND : ADVANCE, tenant, log, partition, position) > 0
  }

  /** Copies the samples of an append, with the keys of their series. */
  #place(
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
      const place = seriesOfCode(code)
      let key = keys.get(place)
      if (key === undefined) {
        key = this.#series.key(tenant, names[place * 2] ?? '', names[place * 2 + 1] ?? '')
        keys.set(place, key)
      }
      into[at + CODE] = codeOf(key, kindOfCode(code))
    }
  }

  #messages({ texts, stamps }: AppendOperation, { tenant, messages }: Append, start: number): void {
    this.#messageRows.run(messages - start, (row, values, at) => {
      const i = start + row
      const text = texts[i * 3 + 2] ?? ''
      values[at] = this.#streams.key(tenant, texts[i * 3] ?? '', texts[i * 3 + 1] ?? '')
      values[at + 1] = stamps[i * 2] ?? 0
      values[at + 2] = this.#digest(text, at / MESSAGE_COLUMNS)
      values[at + 3] = text
      values[at + 4] = expiryOf(stamps[i * 2 + 1])
    })
  }

  /** Good until that place of a statement is filled again: a list of its own for each would cost more than its digest. */
  #digest(text: string, place: number): Uint8Array {
    const digest = this.#digests[place] ?? Buffer.alloc(DIGEST_BYTES)
    digest.write(hash('sha256', text, 'binary'), 0, DIGEST_BYTES, 'binary')
    return digest
  }

  #tenant(tenant: string): void {
    if (this.#tenants.has(tenant)) return
    this.#db.run('INSERT OR IGNORE INTO tenants (name) VALUES (?)', tenant)
    if (this.#tenants.size < MAX_TENANTS) this.#tenants.add(tenant)
  }
}

const MESSAGE_COLUMNS = 5
const DIGEST_BYTES = 16
const MAX_TENANTS = 10_000

const expiryOf = (time: number | undefined): number | null => (time === undefined || Number.isNaN(time) ? null : time)

const INSERT_MESSAGES = 'INSERT OR IGNORE INTO messages (stream, time, digest, body, expires) VALUES'
const REWIND = `
  INSERT INTO applied (tenant, log, partition, position) VALUES (?, ?, ?, ?)
  ON CONFLICT (tenant, log, partition) DO UPDATE SET position = excluded.position`
const ADVANCE = `${REWIND} WHERE excluded.position > position`
