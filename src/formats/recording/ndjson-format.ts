/** Reads recordings in NDJSON, one JSON object per line. */
import { at, decodeNumbers, isPlainObject, jsonProblem, longIntegersOf, shownDigits } from '#kernel'
import type { ColumnTypes } from './column-types.ts'
import { CellFault, cellValue } from './csv-cells.ts'
import { findJsonProblem } from './json-problem.ts'
import type { LineProblem, MessageFormat, MessageTaker, ReadingOptions } from './message-taker.ts'
import { RecordingTimes, type EpochSpan } from './times.ts'
import type { ValueType, ValueTypes } from './value-types.ts'

const MAX_DEPTH = 64
/** Key that represents NaN and infinities, which JSON lacks. */
const NUMBER_KEY = '"$number"'

/** Reads one JSON object per line. `timestamp` is required; `resource` is too, unless there is a default. */
export class NdjsonFormat implements MessageFormat {
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
