/** Parses conditions combined with AND, OR and brackets, and with NOT in languages that have it. */

const LONGEST = 4_000
const MAX_TERMS = 50
const MAX_BRACKETS = 10
const SPACE = /\s/

/** Syntax error; `readConditions` catches it. */
export class TextProblem extends Error {}

export type Conditions<T> =
  | T
  | { readonly kind: 'and'; readonly parts: readonly Conditions<T>[] }
  | { readonly kind: 'or'; readonly parts: readonly Conditions<T>[] }

export type NegatedConditions<T> =
  | T
  | { readonly kind: 'and'; readonly parts: readonly NegatedConditions<T>[] }
  | { readonly kind: 'or'; readonly parts: readonly NegatedConditions<T>[] }
  | { readonly kind: 'not'; readonly part: NegatedConditions<T> }

/** Parses a language without NOT, whose conditions are joined by operators. */
export function readConditions<T>(text: string, term: (text: ConditionText) => T): Read<Conditions<T>> {
  // NOT is not parsed, so the result contains none
  return read(text, { term, hasNot: false }) as Read<Conditions<T>>
}

/** Parses a language with NOT, in which adjacent conditions must all hold. */
export function readNegatable<T>(text: string, term: (text: ConditionText) => T): Read<NegatedConditions<T>> {
  return read(text, { term, hasNot: true })
}

type Read<Q> = { readonly query: Q } | { readonly problem: string }

interface Language<T> {
  readonly term: (text: ConditionText) => T
  readonly hasNot: boolean
}

function read<T>(text: string, language: Language<T>): Read<NegatedConditions<T>> {
  if (text.length > LONGEST) return { problem: `has ${text.length} characters; at most ${LONGEST} are accepted` }
  try {
    return { query: new Reader(new ConditionText(text), language).read() }
  } catch (error) {
    if (error instanceof TextProblem) return { problem: error.message }
    throw error
  }
}

class Reader<T> {
  readonly #text: ConditionText
  readonly #language: Language<T>
  #terms = 0

  constructor(text: ConditionText, language: Language<T>) {
    this.#text = text
    this.#language = language
  }

  read(): NegatedConditions<T> {
    const query = this.#either(0)
    if (!this.#text.isAtEnd) throw this.#text.expected('AND or OR')
    return query
  }

  #either(level: number): NegatedConditions<T> {
    const parts = [this.#both(level)]
    while (this.#text.takeWord('OR')) parts.push(this.#both(level))
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : { kind: 'or', parts }
  }

  #both(level: number): NegatedConditions<T> {
    const parts = [this.#unit(level)]
    while (this.#text.takeWord('AND') || this.#isBeside()) parts.push(this.#unit(level))
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : { kind: 'and', parts }
  }

  /** True when another condition follows without an operator. */
  #isBeside(): boolean {
    this.#text.skipSpace()
    return this.#language.hasNot && !this.#text.isAtEnd && !this.#text.isNext(')') && !this.#text.isWord('OR')
  }

  #unit(level: number): NegatedConditions<T> {
    this.#text.skipSpace()
    if (this.#language.hasNot && this.#text.takeWord('NOT')) {
      deeper(level)
      return { kind: 'not', part: this.#unit(level + 1) }
    }
    if (!this.#text.take('(')) {
      if (++this.#terms > MAX_TERMS) throw new TextProblem(`has more than ${MAX_TERMS} terms`)
      return this.#language.term(this.#text)
    }
    deeper(level)
    const query = this.#either(level + 1)
    this.#text.expect(')')
    return query
  }
}

function deeper(level: number): void {
  if (level >= MAX_BRACKETS) throw new TextProblem(`nests deeper than ${MAX_BRACKETS} brackets`)
}

export class ConditionText {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    this.skipSpace()
    return this.#at >= this.#text.length
  }

  get offset(): number {
    return this.#at
  }

  goTo(offset: number): void {
    this.#at = offset
  }

  isNext(char: string): boolean {
    return this.#text[this.#at] === char
  }

  isWord(word: string): boolean {
    this.skipSpace()
    const end = this.#at + word.length
    const after = this.#text[end] ?? ' '
    return this.#text.slice(this.#at, end).toUpperCase() === word && (SPACE.test(after) || after === '(')
  }

  takeWord(word: string): boolean {
    if (!this.isWord(word)) return false
    this.#at += word.length
    return true
  }

  take(char: string): boolean {
    if (!this.isNext(char)) return false
    this.#at += 1
    return true
  }

  expect(char: string): void {
    if (char === ')') this.skipSpace()
    if (!this.take(char)) throw this.expected(`"${char}"`)
  }

  skipSpace(): void {
    while (SPACE.test(this.#text[this.#at] ?? '')) this.#at += 1
  }

  until(end: RegExp): string {
    const start = this.#at
    while (this.#at < this.#text.length && !end.test(this.#text[this.#at] ?? '')) this.#at += 1
    return this.#text.slice(start, this.#at)
  }

  /** `escape`: the character that makes the next one literal; default: none. */
  quoted(escape?: string): string {
    this.#at += 1
    let text = ''
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at] ?? ''
      if (char === '"') {
        this.#at += 1
        return text
      }
      if (char === escape) this.#at += 1
      text += this.#text[this.#at] ?? ''
    }
    throw this.expected('a closing quote')
  }

  expected(what: string): TextProblem {
    const found = this.#text.slice(this.#at, this.#at + 20)
    return new TextProblem(`${what} is expected at character ${this.#at + 1}, before ${JSON.stringify(found)}`)
  }
}
