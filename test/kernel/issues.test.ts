import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Issues, shown } from '../../src/kernel/issues.ts'

describe('problems of a request', () => {
  it('are reported all at once, in the order in which they were found', () => {
    const issues = new Issues('QUERY')
    issues.wrong('/b', 'is missing', 'write it')
    issues.wrong('', 'is too much', undefined, 'SIZE')
    expect(() => issues.throwIfAny('the query')).toThrow(
      expect.objectContaining({
        code: 'VALIDATION',
        message: 'the query: /b <- is missing (write it); is too much',
        issues: [
          { type: 'QUERY', severity: 'ERROR', path: '/b', message: 'is missing', suggestion: 'write it' },
          { type: 'SIZE', severity: 'ERROR', path: '', message: 'is too much' },
        ],
      }),
    )
  })

  it('are empty until the first one, and after a reset', () => {
    const issues = new Issues('QUERY')
    issues.throwIfAny('the query')
    issues.wrong('/a', 'is missing')
    issues.clear()
    issues.throwIfAny('the query')
    issues.wrong('/b', 'is missing')
    expect([issues.count, issues.list.map(({ path }) => path)]).toEqual([1, ['/b']])
  })

  it('are counted beyond the number that is kept', () => {
    const issues = new Issues('QUERY', 2)
    for (const name of ['a', 'b', 'c']) issues.wrong(`/${name}`, 'is missing')
    expect([issues.count, issues.list.map(({ path }) => path)]).toEqual([3, ['/a', '/b']])
  })

  it('show external values in JSON, shortened', () => {
    expect([shown({ a: 1 }), shown(undefined), shown('x'.repeat(100)).length]).toEqual(['{"a":1}', 'nothing', 83])
  })
})

describe('shown', () => {
  it.each([
    ['text', '"text"'],
    [Number.NaN, 'NaN'],
    [10n, '10'],
    [undefined, 'nothing'],
    [null, 'null'],
    [() => 1, 'a function'],
    [{ a: [1] }, '{"a":[1]}'],
    [{ a: 10n }, '{"a":"10"}'],
  ])('shows %s as %s', (value, text) => expect(shown(value)).toBe(text))

  it('returns a short text and never throws, for any value', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(shown(value).length).toBeLessThan(90)
      }),
    )
  })
})
