/** Stores samples as a block of numbers, until they are folded into rows and chunks. */
import { damaged } from '../damage.ts'
import { sumOf } from './checksum.ts'
import type { Database, SqlValue } from './database.ts'

export interface SampleBlock {
  /** `SAMPLE` numbers per sample, at the offsets below; in native byte order */
  readonly samples: Float64Array<ArrayBuffer>
  readonly words: readonly string[]
}

export const SAMPLE = 4
/** offsets: `codeOf` series and kind; time; value; expiry (NaN for none) */
export const [CODE, TIME, VALUE, EXPIRES] = [0, 1, 2, 3] as const
/** Kinds of values: a number; a truth value as 0 or 1; a text as an index in `words`. */
export const [NUMBER, TRUTH, TEXT] = [0, 1, 2] as const

const KINDS = 4

export const codeOf = (series: number, kind: number): number => series * KINDS + kind
export const seriesOfCode = (code: number): number => Math.floor(code / KINDS)
/** Returns the kind in a code. For large numbers, `%` would compile to a function call. */
export const kindOfCode = (code: number): number => code - Math.floor(code / KINDS) * KINDS

/** In the order of the columns of `samples`: series, time, value, other, expires, sum. */
export function putSample({ samples, words }: SampleBlock, index: number, row: SqlValue[], at: number): void {
  const from = index * SAMPLE
  const code = samples[from + CODE] ?? 0
  const kind = kindOfCode(code)
  const value = samples[from + VALUE] ?? 0
  const expires = samples[from + EXPIRES] ?? Number.NaN
  row[at] = seriesOfCode(code)
  row[at + 1] = samples[from + TIME] ?? 0
  row[at + 2] = kind === NUMBER ? value : null
  // truth values are the only integers in the column `other`
  row[at + 3] = kind === NUMBER ? null : kind === TRUTH ? BigInt(value) : (words[value] ?? '')
  row[at + 4] = Number.isNaN(expires) ? null : expires
  row[at + 5] = sumOfSample(row, at)
}

export function sumOfSample(row: readonly SqlValue[], at: number): number {
  const other = row[at + 3]
  const truth = typeof other === 'bigint' ? Number(other) : other
  return sumOf([row[at], row[at + 1], row[at + 2], truth, row[at + 4]], other)
}

export const SAMPLE_COLUMNS = 6

/** A block of series.db. Its texts are parsed on demand, because few readers need them. */
export class StoredBlock implements SampleBlock {
  readonly key: number
  readonly samples: Float64Array<ArrayBuffer>
  readonly #json: string | null
  #words: readonly string[] | undefined

  constructor(key: number, bytes: Uint8Array<ArrayBuffer>, json: string | null, sum: number) {
    if (sumOf([], bytes, json) !== sum) throw damaged(`The block ${key} of recent samples`)
    this.key = key
    this.samples = numbersOf(bytes)
    this.#json = json
  }

  get words(): readonly string[] {
    this.#words ??= this.#json === null ? [] : (JSON.parse(this.#json) as readonly string[])
    return this.#words
  }
}

/** Views the bytes as numbers in place if aligned, since a copy would cost more than the read. */
function numbersOf(bytes: Uint8Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const isAligned = bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0
  const { buffer, byteOffset, byteLength } = isAligned ? bytes : new Uint8Array(bytes)
  return new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT)
}

export function* storedBlocks(db: Database): Generator<StoredBlock> {
  const rows = db.statement(`SELECT key, samples, words, sum FROM ${BLOCKS} ORDER BY key`).iterate()
  for (const row of rows as unknown as Iterable<readonly [number, Uint8Array<ArrayBuffer>, string | null, number]>) {
    yield new StoredBlock(...row)
  }
}

export function storeBlock(db: Database, { samples, words }: SampleBlock): void {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  const text = words.length === 0 ? null : JSON.stringify(words)
  db.run(`INSERT INTO ${BLOCKS} (samples, words, sum) VALUES (?, ?, ?)`, bytes, text, sumOf([], bytes, text))
}

export function countBlocks(db: Database): { readonly blocks: number; readonly samples: number } {
  const sql = `SELECT count(*), total(length(samples)) FROM ${BLOCKS}`
  const [blocks, bytes] = db.row<[number, number]>(sql) ?? [0, 0]
  return { blocks, samples: bytes / (SAMPLE * Float64Array.BYTES_PER_ELEMENT) }
}

const BLOCKS = 'main.arrivals'
