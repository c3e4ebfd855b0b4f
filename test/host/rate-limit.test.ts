import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TokenBuckets } from '../../src/host/rate-limit.ts'

function buckets(perSecond: number, burst: number, mostKeys = 100) {
  const clock = { now: 0 }
  return { clock, all: new TokenBuckets({ perSecond, burst, mostKeys, now: () => clock.now }) }
}

describe('a bucket', () => {
  it('allows its burst at once, then one request per refill', () => {
    const { all, clock } = buckets(2, 3)
    expect([1, 2, 3, 4].map(() => all.take('a'))).toEqual([0, 0, 0, 1])
    clock.now = 499
    expect(all.take('a')).toBe(1)
    clock.now = 500
    expect([all.take('a'), all.take('a')]).toEqual([0, 1])
  })

  it('reports the seconds to wait', () => {
    const { all } = buckets(0.1, 1)
    all.take('a')
    expect(all.take('a')).toBe(10)
  })

  it('takes back what was taken, and never holds more than its burst', () => {
    const { all } = buckets(1, 1)
    all.take('a')
    all.giveBack('a')
    all.giveBack('a')
    all.giveBack('nobody')
    expect([all.take('a'), all.take('a')]).toEqual([0, 1])
  })

  it('without a rate never runs out, and accepts no room', () => {
    const { all } = buckets(0, 0)
    expect([all.take('a'), all.take('a'), all.size]).toEqual([0, 0, 0])
  })

  it('neither fills nor empties when the clock goes back', () => {
    const { all, clock } = buckets(1, 2)
    clock.now = 10_000
    all.take('a')
    clock.now = 0
    expect([all.take('a'), all.take('a')]).toEqual([0, 1])
  })

  it('whose key was not used longest is forgotten first', () => {
    const { all } = buckets(1, 1, 3)
    for (const key of ['a', 'b', 'a', 'c']) all.take(key)
    expect(all.take('d')).toBe(0)
    expect(all.size).toBe(3)
    expect([all.take('a'), all.take('b')]).toEqual([1, 0])
  })
})

describe('a rate', () => {
  it('holds over any period: never more than the burst and the refills', () => {
    const law = fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }),
      (perSecond, burst, waits) => {
        const { all, clock } = buckets(perSecond, burst)
        const taken: number[] = []
        for (const wait of waits) {
          clock.now += wait
          if (all.take('a') === 0) taken.push(clock.now)
        }
        for (const [first, start] of taken.entries()) {
          for (const [last, end] of taken.entries()) {
            if (last < first) continue
            expect(last - first + 1).toBeLessThanOrEqual(burst + ((end - start) / 1000) * perSecond + 1e-6)
          }
        }
      },
    )
    fc.assert(law)
  })
})
