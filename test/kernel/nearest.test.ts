import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/kernel/nearest.ts'

describe('the nearest name', () => {
  it.each([
    ['temprature', ['humidity', 'temperature'], 'temperature'],
    ['Temperature', ['temperature'], 'temperature'],
    ['valeu', ['value', 'values'], 'value'],
    ['x', ['y', 'abc'], 'y'],
    ['pressure', ['temperature', 'state'], undefined],
    ['a', [], undefined],
    ['state', ['state'], undefined],
    ['x'.repeat(1000), ['x'.repeat(999)], undefined],
  ])('to %s among %j is %s', (text, candidates, expected) => {
    expect(nearest(text, candidates)).toBe(expected)
  })
})
