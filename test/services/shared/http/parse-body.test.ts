import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_JSON_DEPTH } from '../../../../src/kernel/json-limits.ts'
import { parseBody, parseMessages, parseRendered } from '../../../../src/services/shared/http/parse-body.ts'
import { FORBIDDEN_KEYS } from '../../../../src/kernel/json.ts'

const nested = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels)

describe('a body', () => {
  it('without forbidden keys equals its JSON value', () => {
    const law = fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const value: unknown = JSON.parse(text)
      fc.pre(!keysOf(value).some((key) => FORBIDDEN_KEYS.has(key)))
      expect(parseBody(text)).toEqual(value)
    })
    fc.assert(law)
  })

  it('of any text is a value, or rejected with a code', () => {
    const law = fc.property(fc.string({ unit: fc.constantFrom(...Array.from('[]{}":,\\1ux ')) }), (text) => {
      try {
        parseBody(text)
      } catch (error) {
        expect(error).toMatchObject({ name: 'AppError', status: 400 })
      }
    })
    fc.assert(law)
  })

  it(`may nest ${MAX_JSON_DEPTH} levels, but not one more`, () => {
    expect(() => parseBody(nested(MAX_JSON_DEPTH))).not.toThrow()
    expect(() => parseBody(nested(MAX_JSON_DEPTH + 1))).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
  })

  it.each([
    ['brackets in a text', JSON.stringify({ a: nested(300) }), true],
    ['brackets after a text that ends in a backslash', `["\\\\",${nested(300)}]`, false],
    ['brackets in a text with quotes', `["\\"${'['.repeat(300)}"]`, true],
    ['a text without an end', `"${'['.repeat(300)}`, undefined],
  ])('%s', (_what, text, fine) => {
    if (fine === true) expect(parseBody(text)).toEqual(JSON.parse(text))
    else
      expect(() => parseBody(text)).toThrow(
        expect.objectContaining({ code: fine === false ? 'TOO_LARGE' : 'NOT_JSON' }),
      )
  })

  it('may contain names of prototypes in its values, but not in its keys', () => {
    expect(parseBody('{"a":"__proto__ constructor prototype"}')).toEqual({ a: '__proto__ constructor prototype' })
    expect(() => parseBody('{"a":{"b/c":[{"prototype":1}],"constructor":2}}')).toThrow(
      '/a/constructor <- the key "constructor" is not allowed\n/a/b~1c/0/prototype <- the key "prototype" is not allowed',
    )
  })
})

describe('the keys of a body', () => {
  const twice = (path: string): string => `${path} <- the key occurs twice (keep one of its values)`

  it.each([
    ['{"a":1,"a":1}', [twice('/a')]],
    ['[{"b":{}},{"b":{"c":1,"d":2,"c":3,"c":4}}]', [twice('/1/b/c'), twice('/1/b/c')]],
    [String.raw`{"a" :1,"\u0061":{"x":1,"x":2}}`, [twice('/a'), twice('/a/x')]],
  ])('are unique: %s is rejected', (text, lines) => {
    for (const parse of [parseBody, parseMessages]) {
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'VALIDATION', message: lines.join('\n') }))
    }
    expect(parseRendered(text)).toEqual(JSON.parse(text))
  })

  it.each([
    '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
    String.raw`{"a":"\"a\":1,\"a\":2","\\":":\\"}`,
    '{"":{"":0},"a:b":":"}',
  ])('may repeat in other objects, and in texts: %s', (text) => {
    expect(parseBody(text)).toEqual(JSON.parse(text))
  })

  it('that repeat are found in any text', () => {
    const key = fc.constantFrom('a', 'b', '"', '\\', ':', '{', 'é')
    const { json } = fc.letrec<{ json: string }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('1', '"x"', '":"', 'null'),
        fc.array(tie('json'), { maxLength: 3 }).map((parts) => `[${parts.join(' , ')}]`),
        fc
          .array(fc.tuple(key, tie('json')), { maxLength: 3 })
          .map((parts) => `{${parts.map(([name, value]) => `${JSON.stringify(name)} : ${value}`).join(',')}}`),
      ),
    }))
    const law = fc.property(json, (text) => {
      const written = (text.match(/"(?:[^"\\]|\\.)*" : /g) ?? []).length
      const isTwice = written !== keysOf(JSON.parse(text)).length
      if (isTwice) expect(() => parseBody(text)).toThrow('occurs twice')
      else expect(parseBody(text)).toEqual(JSON.parse(text))
    })
    fc.assert(law)
  })
})

function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(keysOf)
  return Object.entries(value).flatMap(([key, part]) => [key, ...keysOf(part)])
}
