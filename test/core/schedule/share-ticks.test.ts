import { describe, expect, it } from 'vitest'
import { fixedDelay, fixedRate } from '../../../src/core/schedule/periodic.ts'
import { parseSchedule } from '../../../src/core/schedule/parse-schedule.ts'
import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import { shareTicks } from '../../../src/core/schedule/share-ticks.ts'
import { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'

function counted(schedule: Schedule): { schedule: Schedule; calls: () => number } {
  let calls = 0
  const next = (after: number): number | null => {
    calls++
    return schedule.next(after)
  }
  return { schedule: { ...schedule, next }, calls: () => calls }
}

describe('schedules with equal keys', () => {
  it('share one stream, for any number of listeners', () => {
    const clock = new VirtualClock(0)
    const shared = shareTicks(clock)
    const all = Array.from({ length: 100 }, () =>
      counted(parseSchedule({ type: 'scheduled', cron: '0 * * * * ?', start: 0 })),
    )
    let ticks = 0
    for (const { schedule } of all) shared.of(schedule).subscribe(() => ticks++)
    clock.advanceTo(10 * 60_000)
    expect(ticks).toBe(1000)
    expect(shared.size).toBe(1)
    expect(all.slice(1).reduce((sum, { calls }) => sum + calls(), 0)).toBe(0)
  })

  it('keep their stream until the last listener leaves', () => {
    const clock = new VirtualClock(0)
    const shared = shareTicks(clock)
    const schedule = fixedRate(1000, 0)
    const first = shared.of(schedule).subscribe()
    const second = shared.of(fixedRate(1000, 5000)).subscribe()
    first.unsubscribe()
    expect(shared.size).toBe(1)
    second.unsubscribe()
    expect([shared.size, clock.nextAt()]).toEqual([0, undefined])
    const heard: number[] = []
    shared.of(schedule).subscribe((tick) => heard.push(tick.scheduledAt))
    clock.advanceTo(1500)
    expect(heard).toEqual([0, 1000])
  })

  it('deliver a tick to a task that starts at that tick', () => {
    const clock = new VirtualClock(0)
    const shared = shareTicks(clock)
    const early: number[] = []
    const late: number[] = []
    shared.of(fixedRate(1000, 0)).subscribe((tick) => early.push(tick.scheduledAt))
    clock.advanceTo(3000)
    shared.of(fixedRate(1000, 3000)).subscribe((tick) => late.push(tick.scheduledAt))
    clock.advanceTo(4000)
    expect(early).toEqual([0, 1000, 2000, 3000, 4000])
    expect(late).toEqual([3000, 4000])
  })

  it('do not deliver ticks to a cron task at or before its start', () => {
    const clock = new VirtualClock(0)
    const shared = shareTicks(clock)
    const cron = parseSchedule({ type: 'scheduled', cron: '* * * * * ?', start: 0 })
    shared.of(cron).subscribe()
    clock.advanceTo(3000)
    const late: number[] = []
    shared.of(cron).subscribe((tick) => late.push(tick.scheduledAt))
    clock.advanceTo(4000)
    expect(late).toEqual([4000])
  })
})

it('different schedules and fixed delays are not shared', () => {
  const clock = new VirtualClock(0)
  const shared = shareTicks(clock)
  shared.of(fixedRate(1000, 0)).subscribe()
  shared.of(fixedRate(2000, 0)).subscribe()
  shared.of(fixedDelay(1000, 0)).subscribe()
  expect(shared.size).toBe(2)
})

it('an exhausted stream is released', () => {
  const clock = new VirtualClock(0)
  const shared = shareTicks(clock)
  let isComplete = false
  shared.of(parseSchedule({ type: 'onetime', start: 0 })).subscribe({ complete: () => (isComplete = true) })
  clock.advanceTo(1)
  expect([isComplete, shared.size]).toEqual([true, 0])
})
