/** Reads a recording as CSV or NDJSON, depending on its first character. */
import { at, decodeNumbers, isPlainObject, jsonProblem, longIntegersOf, shownDigits } from '#kernel'
import type { ColumnTypes } from './column-types.ts'
import { CellFault, cellValue } from './csv-cells.ts'
import { CsvFormat } from './csv-format.ts'
import { findJsonProblem } from './json-problem.ts'
import { LineSplitter, type LineTaker, MAX_LINE, NO_LINES, type TakenLines } from './lines.ts'
import type { LineProblem, MessageFormat, MessageTaker, ReadingOptions } from './message-taker.ts'
import { type EpochSpan, RecordingTimes } from './times.ts'
import { asUtf8 } from './utf8.ts'
import type { ValueType, ValueTypes } from './value-types.ts'

export type RecordingFormat = 'CSV' | 'NDJSON'

/** In line order, yielding after each chunk. A first character `{` begins NDJSON, anything else CSV. */
export async function* readMessages(
  content: AsyncIterable<Uint8Array>,
  options: ReadingOptions,
  taker: MessageTaker,
): AsyncGenerator<undefined, RecordingFormat | undefined> {
  const { kind, isRefused } = yield* readLines(content, options, taker)
  return isRefused ? undefined : kind
}

export interface ReadFile {
  readonly kind: RecordingFormat | undefined
  readonly isRefused: boolean
  readonly fileProblems: readonly LineProblem[]
  readonly epochs: EpochSpan | undefined
  readonly headerTypes: ValueTypes
}

export async function* readLines(
  content: AsyncIterable<Uint8Array>,
  options: ReadingOptions,
  taker: MessageTaker,
  columns?: ColumnTypes,
): AsyncGenerator<undefined, ReadFile> {
  const lines = new Lines(options, taker, columns)
  const splitter = new LineSplitter(lines)
  let first = true
  for await (const chunk of asUtf8(content, options.encoding ?? 'utf-8')) {
    const foreign = first ? foreignBytes(chunk) : undefined
    if (foreign !== undefined) return lines.refuse({ line: 1, ...foreign })
    first = false
    splitter.push(chunk)
    if (lines.isRefused) return lines
    yield
  }
  splitter.end()
  lines.end()
  yield
  return lines
}

class Lines implements LineTaker, ReadFile {
  readonly #options: ReadingOptions
  readonly #taker: MessageTaker
  readonly #columns: ColumnTypes | undefined
  #format: MessageFormat | undefined
  readonly #problems: LineProblem[] = []
  kind: RecordingFormat | undefined
  isRefused = false

  constructor(options: ReadingOptions, taker: MessageTaker, columns: ColumnTypes | undefined) {
    this.#options = options
    this.#taker = taker
    this.#columns = columns
  }

  get epochs(): EpochSpan | undefined {
    return this.#format?.epochs
  }

  get headerTypes(): ValueTypes {
    return this.#format?.headerTypes ?? NO_TYPES
  }

  get fileProblems(): readonly LineProblem[] {
    return [...this.#problems, ...(this.#format?.fileProblems ?? [])]
  }

  refuse(problem: LineProblem): this {
    this.isRefused = true
    this.#problems.push(problem)
    this.#taker.problem(problem)
    return this
  }

  line(text: string, number: number): void {
    if (this.isRefused) return
    this.#format ??= this.#choose(text.trimStart(), number)
    this.#format?.line(text, number)
  }

  lines(chunk: Uint8Array, start: number, number: number): TakenLines {
    return this.#format?.lines?.(chunk, start, number) ?? NO_LINES
  }

  tooLong(line: number): void {
    this.#taker.problem({
      line,
      message: `the line is longer than ${MAX_LINE} characters`,
      suggestion: 'use one message per line',
    })
  }

  end(): void {
    this.#format?.end()
  }

  #choose(start: string, line: number): MessageFormat | undefined {
    if (start === '') return undefined
    if (start.startsWith('[')) {
      const suggestion = 'use one message per line without a surrounding list: jq -c ".[]" FILE'
      this.refuse({ line, message: 'the recording is one JSON list', suggestion })
      return undefined
    }
    const { delimiter, decimal, map } = this.#options
    if (start.startsWith('{') && (delimiter ?? decimal ?? map) !== undefined) {
      this.refuse({
        line,
        message: 'the recording is NDJSON',
        suggestion: 'omit delimiter, decimal and map, which are for CSV',
      })
      return undefined
    }
    this.kind = start.startsWith('{') ? 'NDJSON' : 'CSV'
    return this.kind === 'CSV'
      ? new CsvFormat(this.#options, this.#taker, this.#columns)
      : new NdjsonFormat(this.#options, this.#taker, this.#columns)
  }
}

const NO_TYPES: ValueTypes = new Map()

function foreignBytes(chunk: Uint8Array): { message: string; suggestion: string } | undefined {
  const [a, b] = chunk
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    return { message: 'the file is UTF-16', suggestion: 'save it as UTF-8' }
  }
  if (a === 0x1f && b === 0x8b) {
    return {
      message: 'the file is compressed',
      suggestion: 'decompress it: gunzip -c FILE | reflexarc simulate RULE --messages -',
    }
  }
  return undefined
}

