/** Locates and explains the first JSON syntax error; the package jsonc-parser 3 recurses with the nesting. */
export interface JsonProblem {
  line: number
  /** from 1, in UTF-16 units */
  column: number
  message: string
  suggestion?: string
  text: string
}

const SPACE = /[ \t\r\n]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const NUMBER_LIKE = /[+-]?[\w.]+(?:[+-]\d+)?/y
const WORD = /[\p{L}_$][\p{L}\p{N}_$-]*/uy
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const PLAIN = /[^"\\\u0000-\u001f]*/y

const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ['undefined', 'null, or omit the key'],
  ['NaN', 'null: JSON lacks NaN'],
  ['Infinity', 'a number: JSON lacks Infinity'],
])

class Stop extends Error {
  readonly offset: number
  readonly suggestion: string | undefined

  constructor(offset: number, message: string, suggestion?: string) {
    super(message)
    this.offset = offset
    this.suggestion = suggestion
  }
}

/** Returns undefined if the text is valid JSON. Takes linear time. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  try {
    new Walk(text).document()
    return undefined
  } catch (stop) {
    if (!(stop instanceof Stop)) throw stop
    const start = text.lastIndexOf('\n', stop.offset - 1) + 1
    const end = text.indexOf('\n', start)
    const problem = {
      line: text.slice(0, start).split('\n').length,
      column: stop.offset - start + 1,
      message: stop.message,
      text: text.slice(start, end === -1 ? undefined : end).replace(/\r$/, ''),
    }
    return stop.suggestion === undefined ? problem : { ...problem, suggestion: stop.suggestion }
  }
}

export function excerptOf(problem: JsonProblem): string {
  const from = Math.max(0, problem.column - 60)
  const shown = problem.text.slice(from, from + 100).replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
  return `  ${shown}\n  ${' '.repeat(problem.column - 1 - from)}^`
}

/** Walks the grammar with an explicit stack, so that deep nesting cannot overflow. */
class Walk {
  readonly #text: string
  readonly #open: number[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): void {
    this.#space()
    if (this.#at >= this.#text.length) throw new Stop(0, 'the text is empty', 'use a JSON object, { ... }')
    let isValueNext = true
    for (;;) {
      if (isValueNext) isValueNext = this.#value()
      else if (this.#open.length > 0) isValueNext = this.#afterValue()
      else break
    }
    this.#space()
    if (this.#at < this.#text.length) {
      throw new Stop(this.#at, `unexpected text after the end of the JSON: ${this.#here()}`, 'use a single JSON value')
    }
  }

  #value(): boolean {
    const char = this.#text[this.#at]
    if (char === '{' || char === '[') {
      this.#open.push(this.#at)
      this.#at++
      this.#space()
      if (this.#text[this.#at] === (char === '{' ? '}' : ']')) {
        this.#open.pop()
        this.#at++
        return false
      }
      if (char === '{') this.#key()
      return true
    }
    if (char === '"') this.#string()
    else this.#scalar()
    return false
  }

  /** Returns true after a comma, because a value must follow. */
  #afterValue(): boolean {
    this.#space()
    const opened = this.#open.at(-1) ?? 0
    const inObject = this.#text[opened] === '{'
    const char = this.#text[this.#at]
    if (char === (inObject ? '}' : ']')) {
      this.#open.pop()
      this.#at++
      return false
    }
    if (char === undefined) this.#unclosed()
    if (char !== ',') {
      const closers = char === '}' || char === ']'
      throw new Stop(
        this.#at,
        closers
          ? `unexpected "${char}": the ${inObject ? '{' : '['} of ${this.#positionOf(opened)} is still open`
          : `a comma is missing before ${this.#here()}`,
        closers
          ? `close it with ${inObject ? '}' : ']'} first`
          : `add a comma between two ${inObject ? 'fields' : 'items'}`,
      )
    }
    const comma = this.#at
    this.#at++
    this.#space()
    const next = this.#text[this.#at]
    if (next === '}' || next === ']') {
      throw new Stop(comma, `unexpected comma before the closing ${next}`, 'remove the trailing comma')
    }
    if (next === undefined) this.#unclosed()
    if (inObject) this.#key()
    return true
  }

