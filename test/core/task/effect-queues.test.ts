import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EffectQueues } from '../../../src/core/task/effect-queues.ts'
import type { Execution } from '../../../src/core/task/state.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const MANY = 1000

/** Only the fields that the queues read. */
function call(): Execution {
  return { touches: null } as unknown as Execution
}

describe('calls on one target', () => {
  it('begin in the order in which they fired, each after the previous one has ended', () => {
    const queues = new EffectQueues()
    const [a, b, c] = [call(), call(), call()]
    expect([a, b, c].map((one) => queues.enqueue(one, ['x'], MANY))).toEqual([true, false, false])
    expect(queues.release(a, MANY)).toEqual([b])
    expect(queues.release(b, MANY)).toEqual([c])
    expect(queues.release(c, MANY)).toEqual([])
    expect([queues.size, queues.behind]).toEqual([0, 0])
  })

  it('do not wait without a target', () => {
    const queues = new EffectQueues()
    expect([call(), call()].map((one) => queues.enqueue(one, [], MANY))).toEqual([true, true])
  })

  it('wait for the last of several targets', () => {
    const queues = new EffectQueues()
    const [x, y, both] = [call(), call(), call()]
    queues.enqueue(x, ['x'], MANY)
    queues.enqueue(y, ['y'], MANY)
    expect(queues.enqueue(both, ['x', 'y', 'x'], MANY)).toBe(false)
    expect(queues.release(x, MANY)).toEqual([])
    expect(queues.release(y, MANY)).toEqual([both])
  })

  it('that are dropped while waiting unblock the calls behind them', () => {
    const queues = new EffectQueues()
    const [a, b, c] = [call(), call(), call()]
    for (const one of [a, b, c]) queues.enqueue(one, ['x'], MANY)
    expect(queues.oldestBehind).toBe(b)
    expect(queues.release(b, MANY)).toEqual([])
    expect(queues.release(a, MANY)).toEqual([c])
  })

  it('are limited to a number of concurrent calls, also with other targets', () => {
    const queues = new EffectQueues()
    const calls = [call(), call(), call(), call()]
    expect(calls.map((one, i) => queues.enqueue(one, [`thing ${i}`], 2))).toEqual([true, true, false, false])
    expect(queues.release(calls[1] as Execution, 2)).toEqual([calls[2]])
    expect(queues.release(calls[0] as Execution, 2)).toEqual([calls[3]])
  })
})

// Holds QUEUE-1, QUEUE-2
describe('any calls that end in any order', () => {
  it('keep their order per target, and all begin', () => {
    const things = fc.array(fc.subarray(['x', 'y', 'z']), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(
        things,
        fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        (all, picks, most) => {
          const queues = new EffectQueues()
          const calls = all.map((touches) => ({ one: call(), touches }))
          const begun: typeof calls = []
          const open = new Set<Execution>()
          const begin = (one: Execution): void => {
            const which = calls.find((other) => other.one === one)
            if (which === undefined) throw new Error('nobody knows this call')
            for (const other of calls.slice(0, calls.indexOf(which))) {
              const isShared = other.touches.some((thing) => which.touches.includes(thing))
              if (isShared) expect(begun.includes(other) && !open.has(other.one)).toBe(true)
            }
            begun.push(which)
            open.add(one)
            expect(open.size).toBeLessThanOrEqual(most)
          }
          for (const { one, touches } of calls) if (queues.enqueue(one, touches, most)) begin(one)
          for (const pick of picks) {
            const ended = [...open][pick % Math.max(1, open.size)]
            if (ended === undefined) break
            open.delete(ended)
            for (const next of queues.release(ended, most)) begin(next)
          }
          expect(begun.length).toBe(calls.length)
          expect(queues.size).toBe(0)
        },
      ),
      runs(300),
    )
  })
})
