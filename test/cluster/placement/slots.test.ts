import fc from 'fast-check'
import { expect, it } from 'vitest'
import { assignSlots, SLOTS, slotOf } from '../../../src/cluster/placement/slots.ts'

const hosts = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 12 })

it('every slot has a host, and none has more than its even share', () => {
  fc.assert(
    fc.property(hosts, (ids) => {
      const assigned = assignSlots(ids.toSorted())
      expect(assigned).toHaveLength(SLOTS)
      for (const id of ids) {
        expect(assigned.filter((one) => one === id).length).toBeLessThanOrEqual(Math.ceil(SLOTS / ids.length))
      }
    }),
  )
})

it('it is the same on whichever host lists them', () => {
  fc.assert(
    fc.property(hosts, (ids) => {
      expect(assignSlots(ids.toReversed())).toEqual(assignSlots(ids))
    }),
  )
})

it('a fourth host takes little more than its share: nothing moves around among the others', () => {
  const three = ['a', 'b', 'c'].map((name) => `host-${name}`)
  const before = assignSlots(three)
  const after = assignSlots([...three, 'host-d'])
  const moved = before.filter((host, slot) => host !== after[slot])
  expect(moved.length).toBeLessThanOrEqual(SLOTS / 4 + 16)
})

it('tenants spread over the slots, and stay where they are for ever', () => {
  const used = new Set(Array.from({ length: 10_000 }, (_, n) => slotOf(`tenant-${n}`)))
  expect(used.size).toBe(SLOTS)
  expect(['acme', 'north', 'default'].map(slotOf)).toMatchInlineSnapshot(`
    [
      194,
      54,
      44,
    ]
  `)
})

it('no host has a slot when no host is there', () => {
  expect(assignSlots([])).toEqual([])
})
