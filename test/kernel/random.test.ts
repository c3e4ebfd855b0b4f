import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextSeed, randomOf, seedOf } from '../../src/kernel/random.ts'

const uint32 = fc.integer({ min: 0, max: 0xffff_ffff })

/** The usual form of the generator, with its state inside. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

describe('nextSeed and randomOf', () => {
  it('produce the sequence of mulberry32 from any seed', () => {
    fc.assert(
      fc.property(uint32, (start) => {
        const expected = mulberry32(start)
        let seed = start
        for (let i = 0; i < 20; i++) {
          seed = nextSeed(seed)
          expect(randomOf(seed)).toBe(expected())
        }
      }),
    )
  })

  it('stay in range: a seed is an unsigned 32-bit number, a value lies in [0, 1)', () => {
    fc.assert(
      fc.property(uint32, (seed) => {
        const next = nextSeed(seed)
        expect(next).toBe(next >>> 0)
        expect(randomOf(seed)).toBeGreaterThanOrEqual(0)
        expect(randomOf(seed)).toBeLessThan(1)
      }),
    )
  })

  it('spread evenly: each of ten bins holds about a tenth of 100,000 values', () => {
    const bins = Array.from({ length: 10 }, () => 0)
    let seed = seedOf('spread')
    for (let i = 0; i < 100_000; i++) {
      seed = nextSeed(seed)
      const bin = Math.floor(randomOf(seed) * 10)
      bins[bin] = (bins[bin] ?? 0) + 1
    }
    for (const count of bins) expect(Math.abs(count - 10_000)).toBeLessThan(500)
  })
})

describe('seedOf', () => {
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('%j has the FNV-1a hash %i', (text, expected) => {
    expect(seedOf(text)).toBe(expected)
  })

  it('is an unsigned 32-bit number for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => seedOf(text) === seedOf(text) >>> 0))
  })
})
