/** Parses `query`: `<path>:<operator>(<arguments>)` or `<path>:<value>`, with AND, OR and parentheses. */
import { type Conditions, type ConditionText, readConditions, TextProblem } from '#services/shared'
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
  readonly number?: number
}

const NUMBER = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[+-]?\d{1,3})?$/i

export function numberIn(text: string): number | undefined {
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
