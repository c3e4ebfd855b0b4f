import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measure } from '../../plugins/measure/plug.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { runSeries } from '../support/plug-series.ts'

type Reading = readonly [s: number, value: number]

/** Runs the plug over readings at these seconds; returns its values, null while it is Collecting. */
function valuesOf(properties: Record<string, unknown>, readings: readonly Reading[]): readonly (number | null)[] {
  const times = readings.map(([s]) => s * 1000)
  const messages = readings.map(([, v]) => ({ v }))
  const ran = runSeries(measure, { value: 'v', ...properties }, messages, (i) => times[i] ?? 0)
  return ran.map(({ state, rawData }) => (state === 'Collecting' ? null : Number(rawData?.['value'])))
}

const MINUTES: readonly Reading[] = [
  [0, 10],
  [60, 12],
  [120, 9],
  [180, 9],
]

describe('measure', () => {
  it.each<[Record<string, unknown>, readonly (number | null)[]]>([
    [{ accumulator: 'last' }, [10, 12, 9, 9]],
    [{ accumulator: 'previous' }, [null, 10, 12, 9]],
    [{ accumulator: 'first' }, [10, 10, 10, 10]],
    [{ accumulator: 'change' }, [null, 2, -3, 0]],
    [{ accumulator: 'change', duration: '2m' }, [null, null, -1, -3]],
    [{ accumulator: 'rate', unit: 'm' }, [null, 2, -3, 0]],
    [{ accumulator: 'rate', unit: 'h', duration: '2m' }, [null, null, -30, -90]],
    [{ accumulator: 'slope', unit: 'm', duration: '10m' }, [null, 2, -0.5, -0.6]],
    [{ accumulator: 'increase' }, [0, 2, 11, 11]],
    [{ accumulator: 'increase', wraps: 16 }, [0, 2, 11, 11]],
    [{ accumulator: 'edges', threshold: 9.5 }, [0, 0, 0, 0]],
    [{ accumulator: 'edges', threshold: 11 }, [0, 1, 1, 1]],
    [{ accumulator: 'timeAbove', threshold: 11, unit: 'm' }, [0, 0, 1, 1]],
    [{ accumulator: 'timeWeightedMean' }, [10, 10, 11, 31 / 3]],
    [{ accumulator: 'timeWeightedMean', duration: '2m' }, [10, 10, 11, 10.5]],
    [{ accumulator: 'integral', unit: 'm' }, [0, 10, 22, 31]],
    [{ accumulator: 'deadband', band: 3 }, [10, 10, 10, 10]],
    [{ accumulator: 'deadband', band: 1 }, [10, 12, 9, 9]],
    [{ accumulator: 'last', minimum: 3 }, [null, null, 9, 9]],
  ])('%j', (properties, values) => {
    const got = valuesOf(properties, MINUTES)
    expect(got.map((one) => one !== null && Number(one.toFixed(9)))).toEqual(
      values.map((one) => one !== null && Number(one.toFixed(9))),
    )
  })

  it('adds what a counter counted before and after it wrapped, and begins again at 0 after a reset', () => {
    const readings: readonly Reading[] = [
      [0, 65_000],
      [1, 65_500],
      [2, 100],
      [3, 300],
      [4, 5],
    ]
    expect(valuesOf({ accumulator: 'increase', wraps: 65_536 }, readings)).toEqual([0, 500, 636, 836, 841])
    expect(valuesOf({ accumulator: 'increase' }, readings)).toEqual([0, 500, 600, 800, 805])
  })

  it('forgets a value exponentially, by the time that passed', () => {
    const [, second = 0] = valuesOf({ accumulator: 'exponentialMean', duration: '1m' }, [
      [0, 0],
      [60, 10],
    ])
    expect(second).toBeCloseTo(10 * (1 - Math.exp(-1)), 9)
  })

  it('scores a value by the earlier ones, and nothing without a spread', () => {
    const readings: readonly Reading[] = [
      [0, 1],
      [1, 3],
      [2, 1e9],
    ]
    const [first, second, third = 0] = valuesOf({ accumulator: 'zScore', duration: '1h' }, readings)
    expect([first, second]).toEqual([null, null])
    expect(third).toBeCloseTo((1e9 - 2) / Math.SQRT2, 3)
    const same: readonly Reading[] = [
      [0, 5],
      [1, 5],
      [2, 5],
      [3, 6],
    ]
    expect(valuesOf({ accumulator: 'zScore', duration: '1h' }, same)).toEqual([null, null, 0, null])
  })

  it('compares with limits, within rounding errors', () => {
    const states = (properties: object, values: readonly number[]) =>
      runSeries(
        measure,
        { value: 'v', ...properties },
        values.map((v) => ({ v })),
        (i) => i * 1000,
      ).map(({ state }) => state)
    expect(states({ accumulator: 'change', upperLimit: 0.1, lowerLimit: -0.1 }, [21.3, 21.4, 21.6, 21.5, 21])).toEqual([
      'Collecting',
      'In Range',
      'Above',
      'In Range',
      'Below',
    ])
  })

  it('ignores a sample that is older than the last, and counts it', () => {
    const ran = runSeries(
      measure,
      { value: 'v', accumulator: 'last' },
      [
        { v: 1, timestamp: 5000 },
        { v: 2, timestamp: 4000 },
      ],
      () => 6000,
    )
    expect(ran.at(-1)?.rawData).toEqual({ value: 1, last: 1, count: 1, late: 1 })
  })

  it('fails for an unknown value, and moves its window on a run without one', () => {
    const properties = { value: 'v', accumulator: 'edges', duration: '1m' }
    expect(() => runPlug(measure, { properties, message: { v: null }, now: 1 })).toThrow('v')
    const [, risen] = runSeries(measure, properties, [{ v: 0 }, { v: 1 }], (i) => i * 1000)
    const later = runPlug(measure, { properties, internalState: risen?.internalState, now: 62_000 })
    expect(risen?.rawData?.['value']).toBe(1)
    expect(later.rawData).toEqual({ value: 0, last: 1, count: 2, late: 0 })
  })

  it('reports what is wrong with its properties', () => {
    const problems = checkPlug(measure, {
      value: 'v >',
      accumulator: 'change',
      duration: 'soon',
      wraps: 0,
      band: -1,
      minimum: 0,
      lowerLimit: 2,
      upperLimit: 1,
    })
    expect(problems.map((one) => one.split(':')[0])).toEqual([
      'value',
      'duration',
      'wraps',
      'band',
      'minimum',
      'upperLimit',
    ])
    expect(() => runPlug(measure, { properties: { value: 'v', accumulator: 'slope' }, message: { v: 1 } })).toThrow(
      'slope has no duration',
    )
    expect(() => runPlug(measure, { properties: { value: 'v', accumulator: 'deadband' }, message: { v: 1 } })).toThrow(
      'deadband has no band',
    )
  })

  it('equals readings of all samples of the duration', () => {
    const readings = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: -50, max: 50 })), {
      minLength: 1,
      maxLength: 60,
    })
    fc.assert(
      fc.property(
        readings,
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom(...Object.keys(NAIVE)),
        (gaps, seconds, which) => {
          let at = 0
          const series = gaps.map(([gap, value]): Reading => [(at += gap), value])
          const got = valuesOf({ accumulator: which, duration: `${seconds}s`, threshold: 5 }, series)
          series.forEach((_, i) => {
            const wanted = NAIVE[which]?.(series.slice(0, i + 1), seconds)
            const value = got[i]
            if (wanted === undefined) expect(value).toBeNull()
            else expect(value).toBeCloseTo(wanted, 6)
          })
        },
      ),
      runs(200),
    )
  })
})

