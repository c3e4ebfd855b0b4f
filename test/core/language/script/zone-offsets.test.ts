import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calendarOf, zoneFormat } from '../../../../src/core/plug/calendar.ts'
import { zoneOffsets } from '../../../../src/core/language/script/zone-offsets.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const DAY = 86_400_000
const ZONES = [
  'UTC',
  'Europe/Brussels',
  'America/New_York',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  '-03:30',
]

describe('the known offsets of a time zone around a time', () => {
  it.each(ZONES)('agree with the calendar of %s', (zone) => {
    const spanAt = zoneOffsets(zone)
    const format = zoneFormat(zone)
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2_000_000_000_000 }),
        fc.integer({ min: -370 * DAY, max: 370 * DAY }),
        (now, away) => {
          const at = now + away
          const [from, until, changes] = spanAt(now)
          expect(at >= from && at < until).toBe(true)
          const offset = changes.findLast(([begin]) => begin <= at)?.[1] ?? Number.NaN
          const local = new Date(at + offset)
          const { day, hours, minutes } = calendarOf(format, at)
          expect([local.getUTCDate(), local.getUTCHours(), local.getUTCMinutes()]).toEqual([day, hours, minutes])
        },
      ),
      runs(40),
    )
  })

  it('depend on the time only, regardless of earlier queries', () => {
    const spanAt = zoneOffsets('Europe/Brussels')
    const first = spanAt(1e12)
    spanAt(1.5e12)
    expect(spanAt(1e12)).toEqual(first)
    expect(zoneOffsets('Europe/Brussels')(1e12)).toEqual(first)
  })

  it('contain a clock change to the second', () => {
    const [, , changes] = zoneOffsets('Europe/Brussels')(Date.UTC(2026, 5, 1))
    expect(changes).toContainEqual([Date.UTC(2026, 2, 29, 1), 7_200_000])
    expect(changes).toContainEqual([Date.UTC(2026, 9, 25, 1), 3_600_000])
  })
})
