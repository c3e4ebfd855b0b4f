import { describe, expect, it } from 'vitest'
import { at, stepsOf } from '../../src/kernel/pointer.ts'

describe('a JSON pointer', () => {
  it('appends member names and indexes, with separators escaped', () => {
    expect(at('/a', 0, 'b/c~d', '~1')).toBe('/a/0/b~1c~0d/~01')
    expect(at('')).toBe('')
  })

  it('returns its steps', () => {
    expect(stepsOf(at('', 'a/b', '~1', 2))).toEqual(['a/b', '~1', '2'])
  })
})
