import { Subject } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { fixedDelay } from '../../../src/core/schedule/periodic.ts'
import { runFixedDelay, runTicks, type RunOptions, type RunReport } from '../../../src/core/schedule/run-ticks.ts'
import type { Tick } from '../../../src/core/schedule/ticks.ts'
import { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'

interface Job {
  at: number
  signal: AbortSignal
  end(): Promise<void>
  fail(error: unknown): Promise<void>
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let resolve = (): void => undefined
  let reject = (_error: unknown): void => undefined
  const promise = new Promise<void>((accept, refuse) => {
    resolve = accept
    reject = refuse
  })
  return { promise, resolve, reject }
}

/** Work whose end the test decides. */
function bench(options: RunOptions) {
  const ticks = new Subject<Tick>()
  const jobs: Job[] = []
  const reports: string[] = []
  let isComplete = false
  const work = (tick: Tick, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = deferred()
    const settle = async (action: () => void): Promise<void> => {
      action()
      await promise.catch(() => undefined)
    }
    jobs.push({
      at: tick.scheduledAt,
      signal,
      end: () => settle(resolve),
      fail: (error) => settle(() => reject(error)),
    })
    return promise
  }
  const subscription = runTicks(ticks, work, options).subscribe({
    next: ({ tick, outcome }) => reports.push(`${tick.scheduledAt} ${outcome}`),
    complete: () => (isComplete = true),
  })
  const tick = (...times: number[]): void => {
    for (const at of times) ticks.next({ scheduledAt: at, startedAt: at })
  }
  return { ticks, tick, jobs, reports, subscription, isComplete: () => isComplete }
}

describe('a tick while work is running', () => {
  it('is skipped by default', async () => {
    const { tick, jobs, reports } = bench({})
    tick(1, 2)
    expect(reports).toEqual(['2 skipped'])
    await jobs[0]?.end()
    tick(3)
    await jobs[1]?.end()
    expect(reports).toEqual(['2 skipped', '1 done', '3 done'])
    expect(jobs.map((job) => job.at)).toEqual([1, 3])
  })

  it('waits in a bounded queue', async () => {
    const { tick, jobs, reports } = bench({ overlap: 'queue', queueSize: 2 })
    tick(1, 2, 3, 4)
    expect(reports).toEqual(['4 dropped'])
    for (let index = 0; index < 3; index++) await jobs[index]?.end()
    expect(jobs.map((job) => job.at)).toEqual([1, 2, 3])
    expect(reports).toEqual(['4 dropped', '1 done', '2 done', '3 done'])
  })

  it('cancels what is running', async () => {
    const { tick, jobs, reports } = bench({ overlap: 'cancelPrevious' })
    tick(1, 2)
    expect(jobs.map((job) => job.signal.aborted)).toEqual([true, false])
    await jobs[0]?.end()
    await jobs[1]?.end()
    expect(reports).toEqual(['1 cancelled', '2 done'])
  })
})

describe('work', () => {
  it('that fails is reported and ends nothing', async () => {
    const { tick, jobs, reports } = bench({})
    tick(1)
    await jobs[0]?.fail(new Error('no'))
    tick(2)
    await jobs[1]?.end()
    expect(reports).toEqual(['1 failed', '2 done'])
  })

  it('that throws is reported with what it threw', () => {
    const ticks = new Subject<Tick>()
    const reports: RunReport[] = []
    const error = new Error('no')
    runTicks(ticks, () => {
      throw error
    }).subscribe((report) => reports.push(report))
    const tick = { scheduledAt: 1, startedAt: 1 }
    ticks.next(tick)
    expect(reports).toEqual([{ tick, outcome: 'failed', error }])
  })

  it('without a promise ends before the next tick', () => {
    const ticks = new Subject<Tick>()
    const reports: string[] = []
    runTicks(ticks, () => 5).subscribe(({ outcome }) => reports.push(outcome))
    ticks.next({ scheduledAt: 1, startedAt: 1 })
    ticks.next({ scheduledAt: 2, startedAt: 2 })
    expect(reports).toEqual(['done', 'done'])
  })

  it('is aborted, and what waits forgotten, when nobody listens any more', async () => {
    const { tick, jobs, reports, subscription } = bench({ overlap: 'queue' })
    tick(1, 2)
    subscription.unsubscribe()
    expect(jobs[0]?.signal.aborted).toBe(true)
    await jobs[0]?.end()
    expect([jobs.length, reports]).toEqual([1, []])
  })

  it('is waited for when the ticks end', async () => {
    const { ticks, tick, jobs, isComplete } = bench({ overlap: 'queue' })
    tick(1, 2)
    ticks.complete()
    await jobs[0]?.end()
    expect(isComplete()).toBe(false)
    await jobs[1]?.end()
    expect(isComplete()).toBe(true)
  })
})

describe('a fixed delay', () => {
  it('counts from the end of the work', async () => {
    const clock = new VirtualClock(0)
    const gates: (() => void)[] = []
    const started: number[] = []
    let ended = Promise.resolve()
    const subscription = runFixedDelay(fixedDelay(1000, 0), clock, (tick) => {
      started.push(tick.startedAt)
      const { promise, resolve } = deferred()
      gates.push(resolve)
      ended = promise
      return promise
    }).subscribe()
    clock.advanceTo(700)
    expect(clock.nextAt()).toBeUndefined()
    gates[0]?.()
    await ended
    clock.advanceTo(1699)
    expect(started).toEqual([0])
    clock.advanceTo(1700)
    expect(started).toEqual([0, 1700])
    subscription.unsubscribe()
    gates[1]?.()
    await ended
    expect(clock.nextAt()).toBeUndefined()
  })

  it('with work that ends at once is a rate', () => {
    const clock = new VirtualClock(0)
    const started: number[] = []
    runFixedDelay(fixedDelay(1000, 0), clock, (tick) => void started.push(tick.startedAt)).subscribe()
    clock.advanceTo(2000)
    expect(started).toEqual([0, 1000, 2000])
  })
})