const MAX_DEPTH = 64
/** Key that represents NaN and infinities, which JSON lacks. */
const NUMBER_KEY = '"$number"'

/** Reads one JSON object per line. `timestamp` is required; `resource` is too, unless there is a default. */
class NdjsonFormat implements MessageFormat {
  readonly #taker: MessageTaker
  readonly #times: RecordingTimes
  readonly #resource: string | undefined
  readonly #everyProblem: boolean
  readonly #types: ValueTypes | undefined
  readonly #columns: ColumnTypes | undefined
  #hasReportedResource = false

  constructor(options: ReadingOptions, taker: MessageTaker, columns?: ColumnTypes) {
    this.#taker = taker
    this.#columns = columns
    this.#types = options.types
    this.#times = new RecordingTimes(options.zone, options.unit)
    this.#resource = options.resource
    this.#everyProblem = options.everyProblem === true
  }

  get epochs(): EpochSpan | undefined {
    return this.#times.epochs
  }

  line(text: string, line: number): void {
    if (text.trim() === '') return
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return this.#taker.problem(notJson(text, line))
    }
    if (!isPlainObject(value)) {
      return this.#refuse(
        line,
        `a message is expected, not ${Array.isArray(value) ? 'a list' : JSON.stringify(value)}`,
        'use one JSON object per line',
      )
    }
    const problem = jsonProblem(value, MAX_DEPTH)
    if (problem !== undefined) return this.#refuse(line, `the message ${problem}`, 'remove it')
    if (this.#columns !== undefined) this.#addDeclared(value, this.#columns)
    if (!this.#keepDigits(text, value, line)) return
    if (value['timestamp'] === undefined) {
      return this.#refuse(line, '"timestamp" is missing', 'add ISO 8601 or epoch milliseconds')
    }
    const timestamp = this.#times.read(value['timestamp'])
    if (typeof timestamp !== 'number') return this.#taker.problem({ line, ...timestamp })
    const resource = value['resource'] ?? this.#resource
    if (resource === undefined) return this.#noResource(line)
    if (typeof resource !== 'string' || resource === '') {
      return this.#refuse(line, `${JSON.stringify(resource)} is not a valid resource`, 'use a text that is not empty')
    }
    const values = text.includes(NUMBER_KEY) ? (decodeNumbers(value) as Record<string, unknown>) : value
    if (!this.#readTypes(values, line)) return
    this.#taker.message({ ...values, resource, timestamp }, line)
  }

  end(): void {}

  #addDeclared(value: Readonly<Record<string, unknown>>, columns: ColumnTypes): void {
    for (const metric of this.#types?.keys() ?? []) if (Object.hasOwn(value, metric)) columns.addDeclared(metric)
  }

  /** Keeps long integers as texts where the metric is text; returns false for any other long integer. */
  #keepDigits(text: string, value: Record<string, unknown>, line: number): boolean {
    for (const { steps, digits } of longIntegersOf(text)) {
      const [metric = '', ...inner] = steps
      if (inner.length === 0 && this.#types?.get(String(metric)) === 'text') {
        value[metric] = digits
        continue
      }
      const name = at('', ...steps).slice(1)
      this.#refuse(
        line,
        `${name} is ${shownDigits(digits)}, which has more digits than a number can hold`,
        `use a text${inner.length === 0 ? `, or read it as one: --types ${metric}=text` : ''}`,
      )
      return false
    }
    return true
  }

  #readTypes(values: Record<string, unknown>, line: number): boolean {
    for (const [metric, type] of this.#types ?? []) {
      const raw = Object.hasOwn(values, metric) ? values[metric] : undefined
      if (raw === undefined || raw === null) continue
      const value = typedValue(raw, type, metric)
      if (value instanceof CellFault) {
        this.#refuse(line, value.message, value.suggestion)
        return false
      }
      values[metric] = value ?? null
    }
    return true
  }

  /** Reports a missing resource once, unless every line counts, because repetitions would hide other problems. */
  #noResource(line: number): void {
    if (this.#hasReportedResource && !this.#everyProblem) return
    this.#hasReportedResource = true
    this.#refuse(
      line,
      'the resource of the message is missing',
      'add --resource R, or "resource": "..." to the message',
    )
  }

  #refuse(line: number, message: string, suggestion: string): void {
    this.#taker.problem({ line, message, suggestion })
  }
}

function typedValue(value: unknown, type: ValueType, metric: string): unknown {
  if (type === 'json' || typeof value === (type === 'text' ? 'string' : type)) return value
  if (type === 'text' && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  if (typeof value === 'string') return cellValue(value, type, metric)
  return new CellFault(`${metric} is ${JSON.stringify(value)}, which is not of type ${type}`, `omit it from --types`)
}

function notJson(text: string, line: number): LineProblem {
  const found = findJsonProblem(text)
  if (found === undefined) return { line, message: 'the line is not JSON', suggestion: 'use one JSON object per line' }
  const problem = { line, message: `column ${found.column}: ${found.message}` }
  return found.suggestion === undefined ? problem : { ...problem, suggestion: found.suggestion }
}
