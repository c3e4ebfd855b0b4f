/** Messages of a recording in JSON lines. */
import { decodeNumbers } from '../core/task/json-numbers.ts'
import { FORBIDDEN_KEYS, isPlainObject } from '../kernel/json.ts'
import { findJsonProblem } from './json-problem.ts'
import type { LineProblem, MessageFormat, MessageTaker, ReadingOptions } from './message-taker.ts'
import { RecordingTimes } from './times.ts'

/** A message nested deeper than this is refused. */
const MAX_DEPTH = 64
/** How NaN and the infinities are written, which JSON has no word for. */
const NUMBER_KEY = '"$number"'

/** Messages as one JSON object a line: `timestamp` is needed, `resource` unless a default is given. */
export class NdjsonFormat implements MessageFormat {
  readonly #taker: MessageTaker
  readonly #times: RecordingTimes
  readonly #resource: string | undefined
  readonly #everyProblem: boolean
  #toldResource = false

  constructor(options: ReadingOptions, taker: MessageTaker) {
    this.#taker = taker
    this.#times = new RecordingTimes(options.zone)
    this.#resource = options.resource
    this.#everyProblem = options.everyProblem === true
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
        'one JSON object a line',
      )
    }
    const bad = badKey(value, 1)
    if (bad !== undefined) return this.#refuse(line, bad, 'leave it out')
    if (value['timestamp'] === undefined) {
      return this.#refuse(line, 'the message has no "timestamp"', 'add one: ISO 8601, or epoch seconds or milliseconds')
    }
    const timestamp = this.#times.read(value['timestamp'])
    if (typeof timestamp !== 'number') return this.#taker.problem({ line, ...timestamp })
    const resource = value['resource'] ?? this.#resource
    if (resource === undefined) return this.#noResource(line)
    if (typeof resource !== 'string' || resource === '') {
      return this.#refuse(
        line,
        `${JSON.stringify(resource)} is not a resource`,
        'a resource is a text that is not empty',
      )
    }
    const values = text.includes(NUMBER_KEY) ? (decodeNumbers(value) as Record<string, unknown>) : value
    this.#taker.message({ ...values, resource, timestamp }, line)
  }

  end(): void {}

  /** Once is enough, unless each line counts: the other lines are alike, and would hide what else is wrong. */
  #noResource(line: number): void {
    if (this.#toldResource && !this.#everyProblem) return
    this.#toldResource = true
    this.#refuse(line, 'the message names no resource', 'add --resource R, or "resource": "..." to the message')
  }

  #refuse(line: number, message: string, suggestion: string): void {
    this.#taker.problem({ line, message, suggestion })
  }
}

function notJson(text: string, line: number): LineProblem {
  const found = findJsonProblem(text)
  if (found === undefined) return { line, message: 'the line is not JSON', suggestion: 'one JSON object a line' }
  const problem = { line, message: `column ${found.column}: ${found.message}` }
  return found.suggestion === undefined ? problem : { ...problem, suggestion: found.suggestion }
}

function badKey(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DEPTH) return `the message is nested more than ${MAX_DEPTH} levels deep`
  for (const key of Object.keys(value)) {
    if (FORBIDDEN_KEYS.has(key)) return `a message cannot have the key "${key}"`
    const bad = badKey((value as Record<string, unknown>)[key], depth + 1)
    if (bad !== undefined) return bad
  }
  return undefined
}
