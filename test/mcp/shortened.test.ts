import { expect, it } from 'vitest'
import { shortened } from '../../src/mcp/shortened.ts'

it('short results stay as they are', () => {
  const result = { a: [1, { b: 'text' }], c: null }
  expect(shortened(result)).toEqual({ value: result, leftOut: [] })
})

it('long lists, objects and texts are cut, and each cut is listed', () => {
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, i]))
  const { value, leftOut } = shortened({
    list: Array.from({ length: 250 }, (_, i) => i),
    text: 'a'.repeat(5_000),
    many,
  })
  expect(leftOut).toEqual([
    { path: '/list', shown: 100, of: 250 },
    { path: '/text', shown: 4_000, of: 5_000 },
    { path: '/many', shown: 100, of: 101 },
  ])
  expect((value['list'] as unknown[]).length).toBe(100)
  expect(Object.keys(value['many'] as object)).toHaveLength(100)
})

it('a list of results becomes an object', () => {
  expect(shortened([1])).toEqual({ value: { value: [1] }, leftOut: [] })
})

it('deep results end', () => {
  let deep: object = {}
  for (let i = 0; i < 10_000; i++) deep = { deep }
  expect(shortened(deep).leftOut).toHaveLength(1)
})
