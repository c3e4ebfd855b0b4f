/** Parses the supported subset of PromQL, and rejects the rest by name. */
import { AppError } from '#kernel'
import { type Pattern, patternOf } from './pattern.ts'

export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'select'; readonly matchers: readonly Matcher[] }
  | { readonly kind: 'range'; readonly name: RangeFunction; readonly matchers: readonly Matcher[]; readonly ms: number }
  | { readonly kind: 'group'; readonly name: Aggregation; readonly by: readonly string[]; readonly of: Expression }
  | { readonly kind: 'math'; readonly name: Operator; readonly left: Expression; readonly right: Expression }

export interface Matcher {
  readonly label: string
  readonly isEqual: boolean
  readonly pattern: Pattern
}

const RANGE_FUNCTIONS = [
  'rate',
  'increase',
  'avg_over_time',
  'min_over_time',
  'max_over_time',
  'sum_over_time',
  'count_over_time',
  'last_over_time',
] as const
export type RangeFunction = (typeof RANGE_FUNCTIONS)[number]
const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count'] as const
export type Aggregation = (typeof AGGREGATIONS)[number]
export type Operator = '+' | '-' | '*' | '/'

const MAX_LENGTH = 10_000
const MAX_DEPTH = 50
const SUPPORTED = `use selectors, ${RANGE_FUNCTIONS.join(', ')}, ${AGGREGATIONS.join(', ')} with by, and + - * / with a number`
const TOKEN =
  /\s*(?:(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<duration>(?:\d+(?:ms|[smhdwy]))+)(?![\w.])|(?<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(?<word>[A-Za-z_][\w:]*)|(?<sign>=~|!~|!=|==|<=|>=|[-+*/%^=<>@,(){}[\]:]))/y
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
}

interface Token {
  readonly kind: 'text' | 'duration' | 'number' | 'word' | 'sign' | 'end'
  readonly text: string
}

const END: Token = { kind: 'end', text: 'the end of the query' }

/** Throws `VALIDATION`. */
export function parseQuery(query: string): Expression {
  const parser = new Parser(tokensOf(query))
  const expression = parser.sum(0)
  parser.end()
  return expression
}

/** Parses a selector alone, as in `match[]`. Throws `VALIDATION`. */
export function parseSelector(query: string): readonly Matcher[] {
  const found = parseQuery(query)
  if (found.kind !== 'select')
    throw invalid(`${JSON.stringify(query)} is not a selector; write one such as {resource="r"}`)
  return found.matchers
}

/** Parses a duration such as `5m` or `1h30m` to ms. Throws `VALIDATION`. */
export function promDuration(text: string): number {
  if (!/^(?:\d{1,9}(?:ms|[smhdwy]))+$/.test(text)) throw invalid(`"${text}" is not a duration; use a form such as 5m`)
  let ms = 0
  for (const [, count = '', unit = ''] of text.matchAll(/(\d+)(ms|[smhdwy])/g)) ms += Number(count) * (UNITS[unit] ?? 0)
  return ms
}

