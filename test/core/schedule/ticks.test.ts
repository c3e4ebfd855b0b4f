import type { SchedulerAction, SchedulerLike, Subscription } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { fixedRate } from '../../../src/core/schedule/periodic.ts'
import { parseSchedule } from '../../../src/core/schedule/parse-schedule.ts'
import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import { ticks$, type Tick, type TickOptions } from '../../../src/core/schedule/ticks.ts'
import { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const minutely = parseSchedule({ type: 'scheduled', cron: '0 * * * * ?', start: 0 })

/** A wall clock over independent timers: `shift` sets it forward or back. */
class WallClock implements SchedulerLike {
  shift = 0
  delays: number[] = []
  readonly timers: VirtualClock

  constructor(start = 0) {
    this.timers = new VirtualClock(start)
  }

  now(): number {
    return this.timers.now() + this.shift
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T): Subscription {
    this.delays.push(delay ?? 0)
    return this.timers.schedule(work, delay, state)
  }
}

function listen(schedule: Schedule, clock: WallClock, options: TickOptions = {}) {
  const ticks: Tick[] = []
  const skipped: number[] = []
  let isComplete = false
  const subscription = ticks$(schedule, clock, { onSkipped: (count) => skipped.push(count), ...options }).subscribe({
    next: (tick) => ticks.push(tick),
    complete: () => (isComplete = true),
  })
  return {
    ticks,
    skipped,
    subscription,
    isComplete: () => isComplete,
    minutes: () => ticks.map((tick) => tick.scheduledAt / MINUTE),
  }
}

// Holds TICK-3, TICK-4
describe('ticks', () => {
  it('of a periodic task begin at once and keep their rate', () => {
    const clock = new WallClock()
    const heard = listen(fixedRate(MINUTE, 0), clock)
    clock.timers.advanceTo(2 * MINUTE + 1)
    expect(heard.ticks).toEqual([
      { scheduledAt: 0, startedAt: 0 },
      { scheduledAt: MINUTE, startedAt: MINUTE },
      { scheduledAt: 2 * MINUTE, startedAt: 2 * MINUTE },
    ])
  })

  it('end with their schedule', () => {
    const clock = new WallClock()
    const once = listen(parseSchedule({ type: 'onetime', start: 0 }), clock)
    const never = listen(parseSchedule({ type: 'reactive', start: 0 }), clock)
    expect([never.isComplete(), never.ticks]).toEqual([true, []])
    expect(once.ticks).toEqual([])
    clock.timers.advanceTo(1)
    expect([once.isComplete(), once.ticks]).toEqual([true, [{ scheduledAt: 0, startedAt: 0 }]])
  })

  it('wait in parts when a delay exceeds the range of timers', () => {
    const clock = new WallClock()
    const yearly = listen(parseSchedule({ type: 'scheduled', cron: '0 0 0 1 1 ? 1971', start: 0 }), clock)
    expect(clock.delays).toEqual([2 ** 31 - 1])
    clock.timers.advanceTo(364 * DAY)
    expect(yearly.ticks).toEqual([])
    clock.timers.advanceTo(365 * DAY)
    expect(yearly.ticks).toEqual([{ scheduledAt: 365 * DAY, startedAt: 365 * DAY }])
  })

  it('leave no timer without subscribers', () => {
    const clock = new WallClock()
    const heard = listen(minutely, clock)
    clock.timers.advanceTo(MINUTE)
    heard.subscription.unsubscribe()
    expect(clock.timers.nextAt()).toBeUndefined()
    clock.timers.advanceTo(HOUR)
    expect(heard.minutes()).toEqual([1])
  })

  it('stop in the middle of late ones when a listener leaves', () => {
    const clock = new WallClock(HOUR)
    const heard: number[] = []
    const subscription = ticks$(minutely, clock, { lastTick: HOUR / 2, misfire: 'all' }).subscribe((tick) => {
      heard.push(tick.scheduledAt)
      if (heard.length === 2) subscription.unsubscribe()
    })
    clock.timers.advanceTo(2 * HOUR)
    expect(heard).toHaveLength(2)
    expect(clock.timers.nextAt()).toBeUndefined()
  })
})

describe('after a downtime', () => {
  it.each([
    ['skip', [60, 61], [4]],
    ['once', [59, 60, 61], [3]],
    ['all', [56, 57, 58, 59, 60, 61], []],
  ] as const)('misfire %s is applied exactly', (misfire, minutes, skipped) => {
    const clock = new WallClock(HOUR)
    const heard = listen(minutely, clock, { lastTick: HOUR - 5 * MINUTE, misfire })
    clock.timers.advanceTo(HOUR + MINUTE)
    expect(heard.minutes()).toEqual(minutes)
    expect(heard.skipped).toEqual(skipped)
  })

  it('an exhausted schedule still runs what it missed', () => {
    const clock = new WallClock()
    const last = parseSchedule({
      type: 'scheduled',
      rrule: 'DTSTART:19691231T235900\nRRULE:FREQ=DAILY;COUNT=1',
      start: 0,
    })
    const heard = listen(last, clock, { lastTick: -HOUR, misfire: 'once' })
    clock.timers.advanceTo(0)
    expect([heard.minutes(), heard.isComplete()]).toEqual([[-1], true])
  })
})

// Holds TICK-1, TICK-2
describe('a clock that jumps', () => {
  it('forward past some occurrences: the punctual one ticks, the others follow the policy', () => {
    for (const [misfire, minutes, skipped] of [
      ['skip', [1, 11, 12], [9]],
      ['once', [1, 11, 12], [9]],
      ['all', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], []],
    ] as const) {
      const clock = new WallClock()
      const heard = listen(minutely, clock, { misfire })
      clock.timers.advanceTo(MINUTE)
      clock.shift = 9 * MINUTE + 500
      clock.timers.advanceTo(3 * MINUTE)
      expect(heard.minutes()).toEqual(minutes)
      expect(heard.skipped).toEqual(skipped)
    }
  })

  it('forward far past a single occurrence: it was missed', () => {
    const daily = parseSchedule({ type: 'scheduled', cron: '0 0 2 * * ?', start: 0 })
    for (const [misfire, hours, skipped] of [
      ['skip', [26], [1]],
      ['once', [2, 26], []],
    ] as const) {
      const clock = new WallClock()
      const heard = listen(daily, clock, { misfire, recheckMs: MINUTE })
      clock.timers.advanceTo(HOUR)
      clock.shift = 3 * HOUR
      clock.timers.advanceTo(30 * HOUR)
      expect(heard.ticks.map((tick) => tick.scheduledAt / HOUR)).toEqual(hours)
      expect(heard.skipped).toEqual(skipped)
    }
  })

  it('forward is noticed within the recheck interval', () => {
    const clock = new WallClock()
    const heard = listen(parseSchedule({ type: 'scheduled', cron: '0 0 2 * * ?', start: 0 }), clock, {
      recheckMs: 10_000,
    })
    clock.timers.advanceTo(HOUR)
    clock.shift = HOUR - 5000
    clock.timers.advanceTo(HOUR + 20_000)
    expect(heard.ticks).toEqual([{ scheduledAt: 2 * HOUR, startedAt: 2 * HOUR + 5000 }])
  })

  it('back: no occurrence ticks twice, and none is early', () => {
    const clock = new WallClock()
    const heard = listen(minutely, clock)
    clock.timers.advanceTo(3 * MINUTE)
    clock.shift = -2 * MINUTE
    clock.timers.advanceTo(7 * MINUTE)
    expect(heard.minutes()).toEqual([1, 2, 3, 4, 5])
    for (const tick of heard.ticks) expect(tick.startedAt).toBeGreaterThanOrEqual(tick.scheduledAt)
  })

  it('does not include a few milliseconds of lateness', () => {
    const clock = new WallClock()
    const heard = listen(parseSchedule({ type: 'scheduled', cron: '0 0 * * * ?', start: 0 }), clock, { graceMs: 1000 })
    clock.shift = 999
    clock.timers.advanceTo(2 * HOUR)
    expect(heard.ticks).toHaveLength(2)
    expect(heard.skipped).toEqual([])
  })
})
