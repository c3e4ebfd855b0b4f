import fc from 'fast-check'
import { generate } from 'peggy'
import { describe, expect, it } from 'vitest'
import { readTagQuery } from '../../../src/services/functions/registry/tag-query.ts'

type TagTest =
  | { readonly op: 'in' | 'inIgnoreCase' | 'equals' | 'like'; readonly values: readonly string[] }
  | { readonly op: 'not' | 'all' | 'any'; readonly tests: readonly TagTest[] }
type TagQuery =
  | { readonly kind: 'tag'; readonly test: TagTest }
  | { readonly kind: 'and'; readonly parts: readonly TagQuery[] }
  | { readonly kind: 'or'; readonly parts: readonly TagQuery[] }
  | { readonly kind: 'not'; readonly part: TagQuery }

/** An independent grammar of the same language, which returns the tree of a query, or rejects it. */
const oracle = generate(String.raw`
query = _ q:or _ { return q }
or = head:and tail:(_ "OR"i &end _ p:and { return p })* { return tail.length ? { kind: 'or', parts: [head, ...tail] } : head }
and = head:unit tail:(_ ("AND"i &end _)? !("OR"i end) p:unit { return p })* { return tail.length ? { kind: 'and', parts: [head, ...tail] } : head }
unit = "NOT"i &end _ part:unit { return { kind: 'not', part } } / "(" _ q:or _ ")" { return q } / term
end = [ \t\n\r] / "(" / !.
term = "tag:" _ test:(func / list) { return { kind: 'tag', test } }
list = values:values { return { op: 'inIgnoreCase', values } }
values = head:value tail:(_ "," _ v:value { return v })* { return [head, ...tail] }
func
  = op:("inIgnoreCase" / "in" / "equals" / "like") "(" _ values:values _ ")" { return { op, values } }
  / "not(" _ test:arg _ ")" { return { op: 'not', tests: [test] } }
  / op:("all" / "any") "(" _ head:arg tail:(_ "," _ a:arg { return a })* _ ")" { return { op, tests: [head, ...tail] } }
arg = func / v:value !"(" { return { op: 'inIgnoreCase', values: [v] } }
value = '"' text:$[^"]* '"' { return text } / $[A-Za-z0-9_]+
_ = [ \t\n\r]*
`)

function byOracle(text: string): TagQuery | undefined {
  try {
    return oracle.parse(text) as TagQuery
  } catch {
    return undefined
  }
}

/** Whether tags match the query; undefined: the query is rejected. */
function fits(text: string, tags: readonly string[]): boolean | undefined {
  const read = readTagQuery(text)
  return 'fits' in read ? read.fits(tags) : undefined
}

const NAMES = ['a', 'B', 'b', 'x_1', 'in', 'NOT', 'hot water', '*', 'a?']
const value = fc.constantFrom(...NAMES)

const test: fc.Arbitrary<TagTest> = fc.letrec<{ test: TagTest }>((tie) => ({
  test: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      op: fc.constantFrom('in', 'inIgnoreCase', 'equals', 'like'),
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
    }) as fc.Arbitrary<TagTest>,
    fc.record({
      op: fc.constantFrom('all', 'any'),
      tests: fc.array(tie('test'), { minLength: 1, maxLength: 3 }),
    }) as fc.Arbitrary<TagTest>,
    fc.record({ op: fc.constant('not'), tests: fc.tuple(tie('test')) }) as fc.Arbitrary<TagTest>,
  ),
})).test

function written(one: TagTest): string {
  const parts =
    'values' in one ? one.values.map((text) => (/^\w+$/.test(text) ? text : `"${text}"`)) : one.tests.map(written)
  return `${one.op}(${parts.join(', ')})`
}

const query: fc.Arbitrary<TagQuery> = fc.letrec<{ query: TagQuery }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    test.map((one): TagQuery => ({ kind: 'tag', test: one })),
    fc.record({
      kind: fc.constantFrom('and', 'or'),
      parts: fc.array(tie('query'), { minLength: 2, maxLength: 3 }),
    }) as fc.Arbitrary<TagQuery>,
    fc.record({ kind: fc.constant('not'), part: tie('query') }) as fc.Arbitrary<TagQuery>,
  ),
})).query

function textOf(one: TagQuery): string {
  if (one.kind === 'tag') return `tag:${written(one.test)}`
  if (one.kind === 'not') return `NOT (${textOf(one.part)})`
  return one.parts.map((part) => `(${textOf(part)})`).join(one.kind === 'and' ? ' ' : ' OR ')
}

