/**
 * Samples as a block of numbers: on their way to the writer, and as they stand in series.db until they are folded. A row
 * each would cost more than all the rest of writing them.
 */
import { damaged } from '../damage.ts'
import { sumOf } from './checksum.ts'
import type { Database, SqlValue } from './database.ts'

export interface SampleBlock {
  /** `SAMPLE` numbers for each: see the places below. In the byte order of the machine */
  readonly samples: Float64Array<ArrayBuffer>
  /** the texts among the values, each once */
  readonly words: readonly string[]
}

/** numbers of a sample */
export const SAMPLE = 4
/** `codeOf` its series and its kind; its time; its value; when it expires, NaN where it stays */
export const [CODE, TIME, VALUE, EXPIRES] = [0, 1, 2, 3] as const
/** The value is itself; 0 or 1; the place of a text in `words`. */
export const [NUMBER, TRUTH, TEXT] = [0, 1, 2] as const

const KINDS = 4

export const codeOf = (series: number, kind: number): number => series * KINDS + kind
export const seriesOfCode = (code: number): number => Math.floor(code / KINDS)
/** A remainder of numbers that may be large is a call. */
export const kindOfCode = (code: number): number => code - Math.floor(code / KINDS) * KINDS

/** Puts the sample at a place into `row`, from `at`: series, time, value, other, expires and sum, as `samples` has them. */
export function putSample({ samples, words }: SampleBlock, place: number, row: SqlValue[], at: number): void {
  const from = place * SAMPLE
  const code = samples[from + CODE] ?? 0
  const kind = kindOfCode(code)
  const value = samples[from + VALUE] ?? 0
  const expires = samples[from + EXPIRES] ?? Number.NaN
  row[at] = seriesOfCode(code)
  row[at + 1] = samples[from + TIME] ?? 0
  row[at + 2] = kind === NUMBER ? value : null
  // A truth value as a whole number, which no other value in its column is.
  row[at + 3] = kind === NUMBER ? null : kind === TRUTH ? BigInt(value) : (words[value] ?? '')
  row[at + 4] = Number.isNaN(expires) ? null : expires
  row[at + 5] = sumOfSample(row, at)
}

/** Of a row of `samples`, its values from a place on: series, time, value, other and expires. */
export function sumOfSample(row: readonly SqlValue[], at: number): number {
  const other = row[at + 3]
  const truth = typeof other === 'bigint' ? Number(other) : other
  return sumOf([row[at], row[at + 1], row[at + 2], truth, row[at + 4]], other)
}

/** columns that `putSample` fills */
export const SAMPLE_COLUMNS = 6

/** A block of series.db. Its words are read when they are first asked for: few readers need them. */
export class StoredBlock implements SampleBlock {
  readonly key: number
  readonly samples: Float64Array<ArrayBuffer>
  readonly #json: string | null
  #words: readonly string[] | undefined

  /** `DAMAGED` when it is not what was written. */
  constructor(key: number, bytes: Uint8Array<ArrayBuffer>, json: string | null, sum: number) {
    if (sumOf([], bytes, json) !== sum) throw damaged(`The block ${key} of samples that arrived lately`)
    this.key = key
    this.samples = numbersOf(bytes)
    this.#json = json
  }

  get words(): readonly string[] {
    this.#words ??= this.#json === null ? [] : (JSON.parse(this.#json) as readonly string[])
    return this.#words
  }
}

/** Where they stand, if numbers can begin there: a copy would cost more than the read. */
function numbersOf(bytes: Uint8Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const isAligned = bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0
  const { buffer, byteOffset, byteLength } = isAligned ? bytes : new Uint8Array(bytes)
  return new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT)
}

/** Blocks that are not folded, in the order of their arrival. */
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

/** How many blocks there are that are not folded, and samples in them. */
export function countBlocks(db: Database): { readonly blocks: number; readonly samples: number } {
  const sql = `SELECT count(*), total(length(samples)) FROM ${BLOCKS}`
  const [blocks, bytes] = db.row<[number, number]>(sql) ?? [0, 0]
  return { blocks, samples: bytes / (SAMPLE * Float64Array.BYTES_PER_ELEMENT) }
}

const BLOCKS = 'main.arrivals'