/** Readings of the whole series, sample by sample. */
const NAIVE: Readonly<Record<string, (all: readonly Reading[], seconds: number) => number | undefined>> = {
  change: (all, seconds) => {
    const from = heldAt(all, lastOf(all)[0] - seconds)
    return from === undefined ? undefined : lastOf(all)[1] - from
  },
  timeWeightedMean: (all, seconds) => {
    const [sum, time] = area(all, seconds, (v) => v)
    return time === 0 ? lastOf(all)[1] : sum / time
  },
  integral: (all, seconds) => area(all, seconds, (v) => v)[0],
  timeAbove: (all, seconds) => area(all, seconds, (v) => Number(v > 5))[0],
  edges: (all, seconds) =>
    all.filter(([s, v], i) => s > lastOf(all)[0] - seconds && i > 0 && v > 5 && (all[i - 1]?.[1] ?? 0) <= 5).length,
  increase: (all, seconds) =>
    all.reduce((sum, [s, v], i) => {
      const before = all[i - 1]?.[1]
      if (before === undefined || s <= lastOf(all)[0] - seconds) return sum
      return sum + (v >= before ? v - before : v)
    }, 0),
  slope: (all, seconds) => {
    const inside = all.filter(([s]) => s > lastOf(all)[0] - seconds)
    const [s, v] = [0, 1].map((at) => inside.reduce((sum, one) => sum + (one[at] ?? 0), 0) / inside.length)
    const spread = inside.reduce((sum, one) => sum + (one[0] - (s ?? 0)) ** 2, 0)
    return spread === 0
      ? undefined
      : inside.reduce((sum, one) => sum + (one[0] - (s ?? 0)) * (one[1] - (v ?? 0)), 0) / spread
  },
}

function lastOf(all: readonly Reading[]): Reading {
  return all.at(-1) ?? [0, 0]
}

function heldAt(all: readonly Reading[], at: number): number | undefined {
  return all.findLast(([s]) => s <= at)?.[1]
}

/** Second by second: all times are whole seconds. */
function area(all: readonly Reading[], seconds: number, of: (value: number) => number): readonly [number, number] {
  const end = lastOf(all)[0]
  let [sum, time] = [0, 0]
  for (let s = end - seconds; s < end; s++) {
    const value = heldAt(all, s)
    if (value === undefined) continue
    sum += of(value)
    time++
  }
  return [sum, time]
}
