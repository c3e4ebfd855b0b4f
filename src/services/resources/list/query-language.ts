/**
 * The language of `query`: `<path>:<operator>(<arguments>)` or `<path>:<value>`, put together by AND, OR and brackets; AND
 * binds closer. Texts with other characters stand in double quotes; a number without quotes is compared by its value.
 */
import { isPath } from './project.ts'

export const OPERATORS = ['eq', 'in', 'lt', 'lte', 'gt', 'gte', 'ref', 'exists', 'like'] as const
export type Operator = (typeof OPERATORS)[number]

export interface Term {
  readonly kind: 'term'
  readonly path: string
  readonly op: Operator
  readonly args: readonly Argument[]
}

export interface Argument {
  readonly text: string
  readonly isQuoted: boolean
  /** its value, when it is a number without quotes */
  readonly number?: number
}

const NUMBER = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[+-]?\d{1,3})?$/i

/** The value of a text that is a decimal number and nothing else. */
export function numberIn(text: string): number | undefined {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

export type Query =
  | Term
  | { readonly kind: 'and'; readonly parts: readonly Query[] }
  | { readonly kind: 'or'; readonly parts: readonly Query[] }

const LONGEST = 4_000
const MAX_TERMS = 50
const MAX_BRACKETS = 10
const MAX_ARGUMENTS = 100

/** What the text asks, or what is wrong with it. */
export function parseQuery(text: string): { readonly query: Query } | { readonly problem: string } {
  if (text.length > LONGEST) return { problem: `has ${text.length} characters, at most ${LONGEST} are read` }
  try {
    return { query: new Parser(text).parse() }
  } catch (error) {
    if (error instanceof Wrong) return { problem: error.message }
    throw error
  }
}

/** Stays in this file. */
class Wrong extends Error {}

const SPACE = /\s/
const ENDS_WORD = /[\s():,"]/
const ENDS_VALUE = /[\s()"]/
const ENDS_ARGUMENT = /[(),"]/

function quoted(text: string): Argument {
  return { text, isQuoted: true }
}

function bare(text: string): Argument {
  const number = numberIn(text)
  return { text, isQuoted: false, ...(number !== undefined && { number }) }
}

class Parser {
  readonly #text: string
  #at = 0
  #terms = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): Query {
    const query = this.#either(0)
    if (this.#at < this.#text.length) throw this.#wrong('AND or OR')
    return query
  }

  #either(level: number): Query {
    const parts = [this.#both(level)]
    while (this.#takeWord('OR')) parts.push(this.#both(level))
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : { kind: 'or', parts }
  }

  #both(level: number): Query {
    const parts = [this.#unit(level)]
    while (this.#takeWord('AND')) parts.push(this.#unit(level))
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : { kind: 'and', parts }
  }

  #unit(level: number): Query {
    this.#skipSpace()
    if (!this.#take('(')) return this.#term()
    if (level >= MAX_BRACKETS) throw new Wrong(`nests deeper than ${MAX_BRACKETS} brackets`)
    const query = this.#either(level + 1)
    this.#expect(')')
    return query
  }

  #term(): Term {
    if (++this.#terms > MAX_TERMS) throw new Wrong(`has more than ${MAX_TERMS} terms`)
    const start = this.#at
    const path = this.#isNext('"') ? this.#quoted() : this.#until(ENDS_WORD)
    if (!isPath(path)) {
      this.#at = start
      throw this.#wrong('the path of an attribute')
    }
    this.#expect(':')
    if (this.#isNext('"')) return { kind: 'term', path, op: 'eq', args: [quoted(this.#quoted())] }
    const value = this.#until(ENDS_VALUE)
    if (!this.#isNext('(')) {
      if (value === '') throw this.#wrong('a value or an operator')
      return { kind: 'term', path, op: 'eq', args: [bare(value)] }
    }
    const op = OPERATORS.find((operator) => operator === value)
    if (op === undefined) throw new Wrong(`the operator "${value}" is unknown; use one of ${OPERATORS.join(', ')}`)
    return { kind: 'term', path, op, args: this.#arguments(op) }
  }

  #arguments(op: Operator): readonly Argument[] {
    this.#expect('(')
    const args: Argument[] = []
    this.#skipSpace()
    if (!this.#isNext(')')) {
      do {
        this.#skipSpace()
        args.push(this.#isNext('"') ? quoted(this.#quoted()) : bare(this.#until(ENDS_ARGUMENT).trim()))
        this.#skipSpace()
      } while (this.#take(',') && args.length < MAX_ARGUMENTS)
    }
    this.#expect(')')
    const wanted = op === 'exists' ? 'no argument' : op === 'in' ? 'at least one argument' : 'one argument'
    const isRight = op === 'exists' ? args.length === 0 : op === 'in' ? args.length > 0 : args.length === 1
    if (!isRight) throw new Wrong(`${op} takes ${wanted}, not ${args.length}`)
    return args
  }

  /** After the opening quote up to the closing one; a backslash keeps the next character. */
  #quoted(): string {
    this.#at += 1
    let text = ''
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at] ?? ''
      if (char === '"') {
        this.#at += 1
        return text
      }
      if (char === '\\') this.#at += 1
      text += this.#text[this.#at] ?? ''
    }
    throw this.#wrong('a closing quote')
  }

  #until(end: RegExp): string {
    const start = this.#at
    while (this.#at < this.#text.length && !end.test(this.#text[this.#at] ?? '')) this.#at += 1
    return this.#text.slice(start, this.#at)
  }

  #takeWord(word: string): boolean {
    this.#skipSpace()
    const end = this.#at + word.length
    const after = this.#text[end] ?? ' '
    if (this.#text.slice(this.#at, end).toUpperCase() !== word || !(SPACE.test(after) || after === '(')) return false
    this.#at = end
    return true
  }

  #take(char: string): boolean {
    if (!this.#isNext(char)) return false
    this.#at += 1
    return true
  }

  #expect(char: string): void {
    if (char === ')') this.#skipSpace()
    if (!this.#take(char)) throw this.#wrong(`"${char}"`)
  }

  #isNext(char: string): boolean {
    return this.#text[this.#at] === char
  }

  #skipSpace(): void {
    while (SPACE.test(this.#text[this.#at] ?? '')) this.#at += 1
  }

  #wrong(expected: string): Wrong {
    const found = this.#text.slice(this.#at, this.#at + 20)
    return new Wrong(`${expected} is expected at character ${this.#at + 1}, before ${JSON.stringify(found)}`)
  }
}
