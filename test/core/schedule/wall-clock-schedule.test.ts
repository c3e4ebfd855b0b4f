import fc from 'fast-check'
import { IANAZone } from 'luxon'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import type { DstPolicy } from '../../../src/core/rule/rule.ts'
import { occurrencesBetween } from './occurrences-between.ts'
import { parseSchedule } from '../../../src/core/schedule/parse-schedule.ts'
import { clockChanges } from '../../../src/core/schedule/dst-policy.ts'
import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import { wallClockSchedule } from '../../../src/core/schedule/wall-clock-schedule.ts'
import { Zones } from '../../../src/core/schedule/zone.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 86_400_000
const POLICIES: Required<DstPolicy>[] = (['shift', 'skip'] as const).flatMap((gap) =>
  (['first', 'second', 'both'] as const).map((overlap) => ({ gap, overlap })),
)
const zones = new Zones()

function cronIn(timeZone: string, cron: string, dst?: DstPolicy): Schedule {
  return parseSchedule({ type: 'scheduled', cron, timeZone, start: 0, ...(dst ? { dst } : {}) }, zones)
}

function rruleIn(timeZone: string, rrule: string, dst?: DstPolicy): Schedule {
  return parseSchedule({ type: 'scheduled', rrule, timeZone, start: 0, ...(dst ? { dst } : {}) }, zones)
}

/** Iterates over the minutes, converts each with luxon, and applies the policy literally. */
function walk(
  timeZone: string,
  fits: (minuteOfDay: number, day: Date) => boolean,
  dst: Required<DstPolicy>,
  from: number,
  until: number,
): number[] {
  const luxon = IANAZone.create(timeZone)
  const offset = (instant: number): number => luxon.offset(instant) * MINUTE
  const matches = (local: number): boolean => fits(Math.floor((local % DAY) / MINUTE), new Date(local))
  const found = new Set<number>()
  const shown = new Map<number, number[]>()
  let before = offset(from - 26 * HOUR - MINUTE)
  for (let at = from - 26 * HOUR; at < until + 26 * HOUR; at += MINUTE) {
    const now = offset(at)
    const local = at + now
    shown.set(local, [...(shown.get(local) ?? []), at])
    const jump = now - before
    const ahead = before
    before = now
    if (jump <= 0 || dst.gap === 'skip') continue
    for (let missing = local - jump; missing < local; missing += MINUTE) {
      if (matches(missing)) found.add(missing - ahead)
    }
  }
  for (const [local, instants] of shown) {
    if (!matches(local)) continue
    const chosen =
      dst.overlap === 'both' ? instants : dst.overlap === 'first' ? instants.slice(0, 1) : instants.slice(-1)
    for (const at of chosen) found.add(at)
  }
  return [...found].filter((at) => at >= from && at < until).toSorted((a, b) => a - b)
}

