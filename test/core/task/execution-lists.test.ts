/** Tests the list of executions in flight. */
import { expect, it } from 'vitest'
import { InFlight, type Linked } from '../../../src/core/task/execution-lists.ts'

interface One extends Linked<One> {
  readonly id: number
}

function listOf(count: number): readonly [InFlight<One>, readonly One[]] {
  const list = new InFlight<One>()
  const all = Array.from({ length: count }, (_, id): One => ({ id, isInFlight: false, earlier: null, later: null }))
  for (const one of all) list.add(one)
  return [list, all]
}

it.each([3, 8, 9, 1_000])('finds each of %d executions by its id, until it ends', (count) => {
  const [list, all] = listOf(count)
  expect(all.map(({ id }) => list.find(id))).toEqual(all)
  expect(list.find(count)).toBeUndefined()
  for (const [i, one] of all.entries()) if (i % 2 === 0) list.delete(one)
  expect(all.map(({ id }) => list.find(id)?.id)).toEqual(all.map(({ id }) => (id % 2 === 0 ? undefined : id)))
  const again: One = { id: count, isInFlight: false, earlier: null, later: null }
  list.add(again)
  expect(list.find(count)).toBe(again)
  list.clear()
  expect([list.size, list.find(count), list.find(1)]).toEqual([0, undefined, undefined])
})

it.each([3, 8, 9, 1_000])('finds the earlier of two executions with one id among %d, until it ends', (count) => {
  const [list, all] = listOf(count)
  const first = all[1]
  const twin = (): One => ({ id: 1, isInFlight: false, earlier: null, later: null })
  // with an index, and while the index is made
  list.find(0)
  for (const second of [twin(), twin()]) {
    list.add(second)
    expect(list.find(1)).toBe(first)
    list.delete(second)
    expect(list.find(1)).toBe(first)
  }
  const [fresh, others] = listOf(count)
  const second = twin()
  fresh.add(second)
  expect(fresh.find(1)).toBe(others[1])
  fresh.delete(second)
  expect(fresh.find(1)).toBe(others[1])
})
