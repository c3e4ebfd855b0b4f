/** Streams rows as CSV, written directly as bytes, since building texts and encoding them takes three times as long. */
import { csvText, withoutFormula, type Yielder } from '#kernel'
import { type CellColumn, type RowBatch, rowSlices } from '../execution/row-batch.ts'
import type { Cell } from '../interpolation/fill.ts'

const [COMMA, RETURN, NEWLINE] = [0x2c, 0x0d, 0x0a] as const

export async function* csvParts(
  headers: readonly string[],
  batches: AsyncIterable<RowBatch>,
  yielder: Yielder,
  isSafe = false,
): AsyncGenerator<Uint8Array> {
  const textOf = isSafe ? (text: string): string => csvText(withoutFormula(text)) : csvText
  yield Buffer.from(`${['timestamp', ...headers].map(textOf).join(',')}\r\n`)
  const rows = new Rows(textOf)
  for await (const { times, cells, from, until } of rowSlices(batches, yielder)) {
    const [only] = cells
    if (cells.length === 1 && only instanceof Float64Array) rows.addNumbers(times, only, from, until)
    else rows.add(times, cells, from, until)
    yield rows.take()
  }
}

/** usual size of a part in bytes */
const ROOM = 65_536

class Rows {
  readonly #time = new TimeText()
  readonly #textOf: (text: string) => string
  #bytes = Buffer.allocUnsafe(ROOM)
  #at = 0

  constructor(textOf: (text: string) => string) {
    this.#textOf = textOf
  }

  addNumbers(times: Float64Array, numbers: Float64Array, from: number, until: number): void {
    const time = this.#time
    const into = this.#room((until - from) * (LONGEST_TIME + MAX_DIGITS + 3))
    let at = this.#at
    for (let i = from; i < until; i += 1) {
      at = time.write(times[i] ?? 0, into, at)
      into[at] = COMMA
      at = writeNumber(numbers[i] ?? 0, into, at + 1)
      into[at] = RETURN
      into[at + 1] = NEWLINE
      at += 2
    }
    this.#at = at
  }

  add(times: Float64Array, cells: readonly CellColumn[], from: number, until: number): void {
    for (let i = from; i < until; i += 1) {
      this.#at = this.#time.write(times[i] ?? 0, this.#room(LONGEST_TIME), this.#at)
      for (const column of cells) this.#cell(column[i] ?? null)
      const into = this.#room(2)
      into[this.#at] = RETURN
      into[this.#at + 1] = NEWLINE
      this.#at += 2
    }
  }

  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#at)
    // the default size, so that one long text does not enlarge all later buffers
    this.#bytes = Buffer.allocUnsafe(ROOM)
    this.#at = 0
    return taken
  }

  #cell(cell: Cell): void {
    if (typeof cell === 'number') {
      const into = this.#room(MAX_DIGITS + 1)
      into[this.#at] = COMMA
      this.#at = writeNumber(cell, into, this.#at + 1)
      return
    }
    const text = cell === null ? '' : typeof cell === 'string' ? this.#textOf(cell) : String(cell)
    // UTF-8 takes at most three bytes per UTF-16 unit
    const into = this.#room(text.length * 3 + 1)
    into[this.#at] = COMMA
    this.#at += 1
    this.#at += into.write(text, this.#at)
  }

  #room(more: number): Buffer {
    if (this.#at + more > this.#bytes.length) {
      const larger = Buffer.allocUnsafe((this.#at + more) * 2)
      larger.set(this.#bytes.subarray(0, this.#at))
      this.#bytes = larger
    }
    return this.#bytes
  }
}

const [DAY, HOUR, MINUTE, SECOND] = [86_400_000, 3_600_000, 60_000, 1_000] as const
/** bytes of the longest time, since years beyond four digits are written with a sign and six digits */
const LONGEST_TIME = 30

/** Times in UTC with six fractional digits; the text of the day is cached. */
class TimeText {
  #day = Number.NaN
  #text: Uint8Array = new Uint8Array()

  write(time: number, into: Uint8Array, from: number): number {
    const day = Math.floor(time / DAY)
    if (day !== this.#day) {
      this.#day = day
      this.#text = Buffer.from(new Date(day * DAY).toISOString().replace(/Z$/, '000Z'))
    }
    const text = this.#text
    const { length } = text
    for (let i = 0; i < length; i += 1) into[from + i] = text[i] ?? 0
    const at = from + length
    const inDay = time - day * DAY
    const hour = (inDay / HOUR) | 0
    const inHour = inDay - hour * HOUR
    const minute = (inHour / MINUTE) | 0
    const inMinute = inHour - minute * MINUTE
    const second = (inMinute / SECOND) | 0
    const ms = inMinute - second * SECOND
    // layout: ...THH:MM:SS.mmm000Z
    writeTwo(into, at - 16, hour)
    writeTwo(into, at - 13, minute)
    if (inMinute === 0) return at
    writeTwo(into, at - 10, second)
    const tenths = (ms / 100) | 0
    into[at - 7] = ZERO + tenths
    writeTwo(into, at - 6, ms - tenths * 100)
    return at
  }
}

/** Writes numbers as ASCII bytes, in JavaScript's format. */
const ZERO = 0x30
const [MINUS, POINT] = [0x2d, 0x2e] as const
/** maximum number of bytes of a number */
export const MAX_DIGITS = 26
/** limit of the fast path in thousandths; below it, the decimal text is also the shortest one for the number */
const MAX_THOUSANDTHS = 1e12

export function writeNumber(value: number, into: Uint8Array, from: number): number {
  const thousandths = Math.round(Math.abs(value) * 1_000)
  // most measurements have at most three decimals
  if (!(thousandths < MAX_THOUSANDTHS) || thousandths / 1_000 !== Math.abs(value)) {
    return writeText(String(value), into, from)
  }
  let at = from
  if (value < 0) {
    into[at] = MINUS
    at += 1
  }
  const whole = Math.floor(thousandths / 1_000)
  at = writeWhole(whole, into, at)
  let rest = thousandths - whole * 1_000
  if (rest === 0) return at
  into[at] = POINT
  at += 1
  for (let unit = 100; rest > 0; unit /= 10) {
    const digit = (rest / unit) | 0
    into[at] = ZERO + digit
    at += 1
    rest -= digit * unit
  }
  return at
}

function writeTwo(into: Uint8Array, at: number, value: number): void {
  const tens = (value / 10) | 0
  into[at] = ZERO + tens
  into[at + 1] = ZERO + value - tens * 10
}

function writeWhole(value: number, into: Uint8Array, from: number): number {
  let end = from + 1
  for (let bound = 10; bound <= value; bound *= 10) end += 1
  let rest = value
  for (let at = end - 1; at >= from; at -= 1) {
    const tens = Math.floor(rest / 10)
    into[at] = ZERO + rest - tens * 10
    rest = tens
  }
  return end
}

function writeText(text: string, into: Uint8Array, from: number): number {
  for (let i = 0; i < text.length; i += 1) into[from + i] = text.charCodeAt(i)
  return from + text.length
}
