import { describe, expect, it } from 'vitest'
import { EffectIds } from '../../../src/core/columnar/effect-ids.ts'

describe('ids of effects', () => {
  it('are the prefix, the number of the input and the place, in whatever order numbers come', () => {
    const ids = new EffectIds('t/0/')
    const numbers = [0, 7, 999, 1000, 1007, 1999, 2000, 998, 1_000_000, 1_000_001, 4_294_967_296_123, 1_000_999]
    for (const input of numbers) {
      for (const place of [0, 1, 12]) expect(ids.of(input, place)).toBe(`t/0/${input}/${place}`)
    }
  })
})
