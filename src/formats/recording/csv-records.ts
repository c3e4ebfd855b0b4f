/** Splits lines into CSV records and cells. */
import { MAX_LINE } from './lines.ts'

export interface RecordTaker {
  record(cells: readonly string[], line: number): void
  problem(line: number, message: string, suggestion: string): void
}

/**
 * Parses CSV by RFC 4180. An unclosed quote is reported at its opening, and parsing continues in the next line. This
 * stays linear: of the lines parsed again only the last can open a quote. The package csv-parse 7 loses later lines.
 */
export class CsvRecords {
  readonly #taker: RecordTaker
  readonly #delimiter: string
  #cells: string[] = []
  #cell = ''
  #lines: string[] = []
  #length = 0
  #first = 0

  constructor(taker: RecordTaker, delimiter = ',') {
    this.#taker = taker
    this.#delimiter = delimiter
  }

  get isOpen(): boolean {
    return this.#lines.length > 0
  }

  line(text: string, number: number): void {
    if (this.#lines.length === 0) {
      if (text.trim() === '') return
      if (!text.includes('"')) return this.#taker.record(withoutReturn(text).split(this.#delimiter), number)
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
        if (line[at] !== this.#delimiter) {
          return {
            message: `cell ${this.#cells.length} has text after its closing quote`,
            suggestion: 'write a quote inside a cell twice ("")',
          }
        }
        at++
      } else if (line[at] === '"') {
        quoted = true
        at++
      } else {
        const end = line.indexOf(this.#delimiter, at)
        const cell = end === -1 ? withoutReturn(line.slice(at)) : line.slice(at, end)
        if (cell.includes('"')) {
          return {
            message: `cell ${this.#cells.length + 1} has a quote in the middle`,
            suggestion: 'quote the whole cell and write the inner quote twice ("")',
          }
        }
        this.#cells.push(cell)
        if (end === -1) return undefined
        at = end + 1
      }
    }
  }

  #giveUp(): void {
    const lines = this.#lines
    const first = this.#first
    this.#reset()
    this.#taker.problem(first, 'the quote opened here is never closed', 'close the cell with a second quote')
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
