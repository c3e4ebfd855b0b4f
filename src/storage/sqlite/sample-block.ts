/** Stores samples as a block of numbers, until they are folded into chunks. */
import { damaged } from '../damage.ts'
import { sumOf } from './checksum.ts'
import type { Database } from './database.ts'

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
