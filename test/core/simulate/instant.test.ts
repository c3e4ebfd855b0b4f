import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instantOf } from '../../../src/core/simulate/instant.ts'
import { isoInstant } from '../../../src/kernel/instant.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const NOON = Date.UTC(2026, 0, 31, 12)

describe('the time of a message', () => {
  it.each<[number | string, number]>([
    [0, 0],
    [1_769_860_800_000, 1_769_860_800_000],
    [-5, -5],
    ['2026-01-31T12:00:00Z', NOON],
    ['2026-01-31T12:00:00', NOON],
    ['2026-01-31T12:00', NOON],
    ['2026-01-31 12:00:00', NOON],
    ['2026-01-31t12:00:00z', NOON],
    ['2026-01-31T12:00:00.250Z', NOON + 250],
    ['2026-01-31T12:00:00,250Z', NOON + 250],
    ['2026-01-31T12:00:00.123456789Z', NOON + 123],
    ['2026-01-31T14:00:00+02:00', NOON],
    ['2026-01-31T14:00:00+0200', NOON],
    ['2026-01-31T06:30:00 -05:30', NOON],
    ['2026-01-31', NOON - 12 * 3_600_000],
    [' 2026-01-31T12:00:00Z ', NOON],
  ])('%s is %i', (timestamp, expected) => {
    expect(instantOf({ resource: 'r', timestamp }, 1)).toBe(expected)
  })

  it.each<[unknown, string]>([
    ['yesterday', 'message 3 has the timestamp "yesterday"; use epoch milliseconds or an ISO 8601 time'],
    ['2026-13-01', 'message 3 has the timestamp "2026-13-01"'],
    ['2026-01-31T25:00', 'message 3 has the timestamp'],
    ['31.01.2026', 'message 3 has the timestamp'],
    ['1769860800000', 'message 3 has the timestamp'],
    ['2026-01-31T12:00:00 UTC', 'message 3 has the timestamp'],
    ['', 'message 3 has the timestamp ""'],
    [8.64e15 + 1, 'message 3 has the timestamp'],
    [Number.NaN, 'message 3 has the timestamp'],
    [Number.POSITIVE_INFINITY, 'message 3 has the timestamp'],
    [undefined, 'message 3 lacks a timestamp'],
  ])('%j is rejected, with the number of the message', (timestamp, text) => {
    const message = { resource: 'r', timestamp: timestamp as string }
    expect(() => instantOf(message, 3)).toThrow(expect.objectContaining({ code: 'BAD_RECORDING' }))
    expect(() => instantOf(message, 3)).toThrow(text)
  })

  it('of an option is rejected with its name', () => {
    expect(() => instantOf({ resource: '', timestamp: 'soon' }, 'until')).toThrow('until has the timestamp "soon"')
  })

  it('written by toISOString is read back', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        expect(isoInstant(date.toISOString())).toBe(date.getTime())
      }),
      runs(200),
    )
  })
})
