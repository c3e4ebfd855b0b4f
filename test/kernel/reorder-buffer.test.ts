/**
 * Tests that operations are retired in the order in which they began, in whatever order they end (REORDER-1 to
 * REORDER-3).
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReorderBuffer, type Ended } from '../../src/kernel/reorder-buffer.ts'
import { deferred } from '../support/deferred.ts'

interface Operation {
  end(): void
  fail(): void
  readonly promise: Promise<number>
}

function operation(n: number): Operation {
  const { promise, resolve, reject } = deferred<number>()
  return { promise, end: () => resolve(n), fail: () => reject(new Error(`${n}`)) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

function shown({ item, outcome }: Ended<string, number>): string {
  return 'error' in outcome ? `${item} failed` : `${item}=${outcome.result}`
}

describe('operations in flight', () => {
  it('are retired in the order in which they began, simultaneous ends in one batch', async () => {
    const batches: string[][] = []
    const buffer: ReorderBuffer<string, number> = new ReorderBuffer(async (ended) => {
      batches.push(ended.map(shown))
      buffer.drop(ended.length)
    })
    const [a, b, c, d] = [operation(1), operation(2), operation(3), operation(4)]
    for (const [i, { promise }] of [a, b, c, d].entries()) buffer.add('abcd'[i] ?? '', promise)
    expect([buffer.size, buffer.oldest, buffer.newest]).toEqual([4, 'a', 'd'])
    c.end()
    b.fail()
    await turn()
    expect([batches, buffer.size]).toEqual([[], 4])
    a.end()
    await turn()
    expect(batches).toEqual([['a=1', 'b failed', 'c=3']])
    expect([buffer.size, buffer.oldest, buffer.newest]).toEqual([1, 'd', 'd'])
    d.end()
    await turn()
    expect(batches[1]).toEqual(['d=4'])
    expect([buffer.size, buffer.oldest, buffer.newest]).toEqual([0, undefined, undefined])
  })

  it('are passed when all earlier ones were dropped, regardless of later ones', async () => {
    const buffer: ReorderBuffer<string, number> = new ReorderBuffer(async (ended) => buffer.drop(ended.length))
    expect(buffer.passed()).toBeUndefined()
    const [a, b] = [operation(1), operation(2)]
    buffer.add('a', a.promise)
    let isPassed = false
    const passed = buffer.passed()?.then(() => (isPassed = true))
    buffer.add('b', b.promise)
    await turn()
    expect(isPassed).toBe(false)
    a.end()
    await passed
    expect(buffer.size).toBe(1)
    b.end()
    await buffer.passed()
    expect(buffer.size).toBe(0)
  })

  it('are retired once each and one batch at a time, at any speed', async () => {
    const plan = fc.array(fc.record({ fails: fc.boolean(), turns: fc.nat(4), pause: fc.nat(2), one: fc.boolean() }), {
      maxLength: 30,
    })
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const retired: string[] = []
        let underWay = 0
        let most = 0
        const buffer: ReorderBuffer<number, number> = new ReorderBuffer(async (ended) => {
          most = Math.max(most, ++underWay)
          // the caller may retire only the first of them
          const first = steps[ended[0]?.item ?? 0]
          for (const { item, outcome } of first?.one ? ended.slice(0, 1) : ended) {
            for (let left = steps[item]?.pause ?? 0; left > 0; left--) await turn()
            retired.push('error' in outcome ? `${buffer.oldest} failed` : `${buffer.oldest}`)
            buffer.drop(1)
          }
          // work after it dropped the last one takes time too
          if (first !== undefined && first.pause > 0) await turn()
          underWay--
        })
        for (const [i, { fails, turns, pause }] of steps.entries()) {
          const { promise, end, fail } = operation(i)
          buffer.add(i, promise)
          void (async () => {
            for (let left = turns; left > 0; left--) await turn()
            if (fails) fail()
            else end()
          })()
          if (pause > 0) await turn()
        }
        await buffer.passed()
        expect(most, 'one call at a time').toBeLessThan(2)
        expect(retired).toEqual(steps.map(({ fails }, i) => (fails ? `${i} failed` : `${i}`)))
      }),
    )
  })
})
