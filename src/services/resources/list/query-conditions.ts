/** Translates the part of a query that the store can evaluate. */
import type { Condition } from '#storage'
import { referredId } from '../resource-record.ts'
import type { Operator, Query, Term } from './query-match.ts'

export interface Translated {
  readonly where: readonly Condition[]
  /** whether the conditions are sufficient, not only necessary */
  readonly isExact: boolean
}

export interface KnownFields {
  /** text fields by path, including `id` */
  readonly texts: ReadonlySet<string>
  readonly numbers: ReadonlySet<string>
  readonly lists: ReadonlySet<string>
  readonly references?: string
}

const NOTHING: Translated = { where: [], isExact: false }
/** Maximum conditions that the store accepts. */
const MAX_CONDITIONS = 100
const LONGEST_VALUE = 500

export function translate(query: Query, fields: KnownFields): Translated {
  if (query.kind === 'term') return translateTerm(query, fields)
  const parts = query.parts.map((part) => translate(part, fields))
  const isExact = parts.every((part) => part.isExact)
  if (query.kind === 'and') {
    const where = parts.flatMap((part) => part.where)
    return where.length > MAX_CONDITIONS ? NOTHING : { where, isExact }
  }
  // an alternative without conditions matches everything
  if (parts.some(({ where }) => where.length === 0 || where.some((condition) => 'any' in condition))) return NOTHING
  return { where: [{ any: parts.map(({ where }) => where) }], isExact }
}

function translateTerm(term: Term, fields: KnownFields): Translated {
  const { path: field, op } = term
  const args = term.args.map(({ text }) => text)
  if (args.some((arg) => arg.length > LONGEST_VALUE || arg.includes('\0') || !isWellFormed(arg))) return NOTHING
  const [value = ''] = args
  if (op === 'ref') {
    const id = referredId({ $ref: value })
    if (fields.references === undefined || !id) return NOTHING
    return { where: [{ field: fields.references, op: 'eq', value: id }], isExact: false }
  }
  if (fields.lists.has(field)) {
    if (op === 'eq' || op === 'in') return exactly(args.map((each) => ({ field, op: 'eq', value: each })))
    return op === 'exists' ? exactly([{ field, op, value: true }]) : NOTHING
  }
  if (fields.texts.has(field)) return translateText(field, op, args)
  return fields.numbers.has(field) ? translateNumber(field, term) : NOTHING
}

function translateText(field: string, op: Operator, args: readonly string[]): Translated {
  const [value = ''] = args
  if (op === 'eq') return exactly([{ field, op, value }])
  if (op === 'in') return exactly([{ field, op, values: args }])
  if (op === 'exists') return exactly([{ field, op, value: true }])
  if (op !== 'like') return NOTHING
  const [start = ''] = value.split('?')
  if (start.split('*').length > MAX_STARS) return NOTHING
  return start === value
    ? exactly([{ field, op, pattern: value }])
    : { where: [{ field, op, pattern: `${start}*` }], isExact: false }
}

const MAX_STARS = 30

function translateNumber(field: string, { op, args }: Term): Translated {
  const numbers = args.flatMap(({ number }) => number ?? [])
  const [value = 0] = numbers
  if (op === 'exists') return exactly([{ field, op, value: true }])
  if (op === 'like' || op === 'ref' || numbers.length < args.length) return NOTHING
  return exactly([op === 'in' ? { field, op, values: numbers } : { field, op, value }])
}

function exactly(where: readonly Condition[]): Translated {
  return { where, isExact: true }
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