/** Evaluates a query without a compiler. */
function means(one: TagQuery, tags: readonly string[]): boolean {
  if (one.kind === 'and') return one.parts.every((part) => means(part, tags))
  if (one.kind === 'or') return one.parts.some((part) => means(part, tags))
  if (one.kind === 'not') return !means(one.part, tags)
  return tags.some((tag) => isSo(one.test, tag))
}

function isSo(one: TagTest, tag: string): boolean {
  const low = tag.toLowerCase()
  switch (one.op) {
    case 'not':
      return !one.tests.some((part) => isSo(part, tag))
    case 'all':
      return one.tests.every((part) => isSo(part, tag))
    case 'any':
      return one.tests.some((part) => isSo(part, tag))
    case 'inIgnoreCase':
      return one.values.some((text) => text.toLowerCase() === low)
    case 'like':
      return one.values.some((text) => {
        const source = text.toLowerCase().replaceAll(/[.+^$()|[\]\\{}]/g, String.raw`\$&`)
        return new RegExp(`^${source.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(low)
      })
    case 'in':
    case 'equals':
      return one.values.includes(tag)
  }
}

describe('a query of tags', () => {
  it.each<[string, readonly string[], boolean]>([
    ['tag:a', ['A'], true],
    ['tag:a,b', ['B'], true],
    ['tag:a, "hot water"', ['hot water'], true],
    ['tag:like("ho*r")', ['Hot Water'], true],
    ['NOT tag:not(in(a,b))', ['a', 'c'], false],
    ['tag:a OR tag:b tag:c', ['a'], true],
    ['NOT (tag:a or tag:b)', ['b'], false],
    ['tag:OR', ['or'], true],
    ['not tag:a and tag:in(NOT)', ['NOT'], true],
  ])('%s of %j is %s', (text, tags, holds) => {
    expect(fits(text, tags)).toBe(holds)
    expect(means(byOracle(text) ?? expect.fail(text), tags)).toBe(holds)
  })

  it.each<[string, string]>([
    ['', 'tag: followed by the name of a tag is expected at character 1, before ""'],
    ['a', 'tag: followed by the name of a tag is expected at character 1, before "a"'],
    ['tag:a)', 'AND or OR is expected at character 6, before ")"'],
    [
      'tag:',
      'the name of a tag, in quotes unless it consists of letters, digits and _, is expected at character 5, before ""',
    ],
    ['tag:a-b', 'tag: followed by the name of a tag is expected at character 6, before "-b"'],
    [
      'tag:near(a)',
      'one of in, inIgnoreCase, equals, like, not, all, any is expected at character 5, before "near(a)"',
    ],
    ['tag:not(a, b)', '"not" needs one argument, but has 2'],
    ['tag:in(like(a))', '")" is expected at character 12, before "(a))"'],
    ['tag:a AND', 'tag: followed by the name of a tag is expected at character 10, before ""'],
    [`${'('.repeat(11)}tag:a`, 'nests deeper than 10 brackets'],
    [`tag:${'not('.repeat(12)}a`, 'nests deeper than 10 brackets'],
    ['tag:a '.repeat(51), 'has more than 50 terms'],
    [`tag:${'a,'.repeat(100)}a`, 'has more than 100 tags in one list'],
    [`tag:any(${'a,'.repeat(100)}a)`, 'has more than 100 tags in one list'],
    ['tag:a '.repeat(700), 'has 4200 characters; at most 4000 are accepted'],
  ])('%s is rejected with the position', (text, problem) => {
    expect(readTagQuery(text)).toEqual({ problem })
  })

  it('with all operators is parsed as intended, by both parsers', () => {
    fc.assert(
      fc.property(query, fc.array(value, { maxLength: 4 }), (one, tags) => {
        const text = textOf(one)
        const read = readTagQuery(text)
        // only our parser has limits
        fc.pre(!('problem' in read && /more than|deeper/.test(read.problem)))
        expect(byOracle(text)).toEqual(one)
        expect(fits(text, tags)).toBe(means(one, tags))
      }),
    )
  })

  it('of any words is accepted by both parsers or by neither', () => {
    const words = ['tag:', 'a', '"b c"', '(', ')', ',', ' ', 'AND ', 'or ', 'NOT ', 'in(', 'not(', 'all(', 'x', '-']
    const word = fc.constantFrom(...words)
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.subarray(['a', 'x', 'b c', 'or']), (some, tags) => {
        const text = some.join('')
        const read = byOracle(text)
        expect(fits(text, tags)).toBe(read && means(read, tags))
      }),
      { numRuns: 2_000 },
    )
  })
})
