/** Reads an object of a body and remembers every problem, so that they are told at once. */
import {
  at,
  durationMs,
  FORBIDDEN_KEYS,
  isoInstant,
  isPlainObject,
  Issues,
  type Json,
  makeIssue,
  notAnInstant,
  refuse,
} from '#kernel'
import { wordIn } from './words.ts'

const MAX_DEPTH = 20
const TEN_YEARS_MS = 3650 * 86_400_000
const MAX_TIME = 8_640_000_000_000_000

export class BodyReader {
  readonly #body: Readonly<Record<string, unknown>>
  readonly #path: string
  readonly #issues: Issues

  private constructor(body: Readonly<Record<string, unknown>>, path: string, issues: Issues) {
    this.#body = body
    this.#path = path
    this.#issues = issues
  }

  /** Throws `VALIDATION` when the body is no object. */
  static of(body: unknown, what: string): BodyReader {
    if (isPlainObject(body)) return new BodyReader(body, '', new Issues('BODY'))
    throw refuse(what, [makeIssue('BODY', '', 'is no object', 'send a JSON object')])
  }

  get keys(): readonly string[] {
    return Object.keys(this.#body)
  }

  has(name: string): boolean {
    return this.#value(name) !== undefined
  }

  isNull(name: string): boolean {
    return this.#value(name) === null
  }

  /** The object at a name, whose problems are told with those of this one; undefined when there is none. */
  inner(name: string): BodyReader | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    if (isPlainObject(value)) return new BodyReader(value, this.#pathOf(name), this.#issues)
    this.wrong(name, 'Object value expected')
    return undefined
  }

  text(name: string, most: number): string | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string') this.wrong(name, 'String value expected')
    else if (value.length > most) this.wrong(name, `has ${value.length} characters`, `at most ${most}`)
    else return value
    return undefined
  }

  /** A text or a list of texts. */
  texts(name: string, most: number): readonly string[] | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (list.length > most) this.wrong(name, `has ${list.length} items`, `at most ${most}`)
    else if (!list.every((item) => typeof item === 'string')) this.wrong(name, 'String or list of strings expected')
    else return list
    return undefined
  }

  require(name: string): void {
    if (!this.has(name)) this.wrong(name, 'is required')
  }

  word<T extends string>(name: string, words: readonly T[]): T | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    const word = wordIn(words, value)
    if (word === undefined) this.wrong(name, unknownWord(name, words))
    return word
  }

  /** Epoch ms, of epoch ms or ISO 8601. */
  time(name: string): number | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    const time = typeof value === 'string' ? timeOf(value) : value
    if (typeof time === 'number' && Math.abs(time) <= MAX_TIME) return Math.trunc(time)
    this.wrong(name, notAnInstant(value), 'write ISO 8601 or epoch milliseconds')
    return undefined
  }

  /** Of ISO 8601, more than nothing and at most ten years. */
  duration(name: string): string | undefined {
    const text = this.text(name, 100)
    if (text === undefined) return undefined
    const ms = msOf(text)
    if (ms > 0 && ms <= TEN_YEARS_MS) return text
    this.wrong(name, `"${text}" is no duration`, 'write for example PT5M, at most 3650 days')
    return undefined
  }

  /** Plain JSON at a name: not deep, and without names that reach a prototype. */
  json(name: string): Json | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    return this.#isPlain(value, this.#pathOf(name), 0) ? (value as Json) : undefined
  }

  refuseOthers(known: readonly string[]): void {
    for (const key of this.keys)
      if (!known.includes(key)) this.wrong(key, 'is unknown', `known are ${known.join(', ')}`)
  }

  wrong(name: string, message: string, suggestion?: string): void {
    this.#issues.wrong(name === '' ? this.#path : this.#pathOf(name), message, suggestion)
  }

  /** Throws `VALIDATION` with all problems, when there are any. */
  done(what: string): void {
    this.#issues.throwIfAny(what)
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#body, name) ? this.#body[name] : undefined
  }

  #pathOf(name: string): string {
    return at(this.#path, name)
  }

  #isPlain(value: unknown, path: string, depth: number): boolean {
    if (typeof value !== 'object' || value === null) return true
    if (depth >= MAX_DEPTH) {
      this.#issues.wrong(path, `is deeper than ${MAX_DEPTH} levels`)
      return false
    }
    return Object.entries(value).every(([key, inner]) => {
      if (!FORBIDDEN_KEYS.has(key)) return this.#isPlain(inner, `${path}/${key}`, depth + 1)
      this.#issues.wrong(path, `the name ${key} is not allowed`)
      return false
    })
  }
}

export function unknownWord(name: string, words: readonly string[]): string {
  return `Could not parse ${name}, valid values are: ${words.join(', ')}`
}

function timeOf(text: string): number {
  return /^-?\d{1,16}$/.test(text) ? Number(text) : isoInstant(text)
}

function msOf(text: string): number {
  try {
    return durationMs(text)
  } catch {
    return Number.NaN
  }
}