describe('a schedule through a change of the clocks', () => {
  const spring = Date.UTC(2026, 2, 29)
  const autumn = Date.UTC(2026, 9, 25)
  const hours = (schedule: Schedule, day: number): string[] =>
    occurrencesBetween(schedule, day - 4 * 3_600_000, day + 6 * 3_600_000, 999).map((at) =>
      new Date(at).toISOString().slice(8, 16),
    )

  it('merges two local times of one instant', () => {
    expect(hours(cronIn('Europe/Brussels', '0 30 2,3 * * ?', { gap: 'shift' }), spring)).toEqual(['29T01:30'])
  })

  it('sorts shifted times among the regular ones', () => {
    expect(hours(cronIn('Europe/Brussels', '0 0,20,50 2 ? * SUN'), spring)).toEqual([
      '29T01:00',
      '29T01:20',
      '29T01:50',
    ])
    const mixed = cronIn('Europe/Brussels', '0 15/30 2-3 * * ?')
    expect(hours(mixed, spring)).toEqual(['29T01:15', '29T01:45'])
  })

  it('runs in both passes of a repeated hour if it runs every hour, unless configured otherwise', () => {
    const everyHour = ['0 0/15 * * * ?', '*/15 * * * *'].map((cron) => cronIn('Europe/Brussels', cron))
    everyHour.push(rruleIn('Europe/Brussels', 'FREQ=MINUTELY;INTERVAL=15'))
    for (const schedule of everyHour) {
      const times = occurrencesBetween(schedule, autumn - 3_600_000, autumn + 3 * 3_600_000, 99)
      expect(times).toHaveLength(16)
    }
    const first = cronIn('Europe/Brussels', '0 0/15 * * * ?', { overlap: 'first' })
    expect(occurrencesBetween(first, autumn - 3_600_000, autumn + 3 * 3_600_000, 99)).toHaveLength(12)
  })

  it('has no occurrence after an UNTIL in UTC, also where the local time repeats', () => {
    const lines = (until: string): string =>
      `DTSTART;TZID=Europe/Brussels:20261025T023000\nRRULE:FREQ=DAILY;UNTIL=${until}`
    expect(hours(rruleIn('Europe/Brussels', lines('20261025T010000Z'), { overlap: 'both' }), autumn)).toEqual([
      '25T00:30',
    ])
    expect(hours(rruleIn('Europe/Brussels', lines('20261025T013000Z'), { overlap: 'both' }), autumn)).toHaveLength(2)
  })

  it('finds a yearly time in an overlap twice', () => {
    const yearly = cronIn('Europe/Brussels', '0 30 2 25 10 ? 2026', { overlap: 'both' })
    expect(yearly.next(Date.UTC(2026, 9, 25, 0, 30))).toBe(Date.UTC(2026, 9, 25, 1, 30))
    expect(yearly.next(Date.UTC(2026, 9, 25, 1, 30))).toBeNull()
  })
})

// Holds WALLCLOCK-1, WALLCLOCK-2
describe('a schedule agrees with a walk over the minutes', () => {
  const names = Intl.supportedValuesOf('timeZone')
  const numbers = (max: number): fc.Arbitrary<number[]> =>
    fc
      .uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 })
      .map((list) => list.toSorted((a, b) => a - b))

  it('in every zone, around the changes of every year from 2000 to 2037, under every policy', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.integer({ min: 2000, max: 2037 }),
        fc.nat(),
        numbers(59),
        fc.oneof(numbers(23), numbers(3)),
        fc.constantFrom(...POLICIES),
        (name, year, pick, minutes, hoursOfDay, dst) => {
          const changes = clockChanges(zones.parse(name), Date.UTC(year, 0), Date.UTC(year + 1, 0))
          const around = changes[pick % Math.max(1, changes.length)]?.at ?? Date.UTC(year, 0) + (pick % 365) * DAY
          const from = around - 13 * HOUR
          const until = around + 13 * HOUR
          const fits = (minute: number): boolean =>
            minutes.includes(minute % 60) && hoursOfDay.includes(Math.floor(minute / 60))
          const expected = walk(name, fits, dst, from, until)
          const cron = cronIn(name, `0 ${minutes.join()} ${hoursOfDay.join()} * * ?`, dst)
          const rrule = rruleIn(
            name,
            `FREQ=DAILY;BYHOUR=${hoursOfDay.join()};BYMINUTE=${minutes.join()};BYSECOND=0`,
            dst,
          )
          expect(occurrencesBetween(cron, from, until, 9999)).toEqual(expected)
          expect(occurrencesBetween(rrule, from, until, 9999)).toEqual(expected)
          for (const at of expected) expect(cron.next(at - 1)).toBe(at)
        },
      ),
      runs(50),
    )
  })
})

// Holds WALLCLOCK-3
describe('a query of a schedule', () => {
  it.each(POLICIES)('costs the same over three centuries of clock changes as over a day (%j)', (dst) => {
    for (const days of [1, 400, 110_000]) {
      const at = Date.UTC(2000, 0, 1) + days * DAY
      let questions = 0
      const next = (after: number): number | null => {
        questions++
        return after < at ? at : null
      }
      const recurrence = { key: 'once', times: { next }, everyHour: false, anyStart: true }
      const schedule = wallClockSchedule(recurrence, zones.parse('Europe/Brussels'), dst)
      expect(schedule.next(Date.UTC(2000, 0, 1))).toBe(at - HOUR)
      expect(questions).toBeLessThanOrEqual(8)
    }
  })
})
