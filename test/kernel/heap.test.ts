import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Heap } from '../../src/kernel/heap.ts'

const numbers = () => new Heap<number>((a, b) => a < b)

describe('Heap', () => {
  it('is empty at first, and returns undefined then', () => {
    const heap = numbers()
    expect([heap.size, heap.peek(), heap.pop()]).toEqual([0, undefined, undefined])
  })

  it('pops the smallest item at every moment, after any pushes and pops', () => {
    const key = fc.integer({ min: -20, max: 20 })
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('push' as const), key }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('pop' as const), key }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = numbers()
        let model: number[] = []
        for (const { do: action, key: at } of steps) {
          if (action === 'pop') expect(heap.pop()).toBe(model.shift())
          else {
            heap.push(at)
            model = [...model, at].sort((a, b) => a - b)
          }
          expect(heap.size).toBe(model.length)
          expect(heap.peek()).toBe(model[0])
        }
      }),
    )
  })
})
