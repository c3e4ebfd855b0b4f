import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareVersions,
  isInRange,
  isPrevious,
  isRange,
  isVersion,
  nextVersion,
} from '../../../src/services/functions/registry/versions.ts'

describe('the next version', () => {
  it.each([
    [[], undefined, '1.0.0'],
    [['1.0.0'], undefined, '1.0.1'],
    [['1.0.9', '1.0.10'], undefined, '1.0.11'],
    [['2.3.4', '1.9.9'], undefined, '2.3.5'],
    [[], '^2.1.0', '2.1.0'],
    [[], '~0.3', '0.3.0'],
    [[], '*', '1.0.0'],
    [['1.2.3'], '*', '2.0.0'],
    [['1.2.3'], '^1', '1.3.0'],
    [['1.2.3'], '~1.2', '1.2.4'],
    [['1.2.3', '3.0.0'], '^1', '1.3.0'],
    [['1.2.3'], 'latest', '2.0.0'],
  ])('after %j in %s is %s', (existing, range, next) => {
    expect(nextVersion(existing, range)).toBe(next)
  })

  it('is rejected when the range has none left', () => {
    expect(() => nextVersion(['1.2.3'], '1.2.3')).toThrow('the newest is 1.2.3')
  })

  it('is new and in its range, for any existing versions', () => {
    const part = fc.nat({ max: 3 })
    const version = fc.tuple(part, part, part).map((parts) => parts.join('.'))
    const range = fc.oneof(
      fc.constant('*'),
      version.map((one) => `^${one}`),
      version.map((one) => `~${one}`),
    )
    fc.assert(
      fc.property(fc.array(version, { maxLength: 10 }), range, (existing, wanted) => {
        let next: string
        try {
          next = nextVersion(existing, wanted)
        } catch {
          return existing.some((one) => isInRange(one, wanted))
        }
        return isVersion(next) && isInRange(next, wanted) && !existing.includes(next)
      }),
    )
  })
})

it.each([
  ['1.2.3', '1.2.2', true, true, true],
  ['1.2.3', '1.1.9', false, true, true],
  ['1.2.3', '0.9.9', false, false, true],
  ['1.2.3', '1.2.3', false, false, false],
  ['1.2.3', '1.2.10', false, false, false],
])('before %s, %s is a previous version by patch: %s, minor: %s, all: %s', (version, other, patch, minor, all) => {
  expect([
    isPrevious(version, other, 'patch'),
    isPrevious(version, other, 'minor'),
    isPrevious(version, other, 'all'),
  ]).toEqual([patch, minor, all])
})

it('parses versions and ranges, and sorts versions', () => {
  const versions = ['1.2.3', '0.0.0', '01.2.3', '1.2', '1.2.3-a', '1.2.3+b', ' 1.2.3']
  expect(versions.filter(isVersion)).toEqual(['1.2.3', '0.0.0'])
  const ranges = ['^1', '~1.2.0', '1.x', '*', '>=1 <2', 'latest']
  expect([...ranges, 'newest', 'x'.repeat(200)].filter(isRange)).toEqual(ranges)
  expect(['1.10.0', '1.9.0', '2.0.0'].sort(compareVersions)).toEqual(['1.9.0', '1.10.0', '2.0.0'])
})
