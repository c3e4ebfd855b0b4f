import { describe, expect, it } from 'vitest'
import { isoLocal, isoWithOffset } from '../../../src/core/schedule/iso-time.ts'

describe('a time as text', () => {
  it.each([
    [0, 0, '1970-01-01T00:00:00+00:00'],
    [0, -12_600_000, '1969-12-31T20:30:00-03:30'],
    [1, 7_200_000, '1970-01-01T02:00:00.001+02:00'],
    [0, 1_172_000, '1970-01-01T00:19:32+00:19:32'],
  ])('%i at the offset %i is %s', (instant, offset, text) => {
    expect(isoWithOffset(instant, offset)).toBe(text)
    if (offset % 60_000 === 0) expect(Date.parse(text)).toBe(instant)
  })

  it('has no offset when it is local', () => {
    expect(isoLocal(Date.UTC(2026, 2, 29, 2, 30))).toBe('2026-03-29T02:30:00')
  })
})
