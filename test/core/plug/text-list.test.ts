import { describe, expect, it } from 'vitest'
import { textList } from '../../../src/core/plug/text-list.ts'

describe('several texts in one property', () => {
  it.each([
    [undefined, []],
    [null, []],
    ['', []],
    ['a', ['a']],
    ['a, b,,', ['a', 'b']],
    [
      ['a,b', ' c ', ''],
      ['a,b', 'c'],
    ],
  ])('%j is %j', (given, expected) => {
    expect(textList(given)).toEqual(expected)
  })

  it.each([5, [5], {}, true])('%j is invalid', (given) => {
    expect(() => textList(given)).toThrow('a text with commas, or a list of texts')
  })
})
