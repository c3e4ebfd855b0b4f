/** Reads unambiguous CSV rows as bytes, without a string per cell, and leaves others to `CsvFormat`. */
import { ByteTexts } from './byte-texts.ts'
import { lookAt, type ColumnLook, type ColumnTypes } from './column-types.ts'
import { CellFault, cellValue, isMetricName } from './csv-cells.ts'
import { MAX_LINE, type TakenLines } from './lines.ts'
import type { RecordedRow } from './message-taker.ts'
import type { RecordingTimes } from './times.ts'
import type { ValueType, ValueTypes } from './value-types.ts'

/** Column indexes; -1 when absent. */
export interface CsvColumns {
  readonly time: number
  readonly resource: number
  readonly metric: number
  readonly value: number
}

export interface CsvRowsOptions {
  readonly header: readonly string[]
  readonly columns: CsvColumns
  readonly types: ValueTypes | undefined
  readonly headerTypes: readonly (ValueType | undefined)[]
  /** if set, only infers the column types, without values */
  readonly look: ColumnTypes | undefined
  /** default for rows without a resource */
  readonly resource: string | undefined
  readonly times: RecordingTimes
  /** returns false to leave the row to `CsvFormat` */
  readonly takeRow: (row: RecordedRow, line: number) => boolean
}

const [LINE_FEED, CARRIAGE_RETURN, QUOTE, COMMA, MINUS, POINT, ZERO, NINE] = [10, 13, 34, 44, 45, 46, 48, 57]
/** number of digits up to which JavaScript numbers are exact */
const EXACT_DIGITS = 15
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, digits) => 10 ** digits)

class Row implements RecordedRow {
  resource = ''
  timestamp = 0
  count = 0
  readonly metrics: string[] = []
  readonly values: unknown[] = []

  add(metric: string, value: unknown): void {
    this.metrics[this.count] = metric
    this.values[this.count++] = value
  }
}

export class CsvRows {
  readonly #options: CsvRowsOptions
  readonly #last: number
  readonly #ends: Int32Array
  readonly #hashes: Int32Array
  readonly #resources = new ByteTexts((text) => text.trim())
  readonly #metrics = new ByteTexts(metricOf)
  /** cached without metric names, since faults are not reported here */
  readonly #values = new Map<ValueType, ByteTexts<unknown>>()
  readonly #looks = new ByteTexts(lookAt)
  readonly #columns: readonly CellColumn[]
  readonly #row = new Row()

  constructor(options: CsvRowsOptions) {
    this.#options = options
    const cells = options.header.length
    const isWide = options.columns.value === -1
    this.#columns = isWide ? options.header.map((metric, cell) => this.#columnOf(metric, cell)) : []
    this.#last = cells - 1
    this.#ends = new Int32Array(cells)
    this.#hashes = new Int32Array(cells)
  }

