import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_NUMBER, ResourceTable } from '../../../src/core/columnar/resource-table.ts'

/** How resources are named: numbered, alike but for the middle or the beginning, random, short ones among them. */
const name = fc.oneof(
  fc.nat(3000).map((n) => `boiler-${n}`),
  fc.nat(300).map((n) => `site/${n}/temperature`),
  fc.nat(300).map((n) => `${n}: a text that is the same in all of them`),
  fc.uuid(),
  fc.string({ maxLength: 5 }),
)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant('set' as const), name, number: fc.nat(2 ** 30 - 1) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('delete' as const), name }) },
)

test('a table of resources returns the same as a Map for any names', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: 'max' }), fc.array(name), (steps, others) => {
      const table = new ResourceTable()
      const map = new Map<string, number>()
      for (const one of steps) {
        if (one.what === 'set') {
          table.set(one.name, one.number)
          map.set(one.name, one.number)
        } else {
          table.delete(one.name)
          map.delete(one.name)
        }
        expect(table.get(one.name)).toBe(map.get(one.name) ?? NO_NUMBER)
      }
      for (const one of [...steps.map((each) => each.name), ...others]) {
        expect(table.get(copyOf(one))).toBe(map.get(one) ?? NO_NUMBER)
      }
    }),
  )
})

test.each([
  ['numbered', (i: number) => `boiler-${i}`],
  ['numbered in the middle', (i: number) => `site/${i}/temperature`],
  ['numbered at the beginning', (i: number) => `${String(i).padStart(4, '0')}: a text that is the same in all`],
  ['hexadecimal', (i: number) => `urn:dev:${Math.imul(i + 1, 0x9e_37_79_b1).toString(16)}`],
])('5,000 resources that are %s are found by some of their characters', (_, nameOf) => {
  const table = new ResourceTable()
  for (let i = 0; i < 5000; i++) table.set(nameOf(i), i)
  for (let i = 0; i < 5000; i++) expect(table.get(copyOf(nameOf(i)))).toBe(i)
  expect(table.withoutPlace).toBeLessThan(500)
})

test('the slot of a resource mostly contains its number, and is empty after a deletion', () => {
  const table = new ResourceTable()
  for (let i = 0; i < 1500; i++) table.set(`boiler-${i}`, i)
  const guess = (i: number) => table.numberAt(table.placeOf(copyOf(`boiler-${i}`)))
  const right = Array.from({ length: 1500 }, (_, i) => i).filter((i) => guess(i) === i)
  expect(table.isFar).toBe(true)
  expect(right.length).toBeGreaterThan(1300)
  for (const i of right) table.delete(`boiler-${i}`)
  expect(right.map(guess).filter((number) => number !== NO_NUMBER)).toEqual([])
})

test('resources that few characters cannot distinguish are found as well', () => {
  const nameOf = (i: number) => `${'x'.repeat(20)}${i}${'y'.repeat(20)}`
  const table = new ResourceTable()
  for (let i = 0; i < 500; i++) table.set(nameOf(i), i)
  for (let i = 0; i < 500; i++) expect(table.get(nameOf(i))).toBe(i)
  expect(table.get(nameOf(500))).toBe(NO_NUMBER)
})

/** The same text elsewhere in memory, as a message brings it. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
