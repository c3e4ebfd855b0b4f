import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { episodes, messageStreams, ramp, readings, walk, type Signal } from '../../../src/testing/index.ts'

/** Draws streams with this signal, and returns the times and values of `t`. */
function streams(t: Signal): readonly (readonly { time: number; value: number }[])[] {
  const drawn = fc.sample(messageStreams({ metrics: { t }, disturbances: [], every: '1m' }), { numRuns: 60, seed: 1 })
  return drawn.map((stream) => stream.map((one) => ({ time: Number(one.timestamp), value: Number(one['t']) })))
}
const pairs = (t: Signal) => streams(t).flatMap((stream) => stream.slice(1).map((one, i) => [stream[i], one] as const))

describe('signals', () => {
  it('walk stays between its limits and moves at most one step at a time', () => {
    for (const [before, after] of pairs(walk(10, 20, 2))) {
      expect(after.value).toBeGreaterThanOrEqual(10)
      expect(after.value).toBeLessThanOrEqual(20)
      expect(Math.abs(after.value - (before?.value ?? 0))).toBeLessThanOrEqual(2.000001)
    }
  })
  it('ramp depends on the time since its first value', () => {
    for (const [first, ...rest] of streams(ramp(0, 60, '1h')))
      for (const { time, value } of rest)
        expect(value).toBeCloseTo(((time - (first?.time ?? 0)) % 3_600_000) / 60_000, 6)
  })
  it('episodes last up to their maximum, without a gap', () => {
    const all = streams(episodes({ calm: readings(0, 9), event: readings(90, 99), lasts: ['10m', '20m'] }))
    const lengths = all.flatMap((stream) => {
      const runs: number[] = []
      let began: number | undefined
      for (const { time, value } of stream) {
        if (value >= 90) began ??= time
        else if (began !== undefined) {
          runs.push(time - began)
          began = undefined
        }
      }
      return runs
    })
    expect(lengths.length).toBeGreaterThan(10)
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(600_000)
  })
  it.each<[string, () => Signal, string]>([
    ['limits the wrong way round', () => walk(20, 10, 1), 'walk(20, 10): put the lower limit first'],
    ['no time', () => ramp(0, 1, 0), 'ramp: lasts is 0; use a duration above 0'],
    [
      'a range the wrong way round',
      () => episodes({ calm: fc.nat(), event: fc.nat(), lasts: ['2m', '1m'] }),
      'put the shortest first',
    ],
  ])('reject %s', (_, make, text) => {
    expect(make).toThrow(text)
  })
})
