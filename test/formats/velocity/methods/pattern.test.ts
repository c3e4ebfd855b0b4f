import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Budget, LIMITS } from '../../../../src/formats/velocity/budget.ts'
import { matchesOf, Pattern, replacementOf } from '../../../../src/formats/velocity/methods/pattern.ts'

const budget = () => new Budget({ ...LIMITS, steps: 50_000_000 }, () => 0)
const find = (source: string, text: string) => new Pattern(source).find(text, 0, budget())

describe('a pattern', () => {
  const atoms = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\w',
    '\\d',
    '(a)',
    '(b|ab)',
    '(?:a|b)',
    '^',
    '$',
    '\\b',
    '',
  )
  const patterns = fc
    .array(fc.tuple(atoms, fc.constantFrom('', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,}')), {
      maxLength: 5,
    })
    .map((parts) => {
      return parts.map(([atom, count]) => (/^(?:\^|\$|\\b|)$/.test(atom) ? atom : atom + count)).join('')
    })
  const alternatives = fc.array(patterns, { minLength: 1, maxLength: 3 }).map((all) => all.join('|'))

  it('finds the same match and groups as a regular expression of JavaScript', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '1'), maxLength: 12 })
    fc.assert(
      fc.property(alternatives, texts, (source, text) => {
        const wanted = new RegExp(source, 'd').exec(text)
        const found = find(source, text)
        expect(found?.slice(0, 2)).toEqual(wanted?.indices?.[0])
      }),
    )
  })

  it('matches a whole text, or not at all', () => {
    fc.assert(
      fc.property(alternatives, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }), (source, text) => {
        const isWhole = new RegExp(`^(?:${source})$`).test(text)
        expect(new Pattern(source).find(text, 0, budget(), true) !== undefined).toBe(isWhole)
      }),
    )
  })

  it.each([
    ['(a+)+$', 'a'.repeat(30_000) + 'b'],
    ['(a|a)*c', 'a'.repeat(30_000)],
    ['(.*)(.*)(.*)x', 'a'.repeat(3_000)],
  ])('takes time that is linear in the text: %s', (source, text) => {
    const steps = new Budget({ ...LIMITS, steps: text.length * text.length * 0.1 + 100_000 * 30 }, () => 0)
    expect(new Pattern(source).find(text.slice(-3_000), 0, steps)).toBeUndefined()
  })

  it.each([
    '(',
    ')',
    '[',
    'a{2',
    '*a',
    'a**b(',
    '\\',
    '(?=a)',
    '(?<a>a)(?<a>b)',
    '(?<1>a)',
    '\\1',
    '[b-a]',
    '\\p{Nothing}',
    'a++',
  ])('is rejected: %s', (source) => {
    expect(() => new Pattern(source)).toThrow(/pattern/)
  })

  it.each([
    ['[a-c&&[^b]]', 'bca', [1, 2]],
    ['(?i)HELLO', 'say hello', [4, 9]],
    ['\\p{Alpha}+', '12ab', [2, 4]],
    ['\\Qa.b\\E', 'axb a.b', [4, 7]],
    ['\\x41', 'xA', [1, 2]],
    ['[\\w.]+@', 'me.you@x', [0, 7]],
  ])('%s in %s', (source, text, place) => {
    expect(find(source, text)?.slice(0, 2)).toEqual(place)
  })

  it('inserts groups into a replacement', () => {
    const [match = []] = matchesOf(new Pattern('(\\d+)-(\\d+)'), '12-34', budget())
    expect(replacementOf('$2:$1 \\$1', match, '12-34')).toBe('34:12 $1')
    expect(() => replacementOf('$3', match, '12-34')).toThrow('Illegal group')
  })
})
