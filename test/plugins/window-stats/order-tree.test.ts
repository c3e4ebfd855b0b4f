import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  emptyTree,
  insert,
  percentileOf,
  pick,
  remove,
  type OrderTree,
} from '../../../plugins/window-stats/order-tree.ts'

describe('an order tree', () => {
  it('keeps numbers in order under any inserts and removals, also after a restart', () => {
    const step = fc.oneof(
      fc.integer({ min: -20, max: 20 }).map((value) => ({ add: value })),
      fc.nat(20).map((place) => ({ drop: place })),
      fc.constant({ save: true }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        let tree: OrderTree = emptyTree()
        let plain: number[] = []
        for (const one of steps) {
          if ('save' in one) tree = JSON.parse(JSON.stringify(tree)) as OrderTree
          else if ('add' in one) {
            insert(tree, one.add)
            plain = [...plain, one.add].sort((a, b) => a - b)
          } else {
            const gone = plain[one.drop] ?? 1000
            remove(tree, gone)
            plain = plain.filter((_, index) => index !== one.drop)
          }
          expect(plain.map((_, rank) => pick(tree, rank))).toEqual(plain)
          expect(pick(tree, plain.length)).toBeNaN()
        }
      }),
    )
  })

  it.each([
    [[1], 95, 1],
    [[1, 2], 50, 1.5],
    [[4, 1, 3, 2], 0, 1],
    [[4, 1, 3, 2], 100, 4],
    [[1, 2, 3, 4, 5], 90, 4.6],
  ])('of %j returns the percentile %i: %d', (values, percent, value) => {
    const tree = emptyTree()
    for (const one of values) insert(tree, one)
    expect(percentileOf(tree, percent)).toBeCloseTo(value, 12)
  })

  it('stays shallow for numbers in ascending order', () => {
    const tree = emptyTree()
    for (let i = 0; i < 20_000; i++) insert(tree, i)
    const depth = (node: number): number =>
      node < 0 ? 0 : 1 + Math.max(depth(tree.left[node] ?? -1), depth(tree.right[node] ?? -1))
    expect(depth(tree.root)).toBeLessThan(60)
  })

  it('reuses slots', () => {
    const tree = emptyTree()
    for (let i = 0; i < 1000; i++) {
      insert(tree, i)
      if (i >= 10) remove(tree, i - 10)
    }
    expect(tree.keys.length).toBeLessThanOrEqual(11)
  })
})
