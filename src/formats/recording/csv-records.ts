/** Records and cells of CSV, from lines as they come. */
import { MAX_LINE } from './lines.ts'

export interface RecordTaker {
  /** the cells of a record that began in that line */
  record(cells: readonly string[], line: number): void
  problem(line: number, message: string, suggestion: string): void
}

/**
 * Records of a CSV text by RFC 4180, from its lines: cells may stand in quotes, and then hold commas, line breaks and
 * doubled quotes. A CR before the end of a line is part of the end, but inside of quotes. Blank lines between records are nothing.
 *
 * A quote that is opened and never closed properly would swallow the rest of the file. It is reported where it was
 * opened, and reading goes on in the line after it, so that one slip hides no other. That stays linear: of the lines
 * that are read again only the last can open a quote, because any line that could have would have ended the first.
 * The package csv-parse 7 goes on inside the open quote: it names later lines in place of the torn one, and loses them.
 */
export class CsvRecords {
  readonly #taker: RecordTaker
  #cells: string[] = []
  /** the text so far of a cell whose quote is open */
  #cell = ''
  /** the lines of the open record, for the case that its quote never closes */
  #lines: string[] = []
  #length = 0
  #first = 0

  constructor(taker: RecordTaker) {
    this.#taker = taker
  }

  /** Whether the next line may belong to a record that began before it. */
  get isOpen(): boolean {
    return this.#lines.length > 0
  }

  line(text: string, number: number): void {
    if (this.#lines.length === 0) {
      if (text.trim() === '') return
      if (!text.includes('"')) return this.#taker.record(withoutReturn(text).split(','), number)
      this.#first = number
    }
    this.#lines.push(text)
    this.#length += text.length
    const problem = this.#scan(text)
    if (problem === 'open') {
      if (this.#length > MAX_LINE) this.#giveUp()
      return
    }
    if (problem !== undefined && this.#lines.length > 1) return this.#giveUp()
    const cells = this.#cells
    this.#reset()
    if (problem === undefined) this.#taker.record(cells, this.#first)
    else this.#taker.problem(number, problem.message, problem.suggestion)
  }

  end(): void {
    while (this.#lines.length > 0) this.#giveUp()
  }

  #scan(line: string): undefined | 'open' | { message: string; suggestion: string } {
    let quoted = this.#lines.length > 1
    if (quoted) this.#cell += '\n'
    let at = 0
    for (;;) {
      if (quoted) {
        const quote = line.indexOf('"', at)
        if (quote === -1) {
          this.#cell += line.slice(at)
          return 'open'
        }
        this.#cell += line.slice(at, quote)
        at = quote + 1
        if (line[at] === '"') {
          this.#cell += '"'
          at++
          continue
        }
        this.#cells.push(this.#cell)
        this.#cell = ''
        quoted = false
        if (at === line.length || (line[at] === '\r' && at + 1 === line.length)) return undefined
        if (line[at] !== ',') {
          return {
            message: `there is text after the closing quote of cell ${this.#cells.length}`,
            suggestion: 'a quote inside a cell is written twice ("")',
          }
        }
        at++
      } else if (line[at] === '"') {
        quoted = true
        at++
      } else {
        const comma = line.indexOf(',', at)
        const cell = comma === -1 ? withoutReturn(line.slice(at)) : line.slice(at, comma)
        if (cell.includes('"')) {
          return {
            message: `cell ${this.#cells.length + 1} has a quote in the middle`,
            suggestion: 'put the whole cell in quotes and write the quote inside twice ("")',
          }
        }
        this.#cells.push(cell)
        if (comma === -1) return undefined
        at = comma + 1
      }
    }
  }

  #giveUp(): void {
    const lines = this.#lines
    const first = this.#first
    this.#reset()
    this.#taker.problem(first, 'a quote is opened here and never closed', 'close the cell with a second quote')
    for (const [index, text] of lines.entries()) if (index > 0) this.line(text, first + index)
  }

  #reset(): void {
    this.#cells = []
    this.#cell = ''
    this.#lines = []
    this.#length = 0
  }
}

function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text
}
