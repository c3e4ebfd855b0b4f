/**
 * Parses the filter `q` for stored queries: terms separated by spaces, all of which must match; a leading `-` negates a
 * term. Of several `tag:` terms only one needs to match; tags separated by commas must all match.
 */
import { isoInstant, type Issues, type JsonObject, ownValue, shown } from '#kernel'
import type { Condition } from '#storage'
import { durationOf } from '../time-line/time-fields.ts'
import { type QueryRecord, TEXTS } from './query-record.ts'

export interface SearchFilter {
  readonly where: readonly Condition[]
  /** tests conditions that the store cannot; undefined when the store covers all terms */
  readonly test: ((record: QueryRecord) => boolean) | undefined
}

interface Term {
  readonly key: string
  readonly value: string
  readonly isNegated: boolean
}

type Test = (record: QueryRecord) => boolean

const KEYS = 'name, tag, resource, metric, user, created, modified or meta.<key>'
const MAX_TERMS = 50

export interface SearchContext {
  /** the caller, for `user:@me` */
  readonly user: string
  readonly now: number
}

/** Parses a filter. Problems have the path `/q`. */
export function readFilter(q: string, context: SearchContext, issues: Issues): SearchFilter {
  const terms = termsOf(q)
  if (terms.length > MAX_TERMS) issues.wrong('/q', `${terms.length} terms are too many`, `write at most ${MAX_TERMS}`)
  const where: Condition[] = []
  const tests: Test[] = []
  const isTagged = ({ key, isNegated }: Term): boolean => key === 'tag' && !isNegated
  const tagged = terms.filter(isTagged)
  for (const term of terms.slice(0, MAX_TERMS)) {
    const { key, value, isNegated } = term
    if (isTexts(key)) {
      const wanted = key === 'tag' ? value.split(',') : [userOf(key, value, context)]
      if (isNegated) tests.push((record) => !hasAll(TEXTS[key](record), wanted))
      else if (!isTagged(term) || tagged.length === 1) {
        const texts = wanted.filter((text) => key !== 'tag' || text !== '')
        where.push(...texts.map((text): Condition => ({ field: `${key}s`, op: 'eq', value: text })))
      }
    } else {
      const test = testOf(term, context, issues)
      tests.push(isNegated ? (record) => !test(record) : test)
    }
  }
  if (tagged.length > 1) {
    const sets = tagged.map(({ value }) => value.split(',').filter((tag) => tag !== ''))
    tests.push((record) => sets.some((set) => hasAll(TEXTS.tag(record), set)))
  }
  return { where, test: tests.length === 0 ? undefined : (record) => tests.every((test) => test(record)) }
}

function isTexts(key: string): key is keyof typeof TEXTS {
  return Object.hasOwn(TEXTS, key)
}

function termsOf(q: string): readonly Term[] {
  const words = q.match(/(?:\([^()]{0,2000}\)|'[^']{0,2000}'|[^\s('])+/g) ?? []
  return words.map((word) => {
    const isNegated = word.startsWith('-') && word.length > 1
    const text = isNegated ? word.slice(1) : word
    const colon = text.indexOf(':')
    return colon < 0
      ? { key: 'name', value: text, isNegated }
      : { key: text.slice(0, colon), value: text.slice(colon + 1), isNegated }
  })
}

function userOf(key: string, value: string, { user }: SearchContext): string {
  if (key !== 'user') return value
  return value === '@me' ? user : value.replace(/^users\//, '')
}

function testOf({ key, value }: Term, { now }: SearchContext, issues: Issues): Test {
  if (key === 'name') {
    // matches a part of the value or, with wildcards, the whole value
    const pattern = /[*?]/.test(value) ? value : `*${value}*`
    return ({ name }) => isLike(name, pattern)
  }
  if (key === 'created' || key === 'modified') {
    const within = readInterval(value, now, issues)
    return (record) => within(record[key])
  }
  if (key.startsWith('meta.')) return metaTest(key.slice('meta.'.length), value)
  issues.wrong('/q', `${shown(key)} is not a key of a filter`, `write ${KEYS}`)
  return () => false
}

function hasAll(tags: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((tag) => tags.includes(tag))
}

/** Case-insensitive `*` and `?`, in at most the product of both lengths steps. */
function isLike(anyCase: string, wanted: string): boolean {
  const [text, pattern] = [anyCase.toLowerCase(), wanted.toLowerCase()]
  let [at, star, mark] = [0, -1, 0]
  for (let i = 0; i < text.length;) {
    if (at < pattern.length && (pattern[at] === '?' || (pattern[at] === text[i] && pattern[at] !== '*'))) {
      at += 1
      i += 1
    } else if (pattern[at] === '*') {
      star = at
      mark = i
      at += 1
    } else if (star >= 0) {
      at = star + 1
      mark += 1
      i = mark
    } else {
      return false
    }
  }
  return /^\**$/.test(pattern.slice(at))
}

const CALL = /^(like|contains)\((.*)\)$/s

function metaTest(path: string, value: string): Test {
  const [, call, argument = ''] = CALL.exec(value) ?? []
  const text = argument.replace(/^(['"])(.*)\1$/s, '$2')
  const fits =
    call === 'like'
      ? (candidate: string) => isLike(candidate, text)
      : call === 'contains'
        ? (candidate: string) => candidate.toLowerCase().includes(text.toLowerCase())
        : (candidate: string) => candidate === value
  return ({ meta }) => textsAt(meta, path).some(fits)
}

function textsAt(meta: JsonObject, path: string): readonly string[] {
  const value = ownValue(meta, path) ?? path.split('.').reduce<unknown>((part, step) => ownValue(part, step), meta)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.flatMap((one) => {
    if (one === undefined || one === null) return []
    return [typeof one === 'string' ? one : JSON.stringify(one)]
  })
}

const EVER = 8_640_000_000_000_000

/** Parses an interval `start/end`. Both ends are inclusive and optional; each is ISO 8601, `now` or `now-P2D`. */
function readInterval(value: string, now: number, issues: Issues): (time: number) => boolean {
  const parts = value.split('/')
  const [start = '', end = start] = parts
  const from = start === '' ? -EVER : instantOf(start, now)
  const until = end === '' ? EVER : instantOf(end, now, parts.length < 2)
  if (Number.isFinite(from) && Number.isFinite(until) && parts.length <= 2 && value !== '/') {
    return (time) => time >= from && time <= until
  }
  issues.wrong('/q', `${shown(value)} is not an interval`, 'write 2024-02-20/, /now-P2D, or both ends')
  return () => false
}

const RELATIVE = /^now(?:([+-])(P.+))?$/i
const DAY = 86_400_000

/** Returns epoch ms; NaN for an invalid text. `isWhole`: a date means the end of its day. */
function instantOf(text: string, now: number, isWhole = false): number {
  const relative = RELATIVE.exec(text)
  if (relative !== null) {
    const [, sign, duration] = relative
    return now + (duration === undefined ? 0 : (sign === '-' ? -1 : 1) * durationOf(duration))
  }
  return isoInstant(text) + (isWhole && !text.includes('T') ? DAY - 1 : 0)
}