  take(chunk: Uint8Array, start: number, line: number): TakenLines {
    let [end, lines] = [start, 0]
    for (;;) {
      const next = this.#cells(chunk, end)
      if (next === -1 || !this.#hand(chunk, end, line + lines)) return { end, lines }
      end = next
      lines += 1
    }
  }

  /** Splits a row into cells. Returns the start of the next row, or -1 if the row must be left. */
  #cells(chunk: Uint8Array, start: number): number {
    const [ends, hashes, last] = [this.#ends, this.#hashes, this.#last]
    const bound = Math.min(chunk.length, start + MAX_LINE)
    let cell = 0
    let hash = 0
    for (let at = start; at < bound; at += 1) {
      const byte = chunk[at] ?? 0
      if (byte > COMMA) {
        hash = (Math.imul(hash, 31) + byte) | 0
      } else if (byte === COMMA) {
        if (cell === last) return -1
        ends[cell] = at
        hashes[cell] = hash
        hash = 0
        cell += 1
      } else if (byte === LINE_FEED) {
        if (cell !== last) return -1
        ends[cell] = at > start && chunk[at - 1] === CARRIAGE_RETURN ? at - 1 : at
        hashes[cell] = hash
        return at + 1
      } else if (byte === QUOTE) {
        return -1
      }
    }
    return -1
  }

  #hand(chunk: Uint8Array, start: number, line: number): boolean {
    const { columns, resource: usual, times, takeRow } = this.#options
    const row = this.#row
    const time = times.readBytes(chunk, this.#startOf(columns.time, start), this.#ends[columns.time] ?? 0)
    if (time === undefined) return false
    row.timestamp = time
    const named = columns.resource === -1 ? '' : this.#meaning(this.#resources, chunk, columns.resource, start)
    const resource = named === '' ? usual : named
    if (resource === undefined) return false
    row.resource = resource
    row.count = 0
    if (columns.value === -1) {
      if (!this.#takeAll(chunk, start, line)) return false
    } else {
      const metric = this.#meaning(this.#metrics, chunk, columns.metric, start)
      if (metric === undefined) return false
      if (!this.#takeCell(chunk, columns.value, start, this.#columnOf(metric, columns.value), line)) return false
    }
    return takeRow(row, line)
  }

  #takeAll(chunk: Uint8Array, start: number, line: number): boolean {
    const { header, columns } = this.#options
    for (let cell = 0; cell < header.length; cell += 1) {
      if (cell === columns.time || cell === columns.resource) continue
      const column = this.#columns[cell]
      if (column !== undefined && !this.#takeCell(chunk, cell, start, column, line)) return false
    }
    return true
  }

  #columnOf(metric: string, cell: number): CellColumn {
    const { types, headerTypes, look } = this.#options
    const declared = types?.get(metric)
    if (declared !== undefined) look?.addDeclared(metric)
    const type = declared ?? headerTypes[cell]
    const isOpen = type === undefined && cell !== this.#options.columns.time && cell !== this.#options.columns.resource
    return { metric, type: type ?? 'text', look: isOpen ? look?.of(metric) : undefined }
  }

  #takeCell(
    chunk: Uint8Array,
    cell: number,
    rowStart: number,
    { metric, type, look }: CellColumn,
    line: number,
  ): boolean {
    const start = this.#startOf(cell, rowStart)
    const end = this.#ends[cell] ?? 0
    if (start === end) return true
    const hash = this.#hashes[cell] ?? 0
    if (this.#options.look !== undefined) {
      if (look === undefined || look.isDecided) return true
      if (isPlainDecimal(chunk, start, end)) look.takeNumber()
      else look.take(this.#looks.get(chunk, start, end, hash), line)
      return true
    }
    const number = type === 'number' ? decimal(chunk, start, end) : Number.NaN
    const value = Number.isNaN(number) ? this.#valuesOf(type).get(chunk, start, end, hash) : number
    if (value instanceof CellFault) return false
    if (value !== undefined) this.#row.add(metric, value)
    return true
  }

  #valuesOf(type: ValueType): ByteTexts<unknown> {
    let values = this.#values.get(type)
    if (values === undefined) this.#values.set(type, (values = new ByteTexts((text) => cellValue(text, type, ''))))
    return values
  }

  #meaning<Meaning>(texts: ByteTexts<Meaning>, chunk: Uint8Array, cell: number, rowStart: number): Meaning {
    return texts.get(chunk, this.#startOf(cell, rowStart), this.#ends[cell] ?? 0, this.#hashes[cell] ?? 0)
  }

  #startOf(cell: number, rowStart: number): number {
    return cell === 0 ? rowStart : (this.#ends[cell - 1] ?? 0) + 1
  }
}

interface CellColumn {
  readonly metric: string
  readonly type: ValueType
  readonly look: ColumnLook | undefined
}

function metricOf(text: string): string | undefined {
  const name = text.trim()
  return name !== '' && isMetricName(name) ? name : undefined
}

/** Parses a number such as `-12.25` as JavaScript does. Returns NaN for too many digits or another form. */
function decimal(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  let digits = 0
  let point = -1
  for (let at = first; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte >= ZERO && byte <= NINE) digits = digits * 10 + (byte - ZERO)
    else if (byte === POINT && point === -1 && at > first) point = at
    else return Number.NaN
  }
  if (first === end || end - first > EXACT_DIGITS) return Number.NaN
  // Both operands are exact, so only the quotient is rounded.
  const number = point === -1 ? digits : digits / (POWERS[end - point - 1] ?? 1)
  return isNegative ? -number : number
}

function isPlainDecimal(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  if (end - first > EXACT_DIGITS || Number.isNaN(decimal(bytes, start, end))) return false
  if (bytes[end - 1] === POINT) return false
  return bytes[first] !== ZERO || end - first === 1 || bytes[first + 1] === POINT
}
