import { asyncScheduler, interval, map, observeOn, of, take, timer } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'

describe('the virtual clock', () => {
  it('keeps its time until it is advanced, and never goes back', () => {
    const clock = new VirtualClock(500)
    expect(clock.now()).toBe(500)
    clock.advanceTo(800)
    clock.advanceTo(300)
    expect(clock.now()).toBe(800)
  })

  it('runs what is due in order of time, ties in order of scheduling, each at its own time', () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    for (const [name, delay] of [
      ['c', 30],
      ['a', 10],
      ['b', 10],
      ['late', 31],
    ] as const)
      clock.schedule(() => seen.push(`${clock.now()} ${name}`), delay)
    clock.advanceTo(30)
    expect(seen).toEqual(['10 a', '10 b', '30 c'])
    expect(clock.nextAt()).toBe(31)
  })

  it('runs work that is scheduled during an advance when it is due', () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    clock.schedule(() => {
      seen.push(clock.now())
      clock.schedule(() => seen.push(clock.now()), 5)
      clock.schedule(() => seen.push(clock.now()), 0)
    }, 10)
    clock.advanceTo(20)
    expect(seen).toEqual([10, 10, 15])
  })

  it('drops unsubscribed work', () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    clock.schedule(() => seen.push(1), 10).unsubscribe()
    expect(clock.nextAt()).toBeUndefined()
    clock.advanceTo(100)
    expect(seen).toEqual([])
  })

  it('treats a negative delay as zero', () => {
    const clock = new VirtualClock(100)
    clock.schedule(() => undefined, -50)
    expect(clock.nextAt()).toBe(100)
  })

  it('runs due work late when it jumps, and never jumps back', () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    clock.schedule(() => seen.push(clock.now()), 10)
    clock.schedule(() => seen.push(clock.now()), 200)
    clock.jumpTo(100)
    clock.jumpTo(50)
    expect([seen, clock.now(), clock.nextAt()]).toEqual([[100], 100, 200])
  })

  it('drives rxjs: timer, interval and observeOn', () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    timer(15, clock).subscribe(() => seen.push(`${clock.now()} timer`))
    interval(10, clock)
      .pipe(
        take(3),
        map((n) => `${clock.now()} interval ${n}`),
      )
      .subscribe((text) => seen.push(text))
    of('now')
      .pipe(observeOn(clock, 5))
      .subscribe((text) => seen.push(`${clock.now()} ${text}`))
    clock.advanceTo(100)
    expect(seen).toEqual(['5 now', '10 interval 0', '15 timer', '20 interval 1', '30 interval 2'])
    expect(clock.nextAt()).toBeUndefined()
    expect(asyncScheduler.now()).not.toBe(clock.now())
  })
})
