import { describe, expect, it } from 'vitest'
import { parentsFirst } from '../../../src/core/graph/order.ts'
import type { Relation } from '../../../src/core/rule/rule.ts'

function relation(label: string, ...parentLabels: readonly string[]): Relation {
  return { label, type: 'AND', parentLabels, combinations: [parentLabels.map(() => 'TRUE')] }
}

const order = (...relations: readonly Relation[]) => parentsFirst(relations).map(({ label }) => label)

describe('the order of gates', () => {
  it.each([
    ['is as declared where nothing depends', [relation('b', 's'), relation('a', 's')], ['b', 'a']],
    ['puts parents before children', [relation('c', 'b'), relation('b', 'a'), relation('a', 's')], ['a', 'b', 'c']],
    ['names a shared parent once', [relation('c', 'a', 'b'), relation('b', 'a'), relation('a', 's')], ['a', 'b', 'c']],
    [
      'holds several parents in the order of the child',
      [relation('c', 'z', 'a'), relation('a'), relation('z')],
      ['z', 'a', 'c'],
    ],
  ])('%s', (_, relations, expected) => {
    expect(order(...relations)).toEqual(expected)
  })

  it.each([
    ['itself', [relation('a', 'a')], 'a -> a'],
    ['two', [relation('a', 'b'), relation('b', 'a')], 'a -> b -> a'],
    [
      'three behind a lead-in',
      [relation('in', 'a'), relation('a', 'b'), relation('b', 'c'), relation('c', 'a')],
      'a -> c -> b -> a',
    ],
  ])('rejects a cycle of %s and names its members in the direction of the data', (_, relations, cycle) => {
    expect(() => order(...relations)).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
    expect(() => order(...relations)).toThrow(`relations form a cycle: ${cycle}`)
  })

  it('is computed for a chain of 10,000 gates, declared child first, without a stack overflow', () => {
    const count = 10_000
    const chain = Array.from({ length: count }, (_, i) => relation(`g${i}`, i + 1 === count ? 's' : `g${i + 1}`))
    expect(order(...chain)[0]).toBe(`g${count - 1}`)
    expect(order(...chain).at(-1)).toBe('g0')
  })
})