function tokensOf(query: string): readonly Token[] {
  if (query.length > MAX_LENGTH) throw invalid(`the query has more than ${MAX_LENGTH} characters`)
  const tokens: Token[] = []
  const end = query.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex
    const groups = TOKEN.exec(query)?.groups
    if (groups === undefined) throw invalid(`unexpected ${JSON.stringify(query.slice(at, at + 20).trim())}`)
    const [kind, text] = Object.entries(groups).find(([, value]) => value !== undefined) ?? ['end', '']
    tokens.push({ kind: kind as Token['kind'], text })
  }
  return tokens
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? END
  }

  #is(text: string): boolean {
    return this.#next.kind !== 'text' && this.#next.text === text
  }

  #take(text: string): boolean {
    if (!this.#is(text)) return false
    this.#at++
    return true
  }

  #need(text: string): void {
    if (!this.#take(text)) throw invalid(`expected ${text}, but found ${this.#next.text}`)
  }

  #word(kind: Token['kind'], what: string): string {
    const { kind: found, text } = this.#next
    if (found !== kind) throw invalid(`expected ${what}, but found ${text}`)
    this.#at++
    return text
  }

  end(): void {
    const { kind, text } = this.#next
    if (kind === 'end') return
    throw kind === 'sign' && ')]},'.includes(text) ? invalid(`unexpected ${text}`) : unsupported(text)
  }

  sum(depth: number): Expression {
    let left = this.#product(depth)
    for (;;) {
      const name = this.#take('+') ? '+' : this.#take('-') ? '-' : undefined
      if (name === undefined) return left
      left = math(name, left, this.#product(depth))
    }
  }

  #product(depth: number): Expression {
    let left = this.#unary(depth)
    for (;;) {
      const name = this.#take('*') ? '*' : this.#take('/') ? '/' : undefined
      if (name === undefined) return left
      left = math(name, left, this.#unary(depth))
    }
  }

  #unary(depth: number): Expression {
    if (depth > MAX_DEPTH) throw invalid(`the query is nested more than ${MAX_DEPTH} levels deep`)
    if (this.#take('-')) return math('*', { kind: 'number', value: -1 }, this.#unary(depth + 1))
    this.#take('+')
    const { kind, text } = this.#next
    if (kind === 'number') {
      this.#at++
      return { kind: 'number', value: Number(text) }
    }
    if (this.#take('(')) {
      const inner = this.sum(depth + 1)
      this.#need(')')
      return inner
    }
    if (text === '{') return { kind: 'select', matchers: this.#matchers() }
    if (kind !== 'word') throw invalid(`unexpected ${text}`)
    this.#at++
    const aggregation = AGGREGATIONS.find((one) => one === text)
    if (aggregation !== undefined && (this.#is('(') || this.#isWord('by') || this.#isWord('without')))
      return this.#group(aggregation, depth)
    const over = RANGE_FUNCTIONS.find((one) => one === text)
    if (over !== undefined && this.#is('(')) return this.#range(over)
    if (this.#is('(') || this.#isWord('without') || this.#isWord('by')) throw unsupported(text)
    const named: Matcher = { label: '__name__', isEqual: true, pattern: { text } }
    return { kind: 'select', matchers: [named, ...(this.#is('{') ? this.#matchers() : [])] }
  }

  #isWord(text: string): boolean {
    return this.#next.kind === 'word' && this.#next.text === text
  }

  #group(name: Aggregation, depth: number): Expression {
    const before = this.#by()
    this.#need('(')
    const of = this.sum(depth + 1)
    if (this.#is(',')) throw unsupported(`${name} with a parameter`)
    this.#need(')')
    if (of.kind === 'number') throw invalid(`${name} expects series, but found a number`)
    return { kind: 'group', name, by: before ?? this.#by() ?? [], of }
  }

  #by(): readonly string[] | undefined {
    if (this.#isWord('without')) throw unsupported('without')
    if (!this.#isWord('by')) return undefined
    this.#at++
    this.#need('(')
    const labels: string[] = []
    while (!this.#take(')')) {
      labels.push(this.#word('word', 'a label'))
      if (!this.#is(')')) this.#need(',')
    }
    return labels
  }

  #range(name: RangeFunction): Expression {
    this.#need('(')
    const { kind, text } = this.#next
    const named: Matcher[] = []
    if (kind === 'word') {
      this.#at++
      if (this.#is('(')) throw unsupported(`a subquery or ${text} inside ${name}`)
      named.push({ label: '__name__', isEqual: true, pattern: { text } })
    }
    const matchers = [...named, ...(named.length === 0 || this.#is('{') ? this.#matchers() : [])]
    this.#need('[')
    const ms = promDuration(this.#word('duration', 'a duration such as 5m'))
    if (this.#is(':')) throw unsupported('a subquery')
    this.#need(']')
    if (!this.#is(')')) throw unsupported(this.#next.text)
    this.#need(')')
    if (ms === 0) throw invalid('the range of a selector is 0; write one such as [5m]')
    return { kind: 'range', name, matchers, ms }
  }

  #matchers(): readonly Matcher[] {
    this.#need('{')
    const matchers: Matcher[] = []
    while (!this.#take('}')) {
      if (this.#next.kind === 'text') {
        matchers.push({ label: '__name__', isEqual: true, pattern: { text: this.#text() } })
      } else {
        const label = this.#word('word', 'a label')
        const sign = this.#word('sign', '= != =~ or !~')
        if (!['=', '!=', '=~', '!~'].includes(sign)) throw invalid(`expected = != =~ or !~, but found ${sign}`)
        const text = this.#text()
        const pattern = sign.endsWith('~') ? patternOf(text) : { text }
        matchers.push({ label, isEqual: sign.startsWith('='), pattern })
      }
      if (!this.#is('}')) this.#need(',')
    }
    if (matchers.length === 0) throw invalid('a selector without matchers would select all series; add one')
    return matchers
  }

  #text(): string {
    const quoted = this.#word('text', 'a text in quotes')
    const body = quoted.slice(1, -1)
    return body.replaceAll(/\\(.)/g, (_all, sign: string) => ({ n: '\n', t: '\t', r: '\r' })[sign] ?? sign)
  }
}

function math(name: Operator, left: Expression, right: Expression): Expression {
  if (left.kind !== 'number' && right.kind !== 'number') throw unsupported(`${name} between series`)
  return { kind: 'math', name, left, right }
}

function unsupported(what: string): AppError {
  return invalid(`${what} is not supported; ${SUPPORTED}`)
}

function invalid(message: string): AppError {
  return new AppError('VALIDATION', message)
}