  #key(): void {
    if (this.#text[this.#at] !== '"') {
      if (this.#at >= this.#text.length) this.#unclosed()
      this.#refuseForeign('a key')
      const word = this.#match(WORD)
      throw word === ''
        ? new Stop(this.#at, `a key is expected here, not ${this.#here()}`, 'use keys in double quotes')
        : new Stop(this.#at, `the key ${word} lacks quotes`, `use "${word}"`)
    }
    this.#string()
    this.#space()
    if (this.#text[this.#at] === undefined) this.#unclosed()
    if (this.#text[this.#at] !== ':') {
      throw new Stop(this.#at, `a colon is missing before ${this.#here()}`, 'use "key": value')
    }
    this.#at++
    this.#space()
  }

  #string(): void {
    const start = this.#at
    this.#at++
    for (;;) {
      this.#at += this.#match(PLAIN).length
      const char = this.#text[this.#at]
      if (char === '"') break
      if (char === undefined || char === '\n' || char === '\r') {
        throw new Stop(
          start,
          'the text that begins here lacks a closing quote on its line',
          'close it with "; write a line break as \\n',
        )
      }
      if (char !== '\\') {
        throw new Stop(
          this.#at,
          'a text contains a control character',
          char === '\t' ? 'write a tab as \\t' : 'write it as \\u and four digits',
        )
      }
      const escape = this.#match(ESCAPE)
      if (escape === '') {
        throw new Stop(
          this.#at,
          `${this.#text.slice(this.#at, this.#at + 2)} is not a valid JSON escape`,
          'write a backslash itself twice: \\\\',
        )
      }
      this.#at += escape.length
    }
    this.#at++
  }

  #scalar(): void {
    if (this.#at >= this.#text.length) this.#unclosed()
    this.#refuseForeign('a value')
    const word = this.#match(WORD)
    if (word === 'true' || word === 'false' || word === 'null') {
      this.#at += word.length
      return
    }
    if (word !== '') {
      const right = FOREIGN.get(word)
      throw new Stop(
        this.#at,
        `${word} is not a JSON value`,
        right === undefined ? `use "${word}" for a text` : `use ${right}`,
      )
    }
    const number = this.#match(NUMBER)
    const whole = this.#match(NUMBER_LIKE)
    if (number !== '' && number.length >= whole.length) {
      this.#at += number.length
      return
    }
    if (whole !== '')
      throw new Stop(
        this.#at,
        `${whole} is not a valid JSON number`,
        'use a form such as 0.5, -3 or 1e6, without plus sign and leading zeros',
      )
    throw new Stop(
      this.#at,
      `a value is expected here, not ${this.#here()}`,
      'a text, number, true, false, null, [ ... ] or { ... }',
    )
  }

  #refuseForeign(wanted: string): void {
    const two = this.#text.slice(this.#at, this.#at + 2)
    if (two === '//' || two === '/*')
      throw new Stop(this.#at, 'comments are not allowed in JSON', 'remove it, or use a note of the rule')
    const char = this.#text[this.#at] ?? ''
    if (char === "'" || char === '`')
      throw new Stop(this.#at, `${wanted} is in ${char === "'" ? 'single quotes' : 'backticks'}`, 'use double quotes')
    if (char === '“' || char === '”')
      throw new Stop(this.#at, `${wanted} is in typographic quotes`, 'use plain double quotes: "')
  }

  #unclosed(): never {
    const opened = this.#open.at(-1)
    if (opened === undefined) throw new Stop(this.#text.length, 'the text ends where a value is expected')
    const bracket = this.#text[opened] ?? ''
    const end = this.#text.trimEnd().length
    throw new Stop(
      end,
      `the text ends, but the ${bracket} of ${this.#positionOf(opened)} is still open`,
      `close it with ${bracket === '{' ? '}' : ']'}`,
    )
  }

  #positionOf(offset: number): string {
    const before = this.#text.slice(0, offset)
    return `line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`
  }

  #here(): string {
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)
    if (char === '"') return 'a double quote'
    return char.trim() === '' ? 'white space that JSON does not allow' : `"${char}"`
  }

  #space(): void {
    this.#at += this.#match(SPACE).length
    const two = this.#text.slice(this.#at, this.#at + 2)
    if (two === '//' || two === '/*') this.#refuseForeign('')
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.[0] ?? ''
  }
}
