import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareVersions, isVersion, majorOf, parseVersionRange } from '../../../src/core/plug/version-range.ts'

const has = (range: string, version: string) => parseVersionRange(range)?.(version)

describe('a range of versions', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['>=1.0.0 <3', ['1.0.0', '1.0.1', '2.999.0'], ['0.9.9', '3.0.0', '10.0.0']],
    ['<3 >=1.0.0', ['1.0.0', '2.1.0'], ['3.0.0']],
    ['>=1.9.0', ['1.10.0', '1.9.0'], ['1.8.9']],
    ['<=2', ['2.0.0', '2.9.9', '1.0.0'], ['3.0.0']],
    ['<=2.1', ['2.1.7', '2.0.9'], ['2.2.0']],
    ['>2', ['3.0.0'], ['2.0.0', '2.9.9']],
    ['>2.0.0', ['2.0.1'], ['2.0.0']],
    ['=1', ['1.0.0', '1.4.2'], ['2.0.0', '0.1.0']],
    ['=1.0.4', ['1.0.4'], ['1.0.3', '1.0.5']],
    ['  >=0.0.1   <2 ', ['0.0.3', '1.0.0'], ['0.0.0', '2.0.0']],
    ['>=3 <2', [], ['1.0.0', '2.0.0', '3.0.0']],
  ])('%j has %j and not %j', (range, inside, outside) => {
    expect(inside.filter((version) => has(range, version) !== true)).toEqual([])
    expect(outside.filter((version) => has(range, version) !== false)).toEqual([])
  })

  it.each([
    '',
    ' ',
    '1.0.0',
    '^1.0.0',
    '~1',
    '>= 1.0.0',
    '>=1.0.0,<3',
    '>=1.x',
    '>=1.0.0.0',
    '>=-1',
    '*',
    '>=1.0.0 || <3',
  ])('%j is invalid', (text) => {
    expect(parseVersionRange(text)).toBeUndefined()
  })

  it('has at most ten comparators, of numbers with at most nine digits', () => {
    expect(parseVersionRange(Array(10).fill('>=1').join(' '))).toBeDefined()
    expect(parseVersionRange(Array(11).fill('>=1').join(' '))).toBeUndefined()
    expect(parseVersionRange('>=1234567890')).toBeUndefined()
  })
})

const part = fc.nat(1200)
const version = fc.tuple(part, part, part)

describe('compareVersions', () => {
  it('orders as the three numbers do, one after the other', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
        expect(Math.sign(compareVersions(a.join('.'), b.join('.')))).toBe(Math.sign(expected))
      }),
    )
  })

  it('agrees with ranges of whole versions', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const [one, other] = [a.join('.'), b.join('.')]
        expect([has(`>=${other}`, one), has(`<${other}`, one), has(`=${other}`, one)]).toEqual([
          compareVersions(one, other) >= 0,
          compareVersions(one, other) < 0,
          compareVersions(one, other) === 0,
        ])
      }),
    )
  })
})

describe('a version', () => {
  it.each([
    ['1.0.0', true],
    ['1.0', false],
    ['latest', false],
    ['1.0.0-beta', false],
  ])('%j: %s', (text, expected) => {
    expect(isVersion(text)).toBe(expected)
  })

  it('has a major number', () => {
    expect(majorOf('12.3.4')).toBe(12)
  })
})
