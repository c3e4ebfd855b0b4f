import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Listeners } from '../../../src/core/engine/listeners.ts'

describe('the listeners of a resource', () => {
  it('equal a set in the same order after any additions and removals', () => {
    const change = fc.record({ isAdded: fc.boolean(), listener: fc.constantFrom('a', 'b', 'c') })
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const listeners = new Listeners<string>()
        const set = new Set<string>()
        for (const { isAdded, listener } of changes) {
          if (isAdded) listeners.add(listener)
          else listeners.delete(listener)
          if (isAdded) set.add(listener)
          else set.delete(listener)
          expect([...listeners]).toEqual([...set])
          expect(listeners.size).toBe(set.size)
          if (listeners.only !== undefined) expect([...set]).toEqual([listeners.only])
        }
      }),
    )
  })
})
