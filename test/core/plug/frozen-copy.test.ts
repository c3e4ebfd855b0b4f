import { describe, expect, it } from 'vitest'
import { frozenCopy } from '../../../src/core/plug/frozen-copy.ts'

describe('frozenCopy', () => {
  it('is equal, deeply frozen, and independent of the original', () => {
    const original = { a: [{ b: 1 }] }
    const copy = frozenCopy(original)
    expect(copy).toEqual(original)
    expect([copy, copy.a, copy.a[0]].every((part) => Object.isFrozen(part))).toBe(true)
    expect(Object.isFrozen(original)).toBe(false)
  })
})
