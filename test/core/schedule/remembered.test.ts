import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tallyBetween } from '../../../src/core/schedule/occurrences.ts'
import { parseSchedule } from '../../../src/core/schedule/parse-schedule.ts'
import { RememberedSchedule } from '../../../src/core/schedule/remembered.ts'
import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const SECOND = 1000

/** Counts its queries. */
function counted(schedule: Schedule): Schedule & { asked: number } {
  const counting = {
    key: schedule.key,
    asked: 0,
    first: (start: number) => counting.next(start),
    next(after: number) {
      counting.asked++
      return schedule.next(after)
    },
  }
  return counting
}

const everyTenSeconds = parseSchedule({ type: 'scheduled', cron: '0/10 * * * * ?', start: 0 })

describe('a remembered schedule', () => {
  it('is evaluated once for a whole fleet', () => {
    const source = counted(everyTenSeconds)
    const shared = new RememberedSchedule(source)
    for (let task = 0; task < 1000; task++) expect(shared.next(20_000)).toBe(30_000)
    for (let task = 0; task < 1000; task++) expect(shared.first(20_001 + task)).toBe(30_000)
    expect(source.asked).toBe(1)
  })

  it('counts a downtime once, and continues incrementally', () => {
    const source = counted(everyTenSeconds)
    const shared = new RememberedSchedule(source)
    const hour = 3600 * SECOND
    for (let task = 0; task < 100; task++) {
      expect(shared.tally(-1, hour + task)).toEqual({ count: task === 0 ? 360 : 361, isExact: true })
    }
    expect(source.asked).toBeLessThan(1000)
  })

  it('that stopped counting does not start again', () => {
    const source = counted(parseSchedule({ type: 'scheduled', cron: '* * * * * ?', start: 0 }))
    const shared = new RememberedSchedule(source)
    for (let task = 0; task < 5; task++) {
      expect(shared.tally(0, 1e12 + task)).toEqual({ count: 100_000, isExact: false })
    }
    expect(source.asked).toBeLessThan(100_010)
  })

  it('that has ended stays ended', () => {
    const shared = new RememberedSchedule(parseSchedule({ type: 'scheduled', cron: '0 0 0 1 1 ? 1971', start: 0 }))
    expect([shared.next(0), shared.next(31_536_000_000), shared.next(31_536_000_001), shared.next(5)]).toEqual([
      31_536_000_000,
      null,
      null,
      31_536_000_000,
    ])
  })

  it('returns the same as the schedule for queries in any order', () => {
    const question = fc.record({ after: fc.integer({ min: 0, max: 200_000 }), span: fc.nat(100_000) })
    fc.assert(
      fc.property(fc.array(question, { maxLength: 30 }), (questions) => {
        const shared = new RememberedSchedule(everyTenSeconds)
        for (const { after, span } of questions) {
          expect(shared.next(after)).toBe(everyTenSeconds.next(after))
          expect(shared.tally(after - (after % 50_000), after + span)).toEqual(
            tallyBetween(everyTenSeconds, after - (after % 50_000), after + span),
          )
        }
      }),
      runs(200),
    )
  })
})
