import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText } from '../../src/storage/json-text.ts'
import { Problems } from '../../src/storage/problems.ts'
import { failureOf } from '../contracts/storage/medium.ts'

function textOf(value: unknown): string | undefined {
  const problems = new Problems()
  const text = jsonText(value, '/value', problems)
  problems.throwIfAny('The value')
  return text
}

describe('JSON on its way in', () => {
  it('is the text that JSON gives, for whatever is plain JSON', () => {
    const plain = fc
      .jsonValue()
      .filter((value) => !/"(?:__proto__|constructor|prototype)":/.test(JSON.stringify(value)))
    fc.assert(
      fc.property(plain, (value) => {
        expect(textOf(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it('names every wrong thing by its place, and says what would be right', async () => {
    const value = { 'a/b~c': [1, { d: undefined, e: Number.NaN }], f: { prototype: 1 }, g: new Date(0), h: 1n }
    const { message, issues } = await failureOf(() => textOf(value))
    expect(issues.map((issue) => issue.path)).toEqual([
      '/value/a~1b~0c/1/e',
      '/value/f/prototype',
      '/value/g',
      '/value/h',
    ])
    expect(message).toBe(
      [
        'The value has 4 problems:',
        '  /value/a~1b~0c/1/e: NaN is no number of JSON; give a finite number or null',
        '  /value/f/prototype: the key prototype is refused, because it reaches a prototype; rename it',
        '  /value/g: an instance of a class is no JSON; give a plain object',
        '  /value/h: a big integer is no JSON; give plain JSON',
      ].join('\n'),
    )
  })

  it('takes objects without a prototype', () => {
    expect(textOf(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('{"a":1}')
  })

  it('stops at a value that unfolds without end, in little time', async () => {
    let wide: unknown = []
    for (let i = 0; i < 90; i += 1) wide = { left: wide, right: wide }
    const { code, issues } = await failureOf(() => textOf(wide))
    expect([code, issues.length]).toEqual(['TOO_LARGE', 1])
  })

  it('is too large only when nothing else is wrong', async () => {
    const problems = new Problems()
    problems.tooLarge('/a', 'is long')
    const large = await failureOf(() => problems.throwIfAny('It'))
    problems.wrong('/b', 'is odd')
    const odd = await failureOf(() => problems.throwIfAny('It'))
    expect([large.code, large.issues.length, odd.code, odd.issues.length]).toEqual(['TOO_LARGE', 1, 'VALIDATION', 2])
  })

  it('shows 100 problems of more', async () => {
    const { issues } = await failureOf(() => textOf(Array.from({ length: 500 }, () => Number.NaN)))
    expect(issues).toHaveLength(100)
  })
})
