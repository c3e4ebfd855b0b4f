/** Messages of a recording in CSV. */
import { FORBIDDEN_KEYS } from '../kernel/json.ts'
import { cellValue, isMetricName } from './csv-cells.ts'
import { CsvRecords, type RecordTaker } from './csv-records.ts'
import { CsvRows } from './csv-rows.ts'
import { NO_LINES, type TakenLines } from './lines.ts'
import type { MessageFormat, MessageTaker, ReadingOptions, RecordedMessage } from './message-taker.ts'
import { RecordingTimes } from './times.ts'

const LONG: ReadonlySet<string> = new Set(['resource', 'metric', 'timestamp', 'value'])

/**
 * Messages of a CSV with a header row: `timestamp` is needed, `resource` is used when there, all else are metrics. With
 * the columns `metric` and `value` and no others besides, each row is one value: the long form.
 */
export class CsvFormat implements MessageFormat, RecordTaker {
  readonly #taker: MessageTaker
  readonly #records: CsvRecords
  readonly #times: RecordingTimes
  readonly #resource: string | undefined
  #header: readonly string[] | undefined
  readonly #everyProblem: boolean
  #timeColumn = -1
  #resourceColumn = -1
  /** of the long form */
  #metricColumn = -1
  #valueColumn = -1
  #toldResource = false
  /** of a taker of rows, once there is a header without a fault */
  #rows: CsvRows | undefined

  constructor(options: ReadingOptions, taker: MessageTaker) {
    this.#taker = taker
    this.#records = new CsvRecords(this)
    this.#times = new RecordingTimes(options.zone)
    this.#resource = options.resource
    this.#everyProblem = options.everyProblem === true
  }

  line(text: string, number: number): void {
    this.#records.line(text, number)
  }

  lines(chunk: Uint8Array, start: number, number: number): TakenLines {
    return this.#rows === undefined || this.#records.isOpen ? NO_LINES : this.#rows.take(chunk, start, number)
  }

  end(): void {
    this.#records.end()
  }

  problem(line: number, message: string, suggestion: string): void {
    this.#taker.problem({ line, message, suggestion })
  }

  record(cells: readonly string[], line: number): void {
    if (this.#header === undefined) return this.#takeHeader(cells, line)
    // Without a time column no line can be used, and the header has been reported.
    if (this.#timeColumn === -1) return
    if (cells.length !== this.#header.length) return this.#wrongCount(cells.length, this.#header, line)
    const timestamp = this.#times.read(cells[this.#timeColumn] ?? '')
    if (typeof timestamp !== 'number') return this.#taker.problem({ line, ...timestamp })
    const named = this.#resourceColumn === -1 ? '' : (cells[this.#resourceColumn] ?? '').trim()
    const resource = named === '' ? this.#resource : named
    if (resource === undefined) return this.#noResource(line)
    const message: RecordedMessage = { resource, timestamp }
    if (this.#valueColumn !== -1) return this.#takeValue(cells, message, line)
    for (let index = 0; index < cells.length; index++) {
      if (index === this.#timeColumn || index === this.#resourceColumn) continue
      const value = cellValue(cells[index] ?? '')
      if (value !== undefined) message[this.#header[index] ?? ''] = value
    }
    this.#taker.message(message, line)
  }

  /** A row of the long form. */
  #takeValue(cells: readonly string[], message: RecordedMessage, line: number): void {
    const metric = (cells[this.#metricColumn] ?? '').trim()
    if (metric === '') return this.problem(line, 'the row names no metric', 'write its name into the column metric')
    if (!isMetricName(metric)) {
      return this.problem(line, `a metric cannot be named "${metric}"`, 'rename it')
    }
    const value = cellValue(cells[this.#valueColumn] ?? '')
    if (value !== undefined) message[metric] = value
    this.#taker.message(message, line)
  }

  #takeHeader(cells: readonly string[], line: number): void {
    const header = cells.map((cell) => cell.trim())
    this.#header = header
    this.#resourceColumn = header.indexOf('resource')
    const seen = new Set<string>()
    for (const [index, name] of header.entries()) {
      if (name === '') this.problem(line, `column ${index + 1} of the header has no name`, 'name each column')
      else if (seen.has(name))
        this.problem(line, `two columns are named "${name}"`, 'give each column a name of its own')
      else if (FORBIDDEN_KEYS.has(name)) this.problem(line, `a column cannot be named "${name}"`, 'rename it')
      seen.add(name)
    }
    this.#timeColumn = header.indexOf('timestamp')
    if (this.#timeColumn === -1) this.problem(line, ...missingTime(header))
    if (header.includes('metric') && header.includes('value') && header.every((name) => LONG.has(name))) {
      this.#metricColumn = header.indexOf('metric')
      this.#valueColumn = header.indexOf('value')
    }
    const isSound = seen.size === header.length && !header.some((name) => name === '' || FORBIDDEN_KEYS.has(name))
    if (isSound && this.#timeColumn !== -1) this.#rows = this.#rowsOf(header)
  }

  #rowsOf(header: readonly string[]): CsvRows | undefined {
    const taker = this.#taker
    if (taker.row === undefined) return undefined
    return new CsvRows({
      header,
      columns: {
        time: this.#timeColumn,
        resource: this.#resourceColumn,
        metric: this.#metricColumn,
        value: this.#valueColumn,
      },
      resource: this.#resource,
      times: this.#times,
      takeRow: (row, line) => taker.row?.(row, line) === true,
    })
  }

  #wrongCount(found: number, header: readonly string[], line: number): void {
    const wanted = header.length
    const hint = found > wanted ? 'a cell with a comma in it stands in quotes' : 'an empty cell still has its comma'
    const names = header.length > 8 ? `${header.slice(0, 8).join(',')},...` : header.join(',')
    this.problem(line, `${count(found, 'cell')}, but the header has ${wanted}`, `${names}; ${hint}`)
  }

  /** Once is enough, unless each line counts: the other lines are alike, and would hide what else is wrong. */
  #noResource(line: number): void {
    if (this.#toldResource && !this.#everyProblem) return
    this.#toldResource = true
    this.problem(line, 'the message names no resource', 'add --resource R, or a column named resource')
  }
}

function missingTime(header: readonly string[]): [message: string, suggestion: string] {
  const [only = ''] = header
  const separator = [';', '\t', '|'].find((mark) => only.includes(mark))
  if (header.length === 1 && separator !== undefined) {
    const shown = separator === '\t' ? 'tabs' : `"${separator}"`
    return [`the cells are separated by ${shown}`, 'separate them by commas']
  }
  const near = header.find((name) => /^(?:time|date|ts|datum|zeit|when)|timestamp|time$/i.test(name))
  const rename =
    near === undefined ? 'the first line of a CSV names its columns, timestamp,value for one' : `rename "${near}"`
  return [
    `no column is named "timestamp" among ${header
      .slice(0, 8)
      .map((name) => `"${name}"`)
      .join(', ')}`,
    rename,
  ]
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
