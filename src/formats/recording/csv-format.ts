/** Reads recordings in CSV. */
import { FORBIDDEN_KEYS } from '#kernel'
import { type ColumnTypes, lookAt } from './column-types.ts'
import { CellFault, cellValue, isMetricName } from './csv-cells.ts'
import { CsvRecords, type RecordTaker } from './csv-records.ts'
import { CsvRows } from './csv-rows.ts'
import { NO_LINES, type TakenLines } from './lines.ts'
import type { LineProblem, MessageFormat, MessageTaker, ReadingOptions, RecordedMessage } from './message-taker.ts'
import { type EpochSpan, RecordingTimes } from './times.ts'
import { typedName, type ValueType } from './value-types.ts'

const LONG: ReadonlySet<string> = new Set(['resource', 'metric', 'timestamp', 'value'])

/** Reads a CSV with a header row. If the only metrics are `metric` and `value`, each row is one value (long form). */
export class CsvFormat implements MessageFormat, RecordTaker {
  readonly fileProblems: LineProblem[] = []
  readonly #taker: MessageTaker
  readonly #options: ReadingOptions
  readonly #types: ReadingOptions['types']
  /** if set, only infers the column types and delivers no messages */
  readonly #columns: ColumnTypes | undefined
  readonly #records: CsvRecords
  readonly #times: RecordingTimes
  readonly #resource: string | undefined
  #header: readonly string[] | undefined
  #headerTypes: readonly (ValueType | undefined)[] = []
  readonly #everyProblem: boolean
  #timeColumn = -1
  #resourceColumn = -1
  #metricColumn = -1
  #valueColumn = -1
  #hasReportedResource = false
  #rows: CsvRows | undefined

  constructor(options: ReadingOptions, taker: MessageTaker, columns?: ColumnTypes) {
    this.#taker = taker
    this.#types = options.types
    this.#columns = columns
    this.#records = new CsvRecords(this, options.delimiter)
    this.#options = options
    this.#times = new RecordingTimes(options.zone, options.unit)
    this.#resource = options.resource
    this.#everyProblem = options.everyProblem === true
  }

  get epochs(): EpochSpan | undefined {
    return this.#times.epochs
  }

