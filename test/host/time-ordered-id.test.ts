import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { timeOrderedId } from '../../src/host/time-ordered-id.ts'

const LAST = 2 ** 48 - 1

describe('an id with its time in it', () => {
  it('is a UUID of version 7 that contains the time at which it was made', () => {
    const id = timeOrderedId(Date.UTC(2026, 10, 21))
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.UTC(2026, 10, 21))
  })

  it('comes after the ones that were made before', () => {
    const times = fc.tuple(fc.integer({ min: 0, max: LAST }), fc.integer({ min: 0, max: LAST }))
    fc.assert(
      fc.property(times, ([one, other]) => {
        const [earlier, later] = [Math.min(one, other), Math.max(one, other)]
        fc.pre(earlier < later)
        expect(timeOrderedId(earlier) < timeOrderedId(later)).toBe(true)
      }),
    )
  })

  it('is unique', () => {
    expect(new Set(Array.from({ length: 1000 }, () => timeOrderedId(1))).size).toBe(1000)
  })
})
