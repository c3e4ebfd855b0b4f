import { describe, expect, it } from 'vitest'
import { isoInstant, notAnInstant } from '../../src/kernel/instant.ts'

describe('an instant of ISO 8601', () => {
  it.each([
    ['2026-02-28T08:00:00Z', Date.UTC(2026, 1, 28, 8)],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['2000-02-29T00:00Z', Date.UTC(2000, 1, 29)],
    ['2026-12-31 23:59:59,5+01:00', Date.UTC(2026, 11, 31, 22, 59, 59, 500)],
    ['0004-02-29', new Date(0).setUTCFullYear(4, 1, 29)],
  ])('%s', (text, time) => {
    expect(isoInstant(text)).toBe(time)
  })

  it.each([
    ['2026-02-30T08:00:00Z', '2026-02-30', 28],
    ['2026-02-29', '2026-02-29', 28],
    ['1900-02-29 10:00', '1900-02-29', 28],
    ['2024-02-30', '2024-02-30', 29],
    ['2026-04-31T00:00:00+02:00', '2026-04-31', 30],
    ['2026-01-00', '2026-01-00', 31],
    ['2026-01-32', '2026-01-32', 31],
  ])('%s names a day that does not exist', (text, day, days) => {
    expect(isoInstant(text)).toBeNaN()
    expect(notAnInstant(text)).toBe(`is not a valid time: day ${day} does not exist, that month has ${days}`)
  })

  it.each(['2026-13-01', '2026-00-10', '2026-01-31T25:00:00Z', 'noon', '', 'P1D'])('%s is rejected', (text) => {
    expect(isoInstant(text)).toBeNaN()
    expect(notAnInstant(text)).toBe('is not a valid time')
  })

  it('rejects a number as text', () => {
    expect(notAnInstant(Number.NaN)).toBe('is not a valid time')
  })
})
