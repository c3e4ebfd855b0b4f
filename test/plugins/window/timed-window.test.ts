import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sizeOf, summaryOf } from '../../../plugins/window/sliding-window.ts'
import {
  endOf,
  shiftOutOfReach,
  takeAt,
  timedWindow,
  type TimedWindow,
  type WindowReach,
} from '../../../plugins/window/timed-window.ts'

const limit = (usual: fc.Arbitrary<number>) => fc.oneof(usual, fc.constant(Number.POSITIVE_INFINITY))

const reach = fc.record({
  samples: limit(fc.integer({ min: 1, max: 6 })),
  duration: limit(fc.integer({ min: 1, max: 30 })),
  lateness: limit(fc.nat(20)),
})

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('number', 'number', 'number', 'tick', 'save'),
    at: fc.nat(60),
    passes: fc.nat(10),
    value: fc.integer({ min: -50, max: 50 }),
  }),
  { maxLength: 40 },
)

function letGo(timed: TimedWindow, end: number, { samples, duration }: WindowReach): number[] {
  const gone: number[] = []
  const given = { samples, duration, lateness: 0 }
  for (let one = shiftOutOfReach(timed, end, given); one !== undefined; one = shiftOutOfReach(timed, end, given)) {
    gone.push(one)
  }
  return gone
}

/** The same over a list that is sorted and filtered again each time. */
class Rescan {
  list: { at: number; value: number }[] = []
  newest = Number.NEGATIVE_INFINITY
  came = 0
  late = 0

  take(at: number, now: number, value: number, { samples, duration, lateness }: WindowReach): void {
    const newest = Math.max(this.newest, at)
    const oldest = this.list[0]
    const isBeforeFull = this.list.length >= samples && oldest !== undefined && at < oldest.at
    if (at < newest - lateness || at <= newest - duration || isBeforeFull) {
      this.late++
      return
    }
    if (at === newest) this.came = now
    this.newest = newest
    this.list = [...this.list, { at, value }].toSorted((a, b) => a.at - b.at)
    this.cut(newest, samples, duration)
  }

  cut(end: number, samples: number, duration: number): void {
    this.list = this.list.filter((one) => one.at > end - duration)
    this.list = this.list.slice(Math.max(0, this.list.length - samples))
  }
}

describe('a window over numbers with event times', () => {
  it('contains the same as a rescan in order of time, for numbers in any order, even after a restart', () => {
    fc.assert(
      fc.property(reach, steps, (given, all) => {
        let timed = timedWindow()
        const plain = new Rescan()
        let now = 100
        for (const { kind, at, passes, value } of all) {
          now += passes
          if (kind === 'save') timed = JSON.parse(JSON.stringify(timed)) as TimedWindow
          else if (kind === 'tick') {
            letGo(timed, endOf(timed, now), given)
            plain.cut(plain.newest + now - plain.came, given.samples, given.duration)
          } else {
            takeAt(timed, at, now, value, given)
            letGo(timed, timed.newest ?? at, given)
            plain.take(at, now, value, given)
          }
          const { window } = timed
          const values = plain.list.map((one) => one.value)
          expect(window.values.slice(window.head)).toEqual(values)
          expect(timed.late).toBe(plain.late)
          const [count, mean, , least, most, sum] = summaryOf(window)
          expect(count).toBe(values.length)
          expect(sizeOf(window)).toBe(values.length)
          if (values.length === 0) continue
          expect([least, most, sum]).toEqual([
            Math.min(...values),
            Math.max(...values),
            values.reduce((a, b) => a + b, 0),
          ])
          expect(mean).toBeCloseTo(sum / count, 9)
        }
      }),
    )
  })

  it('ends at the newest time, and advances with the clock only without new numbers', () => {
    const timed = timedWindow()
    const minute: WindowReach = { samples: Infinity, duration: 60_000, lateness: Infinity }
    expect(endOf(timed, 5)).toBe(5)
    // an hour behind the clock: the end of the window keeps this distance
    takeAt(timed, 1_000, 3_601_000, 1, minute)
    takeAt(timed, 2_000, 3_605_000, 2, minute)
    expect(letGo(timed, endOf(timed, 3_605_000), minute)).toEqual([])
    expect(endOf(timed, 3_665_000)).toBe(62_000)
    expect(letGo(timed, endOf(timed, 3_665_000), minute)).toEqual([1, 2])
  })

  it('continues from a saved window that recorded arrival times', () => {
    const { window } = timedWindow()
    expect(timedWindow(window)).toEqual({ window, newest: null, came: 0, late: 0 })
  })
})
