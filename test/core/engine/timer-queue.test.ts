import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TimerQueue, type WakePolicy } from '../../../src/core/engine/timer-queue.ts'
import { NO_TIMER, type TimerOwner } from '../../../src/core/engine/timer-table.ts'
import { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'
import type { TimerKind } from '../../../src/core/task/input.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { JumpingClock } from '../../support/jumping-clock.ts'

/** An owner whose timers are due when the test decides; it records what fires. */
class Owner implements TimerOwner {
  readonly order: number
  firstTimer = NO_TIMER
  readonly due = new Map<string, number>()
  readonly #fired: string[]

  constructor(order: number, fired: string[]) {
    this.order = order
    this.#fired = fired
  }

  dueAt(kind: TimerKind, key: number): number {
    return this.due.get(`${kind} ${key}`) ?? Number.POSITIVE_INFINITY
  }

  fire(kind: TimerKind, key: number, now: number): void {
    this.due.delete(`${kind} ${key}`)
    this.#fired.push(`${now} ${this.order}:${kind} ${key}`)
  }
}

function setup<Clock extends JumpingClock | VirtualClock>(clock: Clock, policy: WakePolicy = {}) {
  const fired: string[] = []
  const onWake = (): void => {
    queue.run(clock.now())
    queue.arm()
  }
  const queue = new TimerQueue(clock, onWake, policy)
  const owners = [new Owner(0, fired), new Owner(1, fired)] as const
  const want = (owner: Owner, kind: TimerKind, at: number, key = 0) => {
    owner.due.set(`${kind} ${key}`, at)
    queue.set(owner, kind, at, key)
    queue.arm()
  }
  return { clock, queue, fired, owners, want }
}

describe('timers', () => {
  it('of a removed owner do not fire, and others do', () => {
    const { clock, queue, fired, owners, want } = setup(new VirtualClock())
    for (let key = 0; key < 200; key++) want(owners[0], 'wake', 10, key)
    want(owners[1], 'wake', 20)
    queue.forget(owners[0])
    queue.arm()
    expect(clock.nextAt()).toBe(20)
    clock.advanceTo(100)
    expect(fired).toEqual(['20 1:wake 0'])
  })

  it('leave no wake-up when all are removed', () => {
    const { clock, queue, owners, want } = setup(new JumpingClock())
    want(owners[0], 'wake', 10)
    want(owners[1], 'wake', 1000)
    queue.forget(owners[1])
    clock.sleep(10)
    expect(clock.waiting).toBe(0)
    want(owners[0], 'wake', 500)
    expect(clock.waiting).toBe(1)
    queue.close()
    expect(clock.waiting).toBe(0)
  })

  it('require one wake-up of the scheduler at a time, for any number', () => {
    const { clock, owners, want } = setup(new JumpingClock())
    for (let key = 0; key < 50; key++) want(owners[0], 'wake', 1000 - key, key)
    expect(clock.waiting).toBe(1)
  })
})

describe('a machine clock', () => {
  it('is awaited in parts when a time exceeds the range of timers', () => {
    const { clock, fired, owners, want } = setup(new JumpingClock())
    const month = 31 * 86_400_000
    want(owners[0], 'tick', month)
    expect(clock.delays).toEqual([2 ** 31 - 1])
    clock.sleep(2 ** 31 - 1)
    expect(fired).toEqual([])
    expect(clock.delays.at(-1)).toBe(month - (2 ** 31 - 1))
    clock.sleep(month - (2 ** 31 - 1))
    expect(fired).toEqual([`${month} 0:tick 0`])
  })

  it('that is set back makes timers wait until their time', () => {
    const { clock, fired, owners, want } = setup(new JumpingClock(10_000))
    want(owners[0], 'tick', 11_000)
    clock.set(4000)
    clock.sleep(1000)
    expect(fired).toEqual([])
    expect(clock.delays.at(-1)).toBe(6000)
    clock.sleep(6000)
    expect(fired).toEqual(['11000 0:tick 0'])
  })

  it('that is set forward fires overdue timers, earliest first, with the next wake-up', () => {
    const { clock, fired, owners, want } = setup(new JumpingClock())
    want(owners[0], 'tick', 2000)
    want(owners[0], 'evict', 1000)
    clock.set(60_000)
    clock.sleep(1000)
    expect(fired).toEqual(['61000 0:evict 0', '61000 0:tick 0'])
  })
})

describe('a queue that rereads the clock', () => {
  it('notices a clock that was set forward within the recheck time', () => {
    const { clock, fired, owners, want } = setup(new JumpingClock(), { recheckMs: 60_000 })
    want(owners[0], 'tick', 3_600_000)
    clock.sleep(30_000)
    clock.set(3_600_000)
    expect(fired).toEqual([])
    clock.sleep(30_000)
    expect(fired).toEqual(['3630000 0:tick 0'])
  })

  it('does not reread the clock without timers, and rereads it as rarely as possible', () => {
    const { clock, fired, owners, want } = setup(new JumpingClock(), { recheckMs: 60_000 })
    want(owners[0], 'tick', 150_000)
    for (let i = 0; i < 5; i++) clock.sleep(60_000)
    expect(clock.delays).toEqual([60_000, 60_000, 30_000])
    expect(fired).toEqual(['180000 0:tick 0'])
    expect(clock.waiting).toBe(0)
  })
})

describe('a queue that rests between wake-ups', () => {
  it('is on time for a single timer, and processes many timers in batches', () => {
    const { clock, fired, owners, want } = setup(new JumpingClock(), { restMs: 10 })
    for (const at of [1000, 1003, 1007, 1011, 1500]) want(owners[0], 'wake', at, at)
    for (let ms = 0; ms < 1600; ms++) clock.sleep(1)
    expect(fired).toEqual([
      '1000 0:wake 1000',
      '1010 0:wake 1003',
      '1010 0:wake 1007',
      '1020 0:wake 1011',
      '1500 0:wake 1500',
    ])
  })

  it('does not rest longer when the clock is set back', () => {
    const { clock, owners, want } = setup(new JumpingClock(100_000), { restMs: 10 })
    want(owners[0], 'wake', 100_000, 1)
    clock.sleep(0)
    clock.set(0)
    want(owners[0], 'wake', 5, 2)
    expect(clock.delays.at(-1)).toBe(10)
  })
})

// Holds TIMER-1, TIMER-2, TIMER-3: a row that was twice in the heap, or not at all, would fire twice or belong to two
// timers
describe('any sequence of setting and removing timers', () => {
  type Ask = { kind: TimerKind; key: number; at: number; owner: number }
  const ask = fc.record({
    kind: fc.constantFrom<TimerKind>('evict', 'follow', 'wake', 'ownTick', 'tick'),
    key: fc.oneof(fc.nat(3), fc.integer({ min: 2 ** 31, max: 2 ** 31 + 40 })),
    at: fc.nat(20),
    owner: fc.nat(30),
  })

  it('fires the remaining ones in order of time, task, kind and key', () => {
    const asks = fc.array(ask, { maxLength: 200, size: 'max' })
    const forgotten = fc.uniqueArray(fc.nat(30), { maxLength: 31 })
    fc.assert(
      fc.property(asks, forgotten, asks, (before, gone, after) => {
        const fired: string[] = []
        const clock = new VirtualClock()
        const onWake = (): void => {
          queue.run(clock.now())
          queue.arm()
        }
        const queue = new TimerQueue(clock, onWake)
        const owners = Array.from({ length: 31 }, (_, order) => new Owner(order, fired))
        const wanted = new Map<string, Ask>()
        const take = (one: Ask): void => {
          const owner = owners[one.owner]
          owner?.due.set(`${one.kind} ${one.key}`, one.at)
          if (owner) queue.set(owner, one.kind, one.at, one.key)
          wanted.set(`${one.owner}:${one.kind} ${one.key}`, one)
        }
        before.forEach(take)
        for (const order of gone) {
          const owner = owners[order]
          if (owner) queue.forget(owner)
          for (const [name, one] of wanted) if (one.owner === order) wanted.delete(name)
        }
        after.forEach(take)
        queue.arm()
        clock.advanceTo(100)
        const rank = (one: Ask): number => ['evict', 'follow', 'wake', 'ownTick', 'tick'].indexOf(one.kind)
        const expected = [...wanted].toSorted(
          ([, a], [, b]) => a.at - b.at || a.owner - b.owner || rank(a) - rank(b) || a.key - b.key,
        )
        expect(fired).toEqual(expected.map(([name, one]) => `${one.at} ${name}`))
        expect(owners.map(({ firstTimer }) => firstTimer)).toEqual(owners.map(() => NO_TIMER))
      }),
      runs(300),
    )
  })
})
