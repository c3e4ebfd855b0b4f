/** Parses `wql`: `tag:` conditions with AND, OR, NOT; `not(...)` inside one negates the match of a single tag. */
import { type ConditionText, type NegatedConditions, readNegatable, TextProblem } from '#services/shared'
import { wildcard } from './wildcard.ts'

type TagTest = (tag: string) => boolean

interface TagTerm {
  readonly kind: 'tag'
  readonly holds: (tags: readonly string[]) => boolean
}

const inIgnoreCase = (values: readonly string[]): TagTest => {
  const known = new Set(values.map((value) => value.toLowerCase()))
  return (tag) => known.has(tag.toLowerCase())
}
const exactly = (values: readonly string[]): TagTest => {
  const known = new Set(values)
  return (tag) => known.has(tag)
}
const like = (values: readonly string[]): TagTest => {
  const patterns = values.map((value) => wildcard(value.toLowerCase()))
  return (tag) => patterns.some((fits) => fits(tag.toLowerCase()))
}
const OF_VALUES = new Map([
  ['in', exactly],
  ['inIgnoreCase', inIgnoreCase],
  ['equals', exactly],
  ['like', like],
])
const OF_TESTS = new Map([
  [
    'not',
    (tests: readonly TagTest[]): TagTest =>
      (tag) =>
        !tests.some((one) => one(tag)),
  ],
  [
    'all',
    (tests: readonly TagTest[]): TagTest =>
      (tag) =>
        tests.every((one) => one(tag)),
  ],
  [
    'any',
    (tests: readonly TagTest[]): TagTest =>
      (tag) =>
        tests.some((one) => one(tag)),
  ],
])
const SAFE_END = /[^A-Za-z0-9_]/
const MAX_VALUES = 100
const MAX_LEVELS = 10

export function readTagQuery(
  text: string,
): { readonly fits: (tags: readonly string[]) => boolean } | { readonly problem: string } {
  const read = readNegatable(text, readTerm)
  return 'problem' in read ? read : { fits: (tags) => fits(read.query, tags) }
}

function fits(query: NegatedConditions<TagTerm>, tags: readonly string[]): boolean {
  if (query.kind === 'and') return query.parts.every((part) => fits(part, tags))
  if (query.kind === 'or') return query.parts.some((part) => fits(part, tags))
  return query.kind === 'not' ? !fits(query.part, tags) : query.holds(tags)
}

function readTerm(text: ConditionText): TagTerm {
  const start = text.offset
  if (text.until(SAFE_END) !== 'tag' || !text.take(':')) {
    text.goTo(start)
    throw text.expected('tag: followed by the name of a tag')
  }
  text.skipSpace()
  const read = readTest(text, 0)
  const test = typeof read === 'string' ? inIgnoreCase([read, ...moreValues(text, 1)]) : read
  // cached, since many functions share tags
  const known = new Map<string, boolean>()
  const isSo = (tag: string): boolean => {
    const seen = known.get(tag) ?? test(tag)
    known.set(tag, seen)
    return seen
  }
  return { kind: 'tag', holds: (tags) => tags.some(isSo) }
}

function moreValues(text: ConditionText, count: number): readonly string[] {
  const values: string[] = []
  for (;;) {
    const before = text.offset
    text.skipSpace()
    if (!text.take(',')) {
      text.goTo(before)
      return values
    }
    if (count + values.length >= MAX_VALUES) throw new TextProblem(`has more than ${MAX_VALUES} tags in one list`)
    text.skipSpace()
    values.push(readValue(text))
  }
}

function readValue(text: ConditionText): string {
  if (text.isNext('"')) return text.quoted()
  const value = text.until(SAFE_END)
  if (value === '') throw text.expected('the name of a tag, in quotes unless it consists of letters, digits and _,')
  return value
}

function readTest(text: ConditionText, level: number): TagTest | string {
  if (level > MAX_LEVELS) throw new TextProblem(`nests deeper than ${MAX_LEVELS} brackets`)
  const start = text.offset
  const isQuoted = text.isNext('"')
  const value = readValue(text)
  if (isQuoted || !text.isNext('(')) return value
  const [ofValues, ofTests] = [OF_VALUES.get(value), OF_TESTS.get(value)]
  if (ofValues === undefined && ofTests === undefined) {
    text.goTo(start)
    throw text.expected(`one of ${[...OF_VALUES.keys(), ...OF_TESTS.keys()].join(', ')}`)
  }
  text.expect('(')
  text.skipSpace()
  const values = ofValues === undefined ? [] : [readValue(text), ...moreValues(text, 1)]
  const tests = ofTests === undefined ? [] : readTests(text, level)
  text.expect(')')
  if (value === 'not' && tests.length !== 1) throw new TextProblem(`"not" needs one argument, but has ${tests.length}`)
  return ofValues?.(values) ?? ofTests?.(tests) ?? value
}

function readTests(text: ConditionText, level: number): readonly TagTest[] {
  const tests: TagTest[] = []
  do {
    text.skipSpace()
    const test = readTest(text, level + 1)
    tests.push(typeof test === 'string' ? inIgnoreCase([test]) : test)
    text.skipSpace()
    if (tests.length > MAX_VALUES) throw new TextProblem(`has more than ${MAX_VALUES} tags in one list`)
  } while (text.take(','))
  return tests
}
