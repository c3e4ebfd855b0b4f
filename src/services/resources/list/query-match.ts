/** Matches entities against a query; an unquoted number also matches numeric texts by value. */
import { ownValue } from '#kernel'
import { type Conditions, type ConditionText, readConditions, TextProblem } from '#services/shared'
import { referredId } from '../resource-record.ts'
import { isPath } from './project.ts'

/** `asTexts`: whether the attribute at a path is compared only as text, such as an id. */
export function matches(query: Query, entity: object, asTexts: (path: string) => boolean): boolean {
  switch (query.kind) {
    case 'and':
      return query.parts.every((part) => matches(part, entity, asTexts))
    case 'or':
      return query.parts.some((part) => matches(part, entity, asTexts))
    case 'term':
      return holds(query, entity, asTexts(query.path))
  }
}

const NONE: Argument = { text: '', isQuoted: true }

function holds({ path, op, args }: Term, entity: object, asText: boolean): boolean {
  const values = valuesAt(entity, path)
  const [arg = NONE] = args
  switch (op) {
    case 'exists':
      return values.length > 0
    case 'eq':
      return values.some((value) => equals(value, arg, asText))
    case 'in': {
      const isOne = (wanted: Argument): boolean => values.some((value) => equals(value, wanted, asText))
      return isList(entity, path) ? args.every(isOne) : args.some(isOne)
    }
    case 'ref':
      return values.some(
        (value) => referredId(value) !== undefined && referredId(value) === referredId({ $ref: arg.text }),
      )
    case 'like':
      return values.some((value) => typeof value === 'string' && isLike(value, arg.text))
    case 'lt':
      return values.some((value) => compare(value, arg, (order) => order < 0))
    case 'lte':
      return values.some((value) => compare(value, arg, (order) => order <= 0))
    case 'gt':
      return values.some((value) => compare(value, arg, (order) => order > 0))
    case 'gte':
      return values.some((value) => compare(value, arg, (order) => order >= 0))
  }
}

const MAX_VALUES = 10_000

function valuesAt(entity: unknown, path: string): readonly unknown[] {
  const whole = ownValue(entity, path)
  let values: readonly unknown[] = whole === undefined ? [entity] : entriesOf(whole)
  for (const step of whole === undefined ? path.split('.') : []) {
    values = values.flatMap((value) => entriesOf(ownValue(value, step))).slice(0, MAX_VALUES)
  }
  return values
}

function entriesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.filter((entry) => entry !== null) as readonly unknown[]
  return value === undefined || value === null ? [] : [value]
}

function isList(entity: unknown, path: string): boolean {
  let value = ownValue(entity, path) ?? entity
  if (value === entity) for (const step of path.split('.')) value = ownValue(value, step)
  return Array.isArray(value)
}

function equals(value: unknown, { text, number, isQuoted }: Argument, asText: boolean): boolean {
  if (typeof value === 'string') {
    return value === text || (number !== undefined && !asText && numberIn(value) === number)
  }
  if (typeof value === 'number') return value === number
  return typeof value === 'boolean' && !isQuoted && String(value) === text
}

function compare(value: unknown, { text, number }: Argument, holdsFor: (order: number) => boolean): boolean {
  if (number === undefined) return typeof value === 'string' && holdsFor(value < text ? -1 : value > text ? 1 : 0)
  const comparable = typeof value === 'string' ? numberIn(value) : value
  return typeof comparable === 'number' && holdsFor(comparable - number)
}

/** Maximum characters compared, since matching time grows with the length of both texts. */
const LONGEST_LOOKED_AT = 2_000

/** `*` matches any text, `?` any character. */
export function isLike(text: string, pattern: string): boolean {
  const looked = text.slice(0, LONGEST_LOOKED_AT)
  let [at, position, star, from] = [0, 0, -1, 0]
  while (at < looked.length) {
    const char = pattern[position]
    if (char === '*') {
      star = position++
      from = at
    } else if (char !== undefined && (char === '?' || char === looked[at])) {
      position += 1
      at += 1
    } else if (star >= 0) {
      position = star + 1
      at = ++from
    } else return false
  }
  while (pattern[position] === '*') position += 1
  return position === pattern.length
}

/** Parses `query`: `<path>:<operator>(<arguments>)` or `<path>:<value>`, with AND, OR and parentheses. */
const OPERATORS = ['eq', 'in', 'lt', 'lte', 'gt', 'gte', 'ref', 'exists', 'like'] as const
export type Operator = (typeof OPERATORS)[number]

export interface Term {
  readonly kind: 'term'
  readonly path: string
  readonly op: Operator
  readonly args: readonly Argument[]
}

interface Argument {
  readonly text: string
  readonly isQuoted: boolean
  readonly number?: number
}

const NUMBER = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[+-]?\d{1,3})?$/i

function numberIn(text: string): number | undefined {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

export type Query = Conditions<Term>

const MAX_ARGUMENTS = 100

export function parseQuery(text: string): { readonly query: Query } | { readonly problem: string } {
  return readConditions(text, readTerm)
}

const ENDS_WORD = /[\s():,"]/
const ENDS_VALUE = /[\s()"]/
const ENDS_ARGUMENT = /[(),"]/
const ESCAPE = '\\'

function quoted(text: string): Argument {
  return { text, isQuoted: true }
}

function bare(text: string): Argument {
  const number = numberIn(text)
  return { text, isQuoted: false, ...(number !== undefined && { number }) }
}

function readTerm(text: ConditionText): Term {
  const start = text.offset
  const path = text.isNext('"') ? text.quoted(ESCAPE) : text.until(ENDS_WORD)
  if (!isPath(path)) {
    text.goTo(start)
    throw text.expected('the path of an attribute')
  }
  text.expect(':')
  if (text.isNext('"')) return { kind: 'term', path, op: 'eq', args: [quoted(text.quoted(ESCAPE))] }
  const value = text.until(ENDS_VALUE)
  if (!text.isNext('(')) {
    if (value === '') throw text.expected('a value or an operator')
    return { kind: 'term', path, op: 'eq', args: [bare(value)] }
  }
  const op = OPERATORS.find((operator) => operator === value)
  if (op === undefined) throw new TextProblem(`the operator "${value}" is unknown; use one of ${OPERATORS.join(', ')}`)
  return { kind: 'term', path, op, args: readArguments(text, op) }
}

function readArguments(text: ConditionText, op: Operator): readonly Argument[] {
  text.expect('(')
  const args: Argument[] = []
  text.skipSpace()
  if (!text.isNext(')')) {
    do {
      text.skipSpace()
      args.push(text.isNext('"') ? quoted(text.quoted(ESCAPE)) : bare(text.until(ENDS_ARGUMENT).trim()))
      text.skipSpace()
    } while (text.take(',') && args.length < MAX_ARGUMENTS)
  }
  text.expect(')')
  const wanted = op === 'exists' ? 'no argument' : op === 'in' ? 'at least one argument' : 'one argument'
  const isRight = op === 'exists' ? args.length === 0 : op === 'in' ? args.length > 0 : args.length === 1
  if (!isRight) throw new TextProblem(`${op} takes ${wanted}, not ${args.length}`)
  return args
}
