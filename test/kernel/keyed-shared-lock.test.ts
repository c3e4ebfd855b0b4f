import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyedSharedLock } from '../../src/kernel/keyed-shared-lock.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

describe('a shared lock', () => {
  it('runs exclusive work alone, and shared work never beside it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ key: fc.constantFrom('a', 'b'), closes: fc.boolean(), fails: fc.boolean(), turns: fc.nat(3) }),
        ),
        async (jobs) => {
          const lock = new KeyedSharedLock()
          const inside = { a: 0, b: 0 }
          const outcomes = jobs.map(({ key, closes, fails, turns }, i) => {
            const weight = closes ? 1000 : 1
            const work = async (): Promise<number> => {
              // alone, or with other shared holders
              expect(closes ? inside[key] : Math.floor(inside[key] / 1000)).toBe(0)
              inside[key] += weight
              for (let left = turns; left > 0; left--) await Promise.resolve()
              inside[key] -= weight
              if (fails) throw new Error('no')
              return i
            }
            return closes ? lock.exclusive(key, work) : lock.shared(key, work)
          })
          const settled = await Promise.allSettled(outcomes)
          expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))).toEqual(
            jobs.map(({ fails }, i) => (fails ? 'Error: no' : i)),
          )
        },
      ),
    )
  })

  it('admits several shared holders at once', async () => {
    const lock = new KeyedSharedLock()
    let inside = 0
    let most = 0
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside)
      await turn()
      inside--
    }
    await Promise.all([lock.shared('a', work), lock.shared('a', work), lock.shared('a', work)])
    expect(most).toBe(3)
  })
})