  get headerTypes(): ReadonlyMap<string, ValueType> {
    const types = new Map<string, ValueType>()
    for (const [index, type] of this.#headerTypes.entries()) {
      if (type !== undefined) types.set(this.#header?.[index] ?? '', type)
    }
    return types
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
    if (this.fileProblems.length > 0) return
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
      if (!this.#take(message, { metric: this.#header[index] ?? '', cell: cells[index] ?? '', index, line })) return
    }
    if (this.#columns === undefined) this.#taker.message(message, line)
  }

  #take(message: RecordedMessage, { metric, cell, index, line }: PlacedCell): boolean {
    const declared = this.#types?.get(metric)
    const type = declared ?? this.#headerTypes[index]
    if (this.#columns !== undefined) {
      if (declared !== undefined) this.#columns.addDeclared(metric)
      if (type === undefined) this.#columns.of(metric)?.take(lookAt(this.#pointed(cell)), line)
      return true
    }
    const value = cellValue(type === 'number' ? this.#pointed(cell) : cell, type ?? 'text', metric)
    if (value instanceof CellFault) {
      const message = type === 'number' ? value.message.replace(this.#pointed(cell), cell) : value.message
      this.#taker.problem({ line, message, suggestion: value.suggestion })
      return false
    }
    if (value !== undefined) message[metric] = value
    return true
  }

  #pointed(cell: string): string {
    return this.#options.decimal === ',' ? withPoint(cell) : cell
  }

  #takeValue(cells: readonly string[], message: RecordedMessage, line: number): void {
    const metric = (cells[this.#metricColumn] ?? '').trim()
    if (metric === '')
      return this.problem(line, 'the metric of the row is missing', 'set its name in the column metric')
    if (!isMetricName(metric)) {
      return this.problem(line, `"${metric}" is not a valid metric name`, 'rename it')
    }
    const index = this.#valueColumn
    const isGood = this.#take(message, { metric, cell: cells[index] ?? '', index, line })
    if (isGood && this.#columns === undefined) this.#taker.message(message, line)
  }

  #takeHeader(cells: readonly string[], line: number): void {
    const { map = new Map<string, string>() } = this.#options
    const columns = cells.map((cell) => cell.trim())
    const names = columns.map((cell) => typedName(map.get(cell) ?? cell))
    for (const column of map.keys()) {
      const shown = columns.slice(0, 8).join(', ')
      if (!columns.includes(column))
        this.#wrongHeader(line, `the header lacks the column "${column}" of map`, `name one of ${shown}`)
    }
    const header = names.map(({ name }) => name)
    this.#header = header
    this.#headerTypes = names.map(({ type }) => type)
    this.#resourceColumn = header.indexOf('resource')
    const seen = new Set<string>()
    for (const [index, name] of header.entries()) {
      if (name === '') this.#wrongHeader(line, `column ${index + 1} of the header lacks a name`, 'name each column')
      else if (seen.has(name))
        this.#wrongHeader(line, `two columns are named "${name}"`, 'use a different name for each column')
      else if (FORBIDDEN_KEYS.has(name)) this.#wrongHeader(line, `"${name}" is not a valid column name`, 'rename it')
      seen.add(name)
    }
    this.#timeColumn = header.indexOf('timestamp')
    if (this.#timeColumn === -1) this.#wrongHeader(line, ...missingTime(header))
    const metricColumn = names.findIndex(({ name, type }) => name === 'metric' && type === undefined)
    if (metricColumn !== -1 && header.includes('value') && header.every((name) => LONG.has(name))) {
      this.#metricColumn = metricColumn
      this.#valueColumn = header.indexOf('value')
    }
    if (this.fileProblems.length === 0) this.#rows = this.#rowsOf(header)
  }

  #wrongHeader(line: number, message: string, suggestion: string): void {
    this.fileProblems.push({ line, message, suggestion })
    this.problem(line, message, suggestion)
  }

  #rowsOf(header: readonly string[]): CsvRows | undefined {
    const taker = this.#taker
    const { delimiter = ',', decimal = '.' } = this.#options
    if (delimiter !== ',' || decimal !== '.') return undefined
    if (taker.row === undefined && this.#columns === undefined) return undefined
    return new CsvRows({
      header,
      types: this.#types,
      headerTypes: this.#headerTypes,
      look: this.#columns,
      columns: {
        time: this.#timeColumn,
        resource: this.#resourceColumn,
        metric: this.#metricColumn,
        value: this.#valueColumn,
      },
      resource: this.#resource,
      times: this.#times,
      takeRow: (row, line) => this.#columns !== undefined || taker.row?.(row, line) === true,
    })
  }

  #wrongCount(found: number, header: readonly string[], line: number): void {
    const wanted = header.length
    const hint = found > wanted ? 'quote cells that contain a delimiter' : 'keep the delimiter of an empty cell'
    const names = header.length > 8 ? `${header.slice(0, 8).join(',')},...` : header.join(',')
    this.problem(line, `${count(found, 'cell')}, but the header has ${wanted}`, `${names}; ${hint}`)
  }

  /** Reports a missing resource once, unless every line counts, because repetitions would hide other problems. */
  #noResource(line: number): void {
    if (this.#hasReportedResource && !this.#everyProblem) return
    this.#hasReportedResource = true
    this.problem(line, 'the resource of the message is missing', 'add --resource R, or a column named resource')
  }
}

interface PlacedCell {
  readonly metric: string
  readonly cell: string
  readonly index: number
  readonly line: number
}

function missingTime(header: readonly string[]): [message: string, suggestion: string] {
  const [only = ''] = header
  const separator = [';', '\t', '|'].find((mark) => only.includes(mark))
  if (header.length === 1 && separator !== undefined) {
    const shown = separator === '\t' ? 'tabs' : `"${separator}"`
    return [`the cells are separated by ${shown}`, `add --delimiter ${separator === '\t' ? 'tab' : `"${separator}"`}`]
  }
  if (header.some((name) => name.includes('\uFFFD'))) {
    return ['the names of the columns are not UTF-8', 'add --encoding latin1, or save the file as UTF-8']
  }
  const near = header.find((name) => /^(?:time|date|ts|datum|zeit|when)|timestamp|time$/i.test(name))
  const rename =
    near === undefined
      ? 'write the names of the columns in the first line, such as timestamp,value'
      : `rename "${near}", or add --map "${near}=timestamp"`
  return [
    `the header lacks the column "timestamp" among ${header
      .slice(0, 8)
      .map((name) => `"${name}"`)
      .join(', ')}`,
    rename,
  ]
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Reads numbers that are written with a decimal comma. */
const GROUPED = /^\s*[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?\s*$/
const SWAPPED: Readonly<Record<string, string>> = { '.': ',', ',': '.' }

/** `1.234,5` becomes `1234.5`; a number with a decimal point becomes a text that is not a number. */
function withPoint(cell: string): string {
  const swapped = cell.replaceAll(/[.,]/g, (mark) => SWAPPED[mark] ?? mark)
  return GROUPED.test(swapped) ? swapped.replaceAll(',', '') : swapped
}
