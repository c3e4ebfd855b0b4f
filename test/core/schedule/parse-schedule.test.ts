import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { parseSchedule } from '../../../src/core/schedule/parse-schedule.ts'
import type { Schedule, ScheduleSettings } from '../../../src/core/schedule/schedule.ts'

const START = Date.UTC(2026, 0, 1, 0, 0, 7)

/** Settings as external input, where types do not hold. */
function parse(settings: Record<string, unknown>): Schedule {
  return parseSchedule({ start: START, ...settings } as unknown as ScheduleSettings)
}

describe('a periodic schedule', () => {
  it('begins at the start and keeps its phase', () => {
    const schedule = parse({ type: 'periodic', frequency: 10_000 })
    expect(schedule.first(START)).toBe(START)
    expect(schedule.next(START)).toBe(START + 10_000)
    expect(schedule.next(START + 25_000)).toBe(START + 30_000)
    expect(schedule.next(START - 99_000)).toBe(START)
    expect(schedule.first(START + 25_000)).toBe(START + 30_000)
  })

  it('has an equal key for an equal phase only', () => {
    const key = (start: number): string => parse({ type: 'periodic', frequency: 10_000, start }).key
    expect(key(START)).toBe(key(START + 30_000))
    expect(key(START)).not.toBe(key(START + 1))
    expect(key(START)).not.toBe(parse({ type: 'periodic', frequency: 20_000 }).key)
  })

  it('counts its occurrences', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: -50, max: 50 }),
        fc.integer({ min: -50, max: 150 }),
        (frequency, after, before) => {
          const schedule = parse({ type: 'periodic', frequency, start: 0 })
          let count = 0
          for (let at = schedule.next(after); at !== null && at < before; at = schedule.next(at)) count++
          expect(schedule.tally?.(after, before)).toEqual({ count, isExact: true })
        },
      ),
      runs(100),
    )
  })

  it('with a fixed delay counts from the end of the last work, and is not shared', () => {
    const schedule = parse({ type: 'periodic', frequency: 10_000, pollingFixedRate: false })
    expect(schedule.fixedDelay).toBe(true)
    expect(schedule.first(START)).toBe(START)
    expect(schedule.next(START + 3_333)).toBe(START + 13_333)
  })

  it.each([0, -1, Number.NaN, Infinity, 0.5, 366 * 86_400_000 + 1, '1000', undefined])(
    'rejects the frequency %s',
    (frequency) => {
      expect(() => parse({ type: 'periodic', frequency })).toThrow(
        `/frequency: ${String(frequency)} is not a valid frequency; use whole milliseconds from 1 to 31622400000 (a year)`.replace(
          '1000 is',
          typeof frequency === 'string' ? '"1000" is' : '1000 is',
        ),
      )
    },
  )
})

describe('the other kinds of clock', () => {
  it('onetime has one occurrence, at the start', () => {
    const schedule = parse({ type: 'onetime' })
    expect([schedule.first(START), schedule.next(START - 1), schedule.next(START), schedule.first(START + 1)]).toEqual([
      START,
      START,
      null,
      null,
    ])
  })

  it('reactive has none', () => {
    const schedule = parse({ type: 'reactive' })
    expect([schedule.first(START), schedule.next(0)]).toEqual([null, null])
  })

  it('scheduled begins strictly after the start', () => {
    expect(parse({ type: 'scheduled', cron: '7 * * * * ?' }).first(START)).toBe(START + 60_000)
  })
})

describe('invalid settings', () => {
  it('are reported all at once', () => {
    const settings = {
      type: 'scheduled',
      cron: '0 61 25 * * ?',
      timeZone: 'Europe/Brusels',
      dst: { gap: 'jump', overlap: 'third' },
    }
    let error: unknown
    try {
      parse(settings)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({
      code: 'SCHEDULE',
      issues: [
        { path: '/dst/gap' },
        { path: '/dst/overlap' },
        { path: '/timeZone' },
        { path: '/cron' },
        { path: '/cron' },
      ],
    })
  })

  it.each([
    [{ type: 'scheduled' }, 'a scheduled task has neither cron nor rrule; set exactly one of them'],
    [{ type: 'scheduled', cron: '* * * * *', rrule: 'FREQ=DAILY' }, 'cron and rrule are both set'],
    [{ type: 'scheduled', cron: 5 }, '5 is not a cron expression'],
    [{ type: 'scheduled', rrule: 5 }, '5 is not a rule'],
    [{ type: 'weekly' }, '"weekly" is not a valid clock type; use onetime, periodic, scheduled or reactive'],
    [{ type: 'onetime', start: Number.NaN }, 'NaN is not an instant'],
    [{ type: 'periodic', frequency: 5, timeZone: 'Nowhere' }, '"Nowhere" is not a time zone'],
    [{ type: 'scheduled', cron: '* * * * *', timeZone: 5 }, 'is not a time zone'],
  ])('%j: %s', (settings, message) => {
    expect(() => parse(settings)).toThrow(message)
  })
})

describe('the key of a scheduled task', () => {
  it('distinguishes zones and policies, and joins names of one zone', () => {
    const key = (more: object): string => parse({ type: 'scheduled', cron: '0 30 2 * * ?', ...more }).key
    expect(key({ timeZone: 'Z' })).toBe(key({}))
    expect(key({ timeZone: 'europe/paris' })).toBe(key({ timeZone: 'Europe/Paris' }))
    expect(key({ timeZone: 'Europe/Paris' })).not.toBe(key({ timeZone: 'Europe/Brussels' }))
    expect(key({ dst: { gap: 'shift', overlap: 'first' } })).toBe(key({}))
    expect(key({ dst: { gap: 'skip' } })).not.toBe(key({}))
    expect(key({ dst: { overlap: 'both' } })).not.toBe(key({}))
    expect(key({ start: START + 1 })).toBe(key({}))
  })
})
