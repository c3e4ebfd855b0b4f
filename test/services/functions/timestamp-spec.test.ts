import { expect, it } from 'vitest'
import { timestampOf } from '../../../src/services/functions/registry/timestamp-spec.ts'

const NOW = Date.UTC(2026, 5, 15, 12)
const DAY = 86_400_000

it.each([
  ['2026-01-31T10:20:30Z', Date.UTC(2026, 0, 31, 10, 20, 30)],
  ['2026-01-31 10:20+01:00', Date.UTC(2026, 0, 31, 9, 20)],
  ['2026-01-31T10:20', Date.UTC(2026, 0, 31, 10, 20)],
  ['2026-01-31', Date.UTC(2026, 0, 31)],
  ['30d', NOW - 30 * DAY],
  ['2h', NOW - 2 * 3_600_000],
  ['5m', NOW - 300_000],
  ['1w', NOW - 7 * DAY],
  ['1b', NOW - (365.25 / 12) * DAY],
  ['1y', NOW - 365.25 * DAY],
  ['1500', NOW - 1_500],
  ['99999999999', NOW - 99_999_999_999],
  ['1700000000000', 1_700_000_000_000],
  ['P1D', NOW - DAY],
  ['PT1H30M', NOW - 5_400_000],
  ['PT0.5S', NOW - 500],
  ['P1Y2M', NOW - (365.25 + (2 * 365.25) / 12) * DAY],
])('%s is parsed as an instant', (text, instant) => {
  expect(timestampOf(text, NOW)).toBe(instant)
})

it.each(['', 'P', 'PT', '5x', '2026-02-30', '2026-01-31T25:00Z', 'tomorrow', '-5d', '1.5h'])(
  '%j is rejected',
  (text) => {
    expect(timestampOf(text, NOW)).toBeUndefined()
  },
)
