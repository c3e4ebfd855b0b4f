import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  emptyWindow,
  oldestAt,
  pushTo,
  shiftFrom,
  sizeOf,
  summaryOf,
  type SlidingWindow,
} from '../../../plugins/window/sliding-window.ts'
import { deviation } from '../../../plugins/window/summary.ts'

// JSON cannot express -0
const number = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0)

describe('a sliding window', () => {
  it('summarises exactly the numbers that a rescan finds, for any pushes and shifts, also after a restart', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(number, fc.constantFrom('shift', 'save'))), (steps) => {
        let window: SlidingWindow = emptyWindow()
        let plain: number[] = []
        for (const [time, step] of steps.entries()) {
          if (step === 'save') window = JSON.parse(JSON.stringify(window)) as SlidingWindow
          else if (step === 'shift') expect(shiftFrom(window)).toBe(plain.shift())
          else if (typeof step === 'number') {
            pushTo(window, time, step)
            plain = [...plain, step]
          }
          expectSummary(window, plain)
        }
      }),
    )
  })

  it('does not drift: after a million numbers of very different sizes, small ones count fully', () => {
    const window = emptyWindow()
    for (let i = 0; i < 100_000; i++) {
      pushTo(window, i, i < 50_000 ? 1e15 : 0.1)
      if (sizeOf(window) > 10) shiftFrom(window)
    }
    expect(summaryOf(window)[1]).toBeCloseTo(0.1, 15)
    expect(deviation(summaryOf(window))).toBeCloseTo(0, 12)
  })

  it('returns the time of its oldest number', () => {
    const window = emptyWindow()
    expect(oldestAt(window)).toBeUndefined()
    expect(shiftFrom(window)).toBeUndefined()
    pushTo(window, 5, 1)
    pushTo(window, 6, 2)
    shiftFrom(window)
    expect(oldestAt(window)).toBe(6)
  })
})

function expectSummary(window: SlidingWindow, plain: readonly number[]): void {
  const [count, mean, , least, most, sum] = summaryOf(window)
  expect(count).toBe(plain.length)
  expect(sizeOf(window)).toBe(plain.length)
  if (plain.length === 0) return
  const total = plain.reduce((a, b) => a + b, 0)
  const average = total / plain.length
  const squares = plain.reduce((a, b) => a + (b - average) ** 2, 0)
  expect(sum).toBeCloseTo(total, 5)
  expect(mean).toBeCloseTo(average, 5)
  expect(least).toBe(Math.min(...plain))
  expect(most).toBe(Math.max(...plain))
  expect(deviation(summaryOf(window))).toBeCloseTo(plain.length < 2 ? 0 : Math.sqrt(squares / (plain.length - 1)), 4)
}
