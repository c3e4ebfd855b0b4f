import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import { missed } from '../../../src/core/schedule/misfire.ts'
import { latestBefore } from '../../../src/core/schedule/occurrences.ts'
import { occurrencesBetween } from './occurrences-between.ts'
import { fixedDelay, fixedRate } from '../../../src/core/schedule/periodic.ts'
import { parseSchedule } from '../../../src/core/schedule/parse-schedule.ts'

const HOUR = 3_600_000
const hourly = parseSchedule({ type: 'scheduled', cron: '0 0 * * * ?', start: 0 })

describe('a downtime', () => {
  const lastTick = 10 * HOUR
  const now = 14 * HOUR + 1

  it.each([
    ['skip', { misfire: 'skip' }, [], 4],
    ['once', { misfire: 'once' }, [14], 3],
    ['all', { misfire: 'all' }, [11, 12, 13, 14], 0],
    ['all, within two hours', { misfire: 'all', maxLatenessMs: 2 * HOUR }, [13, 14], 2],
    ['all, at most three', { misfire: 'all', cap: 3 }, [12, 13, 14], 1],
    ['all, none', { misfire: 'all', cap: 0 }, [], 4],
    ['once, but too late', { misfire: 'once', maxLatenessMs: 0 }, [], 4],
  ] as const)('under %s', (_name, policy, run, skipped) => {
    expect(missed(hourly, lastTick, now, policy)).toEqual({
      run: run.map((hour) => hour * HOUR),
      skipped,
      isExact: true,
      next: 15 * HOUR,
    })
  })

  it('that ends at an occurrence has not missed it', () => {
    expect(missed(hourly, lastTick, 12 * HOUR, { misfire: 'once' })).toEqual({
      run: [11 * HOUR],
      skipped: 0,
      isExact: true,
      next: 12 * HOUR,
    })
  })

  it('without an occurrence has missed none', () => {
    expect(missed(hourly, lastTick, lastTick + 5, { misfire: 'all' })).toMatchObject({ run: [], skipped: 0 })
    expect(missed(hourly, lastTick, lastTick, { misfire: 'all' })).toMatchObject({
      run: [],
      skipped: 0,
      next: lastTick,
    })
  })

  it('of a year in seconds is limited and reports that counting stopped', () => {
    const secondly = parseSchedule({ type: 'scheduled', cron: '* * * * * ?', start: 0 })
    const year = 365 * 24 * HOUR
    const result = missed(secondly, 0, year, { misfire: 'all', cap: 1e9 })
    expect(result).toMatchObject({ skipped: 99_000, isExact: false, next: year })
    expect(result.run).toHaveLength(1000)
    expect(result.run.at(-1)).toBe(year - 1000)
  })

  it('of a fixed rate is counted exactly, for any length', () => {
    const result = missed(fixedRate(100, 0), 0, 1e13, { misfire: 'once' })
    expect(result).toEqual({ run: [1e13 - 100], skipped: 1e11 - 2, isExact: true, next: 1e13 })
  })

  it('of a fixed delay has missed at most one', () => {
    const delay = fixedDelay(HOUR, 0)
    expect(missed(delay, 0, 9.5 * HOUR, { misfire: 'all' })).toEqual({
      run: [HOUR],
      skipped: 0,
      isExact: true,
      next: 10.5 * HOUR,
    })
    expect(missed(delay, 0, 9.5 * HOUR, { misfire: 'skip' })).toMatchObject({ run: [], skipped: 1 })
    expect(missed(delay, 0, HOUR / 2, { misfire: 'all' })).toEqual({ run: [], skipped: 0, isExact: true, next: HOUR })
  })

  it('neither loses nor repeats an occurrence under any policy', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 400 }),
        fc.integer({ min: 0, max: 400 }),
        fc.constantFrom('skip', 'once', 'all'),
        fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
        (from, length, misfire, lateMinutes, cap) => {
          const schedule = parseSchedule({ type: 'scheduled', cron: '0 0/7 * * * ?', start: 0 })
          const lastTick = from * 60_000
          const until = lastTick + length * 60_000
          const maxLatenessMs = lateMinutes === undefined ? undefined : lateMinutes * 60_000
          const all = occurrencesBetween(schedule, lastTick + 1, until, 9999)
          const result = missed(schedule, lastTick, until, { misfire, maxLatenessMs, cap })
          expect(result.run.length + result.skipped).toBe(all.length)
          expect(result.run).toEqual(all.slice(all.length - result.run.length))
          expect(result.next).toBe(schedule.next(until - 1))
        },
      ),
      runs(100),
    )
  })
})

describe('the latest occurrence before an instant', () => {
  it('is found without iteration, and not below the lower bound', () => {
    expect(latestBefore(hourly, 5 * HOUR, 0)).toBe(4 * HOUR)
    expect(latestBefore(hourly, 5 * HOUR + 1, 0)).toBe(5 * HOUR)
    expect(latestBefore(hourly, 5 * HOUR, 4 * HOUR)).toBeNull()
    expect(latestBefore(parseSchedule({ type: 'onetime', start: 7 }), 1e12, 0)).toBe(7)
    expect(latestBefore(parseSchedule({ type: 'reactive', start: 7 }), 1e12, 0)).toBeNull()
  })
})
