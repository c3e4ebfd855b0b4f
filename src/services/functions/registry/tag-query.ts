/**
 * The language of `wql`: `tag:` and what a tag must be, put together by AND, OR, NOT and brackets. A condition holds when
 * one tag of the function is as it says, so that NOT in front of it is about all of them, and `not(...)` in it about one.
 */
import { type ConditionText, type NegatedConditions, readNegatable, TextProblem } from '#services/shared'
import { wildcard } from './wildcard.ts'

/** What a tag must be. `in`: one of these, with `inIgnoreCase` whatever their case is. */
export type TagTest =
  | { readonly op: 'in' | 'inIgnoreCase' | 'equals' | 'like'; readonly values: readonly string[] }
  | { readonly op: 'not' | 'all' | 'any'; readonly tests: readonly TagTest[] }

export interface TagTerm {
  readonly kind: 'tag'
  readonly test: TagTest
}

export type TagQuery = NegatedConditions<TagTerm>

const OF_VALUES = ['in', 'inIgnoreCase', 'equals', 'like'] as const
const OF_TESTS = ['not', 'all', 'any'] as const
const SAFE_END = /[^A-Za-z0-9_]/
const MAX_VALUES = 100
const MAX_LEVELS = 10

/** What the text asks, or what is wrong with it and where. */
export function parseTagQuery(text: string): { readonly query: TagQuery } | { readonly problem: string } {
  return readNegatable(text, (from) => readTerm(from))
}

function readTerm(text: ConditionText): TagTerm {
  const start = text.place
  if (text.until(SAFE_END) !== 'tag' || !text.take(':')) {
    text.goTo(start)
    throw text.expected('tag: and the name of a tag')
  }
  text.skipSpace()
  const test = readTest(text, 0)
  if (test.op !== 'value') return { kind: 'tag', test }
  const values = [test.value, ...moreValues(text, 1)]
  return { kind: 'tag', test: { op: 'inIgnoreCase', values } }
}

/** Values that stand behind a comma. */
function moreValues(text: ConditionText, count: number): readonly string[] {
  const values: string[] = []
  for (;;) {
    const before = text.place
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
  if (value === '') throw text.expected('the name of a tag, in quotes unless it has letters, digits and _ alone,')
  return value
}

type ReadTest = TagTest | { readonly op: 'value'; readonly value: string }

function readTest(text: ConditionText, level: number): ReadTest {
  if (level > MAX_LEVELS) throw new TextProblem(`nests deeper than ${MAX_LEVELS} brackets`)
  const start = text.place
  const isQuoted = text.isNext('"')
  const value = readValue(text)
  if (isQuoted || !text.isNext('(')) return { op: 'value', value }
  const ofValues = OF_VALUES.find((one) => one === value)
  const ofTests = OF_TESTS.find((one) => one === value)
  if (ofValues === undefined && ofTests === undefined) {
    text.goTo(start)
    throw text.expected(`one of ${[...OF_VALUES, ...OF_TESTS].join(', ')}`)
  }
  text.expect('(')
  text.skipSpace()
  const read =
    ofValues === undefined ? { op: ofTests ?? 'not', tests: readTests(text, level) } : valuesOf(text, ofValues)
  text.expect(')')
  if (read.op === 'not' && read.tests.length !== 1)
    throw new TextProblem(`not takes one argument, not ${read.tests.length}`)
  return read
}

function valuesOf(text: ConditionText, op: (typeof OF_VALUES)[number]): TagTest {
  const first = readValue(text)
  return { op, values: [first, ...moreValues(text, 1)] }
}

function readTests(text: ConditionText, level: number): readonly TagTest[] {
  const tests: TagTest[] = []
  do {
    text.skipSpace()
    const test = readTest(text, level + 1)
    // a name within a condition is one test by itself
    tests.push(test.op === 'value' ? { op: 'inIgnoreCase', values: [test.value] } : test)
    text.skipSpace()
    if (tests.length > MAX_VALUES) throw new TextProblem(`has more than ${MAX_VALUES} tags in one list`)
  } while (text.take(','))
  return tests
}

/** Whether tags are as a query says. Each tag is looked at once for a condition, however many functions have it. */
export function tagMatcher(query: TagQuery): (tags: readonly string[]) => boolean {
  switch (query.kind) {
    case 'and': {
      const parts = query.parts.map(tagMatcher)
      return (tags) => parts.every((part) => part(tags))
    }
    case 'or': {
      const parts = query.parts.map(tagMatcher)
      return (tags) => parts.some((part) => part(tags))
    }
    case 'not': {
      const part = tagMatcher(query.part)
      return (tags) => !part(tags)
    }
    case 'tag': {
      const known = new Map<string, boolean>()
      const test = testOf(query.test)
      const holds = (tag: string): boolean => {
        const seen = known.get(tag) ?? test(tag)
        known.set(tag, seen)
        return seen
      }
      return (tags) => tags.some(holds)
    }
  }
}

function testOf(test: TagTest): (tag: string) => boolean {
  switch (test.op) {
    case 'in':
    case 'equals': {
      const values = new Set(test.values)
      return (tag) => values.has(tag)
    }
    case 'inIgnoreCase': {
      const values = new Set(test.values.map((value) => value.toLowerCase()))
      return (tag) => values.has(tag.toLowerCase())
    }
    case 'like': {
      const patterns = test.values.map((value) => wildcard(value.toLowerCase()))
      return (tag) => patterns.some((fits) => fits(tag.toLowerCase()))
    }
    case 'all': {
      const tests = test.tests.map(testOf)
      return (tag) => tests.every((one) => one(tag))
    }
    case 'any': {
      const tests = test.tests.map(testOf)
      return (tag) => tests.some((one) => one(tag))
    }
    case 'not': {
      const tests = test.tests.map(testOf)
      return (tag) => !tests.some((one) => one(tag))
    }
  }
}
