import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { LruCache } from '../../src/kernel/lru-cache.ts'

describe('a map of limited size', () => {
  it('does not count a peek as a use', () => {
    const cache = new LruCache<string, number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    expect(cache.peek('a')).toBe(1)
    expect(cache.set('c', 3)).toBe(1)
  })

  it('stays empty with a size of 0', () => {
    const cache = new LruCache<string, number>(0)
    expect([cache.set('a', 1), cache.size]).toEqual([1, 0])
  })

  it('keeps the most recently used entries, after any history', () => {
    const step = fc.tuple(fc.constantFrom('get', 'set', 'delete'), fc.nat(6))
    fc.assert(
      fc.property(fc.nat(4), fc.array(step, { maxLength: 40 }), (most, steps) => {
        const cache = new LruCache<number, string>(most)
        /** keys, the most recently used one last */
        let uses: number[] = []
        for (const [kind, key] of steps) {
          const had = uses.includes(key)
          uses = uses.filter((one) => one !== key)
          if (kind === 'get') {
            expect(cache.get(key)).toBe(had ? `${key}` : undefined)
            if (had) uses.push(key)
          } else if (kind === 'delete') {
            expect(cache.delete(key)).toBe(had)
          } else {
            uses.push(key)
            const pushedOut = uses.length > most ? uses.shift() : undefined
            expect(cache.set(key, `${key}`)).toBe(pushedOut?.toString())
          }
          expect(cache.size).toBe(uses.length)
        }
      }),
    )
  })
})
