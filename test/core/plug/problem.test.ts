import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { problem, shown } from '../../../src/core/plug/problem.ts'

describe('shown', () => {
  it.each([
    ['text', '"text"'],
    [Number.NaN, 'NaN'],
    [10n, '10'],
    [undefined, 'nothing'],
    [null, 'null'],
    [() => 1, 'a function'],
    [{ a: [1] }, '{"a":[1]}'],
    [{ a: 10n }, 'an object that is not JSON'],
  ])('shows %s as %s', (value, text) => expect(shown(value)).toBe(text))

  it('is short and never throws, for any value', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(shown(value).length).toBeLessThan(90)
      }),
    )
  })
})

describe('problem', () => {
  it('has a suggestion only when there is one', () => {
    const base = { path: '/name', message: 'wrong', severity: 'ERROR', type: 'PLUG' }
    expect(problem('/name', 'wrong')).toStrictEqual(base)
    expect(problem('/name', 'wrong', 'right')).toStrictEqual({ ...base, suggestion: 'right' })
  })
})
