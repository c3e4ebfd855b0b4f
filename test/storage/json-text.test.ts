import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonText } from '../../src/kernel/json.ts'
import { jsonText } from '../../src/storage/prepare-writes.ts'
import { Problems } from '../../src/storage/problems.ts'
import { failureOf } from '../contracts/storage/medium.ts'

function textOf(value: unknown): string | undefined {
  const problems = new Problems()
  const text = jsonText(value, '/value', problems)
  problems.throwIfAny('The value')
  return text
}

describe('JSON in flight in', () => {
  it('is the text that JSON returns, for whatever is plain JSON', () => {
    const plain = fc
      .jsonValue()
      .filter((value) => !/"(?:__proto__|constructor|prototype)":/.test(JSON.stringify(value)))
    fc.assert(
      fc.property(plain, (value) => {
        expect(textOf(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it.each([
    ['text of its own', new JsonText('{"a":1}'), '{"a":1}'],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
  ])('is taken: %s', (_, value, text) => {
    expect(textOf(value)).toBe(text)
  })

  const circle: unknown[] = []
  circle.push(circle)
  it.each([
    ['nothing', undefined, 'nothing is not JSON'],
    ['a big integer', { a: 1n }, 'is not JSON: Do not know how to serialize a BigInt'],
    ['a list that holds itself', circle, 'is not JSON: Converting circular structure to JSON'],
  ])('is rejected: %s', async (_, value, message) => {
    const { code, issues } = await failureOf(() => textOf(value))
    expect([code, issues[0]?.path, issues[0]?.message]).toEqual([
      'VALIDATION',
      '/value',
      expect.stringContaining(message),
    ])
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
    const problems = new Problems()
    for (let i = 0; i < 500; i++) problems.wrong(`/${i}`, 'is odd')
    expect((await failureOf(() => problems.throwIfAny('It'))).issues).toHaveLength(100)
  })
})
