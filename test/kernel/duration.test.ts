import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { durationMs } from '../../src/kernel/duration.ts'
import { AppError } from '../../src/kernel/errors.ts'

describe('durationMs', () => {
  it.each([
    ['PT50S', 50_000],
    ['PT0S', 0],
    ['PT0.25S', 250],
    ['PT8H3,5S', 28_803_500],
    ['PT1M', 60_000],
    ['P1M', undefined],
    ['PT1H', 3_600_000],
    ['P1D', 86_400_000],
    ['P1DT2H', 93_600_000],
    ['P2W', 1_209_600_000],
    ['P1DT1H1M1S', 90_061_000],
    ['-PT1S', -1000],
    ['+PT1S', 1000],
    ['pt5m', 300_000],
    [' PT5M ', 300_000],
    ['5m', 300_000],
    ['90 s', 90_000],
    ['250ms', 250],
    ['1.5h', 5_400_000],
    ['2D', 172_800_000],
    ['1w', 604_800_000],
    ['P', undefined],
    ['PT', undefined],
    ['P1DT', undefined],
    ['P1Y', undefined],
    ['PT5', undefined],
    ['PT1S1M', undefined],
    ['5', undefined],
    ['-5m', undefined],
    ['5 minutes', undefined],
    ['1e3s', undefined],
    ['5m5s', undefined],
    ['', undefined],
    [' ', undefined],
    ['9'.repeat(400) + 's', undefined],
  ])('%j is %j ms (undefined: rejected)', (text, expected) => {
    if (expected === undefined) expect(() => durationMs(text)).toThrow(AppError)
    else expect(durationMs(text)).toBe(expected)
  })

  it('rejects with VALIDATION, the offending text and an example', () => {
    expect(() => durationMs('soon')).toThrow(/"soon" is not a valid duration.*PT50S/)
    expect(() => durationMs('soon')).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
  })

  it('reads days, hours, minutes and seconds as their sum', () => {
    const part = fc.nat(100_000)
    fc.assert(
      fc.property(part, part, part, part, (d, h, m, s) => {
        expect(durationMs(`P${d}DT${h}H${m}M${s}S`)).toBe(((d * 24 + h) * 60 + m) * 60_000 + s * 1000)
      }),
    )
  })

  it('returns a finite number or an AppError for any text', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[+-]?P?[\d.WDTHMSmshdw ]{0,60}$/))
    fc.assert(
      fc.property(text, (input) => {
        try {
          expect(Number.isFinite(durationMs(input))).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
    )
  })

  it('does not slow down on long texts', () => {
    // quadratic work on this much text would outlast the test's time limit
    expect(() => durationMs(`P${'1'.repeat(1_000_000)}`)).toThrow(AppError)
    expect(() => durationMs(`${' '.repeat(1_000_000)}x`)).toThrow(AppError)
  })
})
