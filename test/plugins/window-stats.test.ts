import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { windowStats } from '../../plugins/window-stats/plug.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { validateRule } from '../../src/core/rule/validate.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { runSeries, statesOf } from '../support/plug-series.ts'

describe('windowStats', () => {
  it('gives every statistic over the last samples', () => {
    const ran = runSeries(
      windowStats,
      { value: 'v', samples: 3, statistic: 'max' },
      [9, 1, 2, 6].map((v) => ({ v })),
    )
    expect(ran.at(-1)?.rawData).toEqual({ value: 6, count: 3, mean: 3, min: 1, max: 6, sum: 9, std: Math.sqrt(7) })
  })

  it('lets go of numbers that are older than the duration', () => {
    const ran = runSeries(
      windowStats,
      { value: 'v', duration: '10s', statistic: 'sum' },
      [1, 2, 4, 8].map((v) => ({ v })),
      (i) => i * 5000,
    )
    expect(ran.map(({ rawData }) => rawData?.['value'])).toEqual([1, 3, 6, 12])
  })

  it('compares the chosen statistic with the limits, once there are enough samples', () => {
    const properties = { value: 'v', samples: 2, lowerLimit: 2, upperLimit: 4, minimum: 2 }
    expect(statesOf(windowStats, properties, [9, 1, 3, 1, 0])).toEqual([
      'Collecting',
      'Above',
      'In Range',
      'In Range',
      'Below',
    ])
  })

  it('finds percentiles as a sort does, for any numbers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1 }),
        fc.integer({ min: 0, max: 100 }),
        (values, percentile) => {
          const properties = { value: 'v', samples: 7, statistic: 'percentile', percentile }
          const ran = runSeries(
            windowStats,
            properties,
            values.map((v) => ({ v })),
          )
          const last = values.slice(-7).sort((a, b) => a - b)
          const rank = ((last.length - 1) * percentile) / 100
          const [low, high] = [last[Math.floor(rank)] ?? 0, last[Math.ceil(rank)] ?? 0]
          expect(ran.at(-1)?.rawData?.['value']).toBeCloseTo(low + (high - low) * (rank - Math.floor(rank)), 9)
        },
      ),
    )
  })

  it('keeps its memory as one object that is not copied', () => {
    const properties = { value: '1', samples: 3 }
    const first = runPlug(windowStats, { properties })
    const second = runPlug(windowStats, { properties, internalState: first.internalState })
    expect(second.internalState).toBe(first.internalState)
  })

  it('starts again when the kind of statistic changed', () => {
    const first = runPlug(windowStats, { properties: { value: '1', samples: 3 } })
    const properties = { value: '1', samples: 3, statistic: 'percentile' }
    expect(runPlug(windowStats, { properties, internalState: first.internalState }).rawData?.['count']).toBe(1)
  })

  it.each([
    [{ samples: 0 }, 'samples: 0 is out of bounds'],
    [{ duration: '0s' }, 'not longer than nothing'],
    [{ percentile: 101 }, '101 is no percentile'],
    [{ minimum: 0 }, 'minimum: 0'],
    [{ lowerLimit: 2, upperLimit: 1 }, 'upperLimit 1 is below lowerLimit 2'],
    [{ value: 'a b' }, 'column 3'],
  ])('refuses %j: %s', (properties, text) => {
    expect(checkPlug(windowStats, properties).join()).toContain(text)
  })

  it('asks for samples or a duration', () => {
    expect(() => runPlug(windowStats, { properties: { value: '1' } })).toThrow('give samples such as 60')
  })

  it('is refused with its node and property when a rule is checked, if it has neither samples nor duration', () => {
    const rule = { sensors: [{ label: 'w', name: 'windowStats', resource: '$', properties: { value: 'v' } }] }
    expect(validateRule(rule, createRegistry(builtins)).issues.map(({ path, message }) => [path, message])).toEqual([
      ['/sensors/0/properties/samples', 'sensor "w": there are neither samples nor a duration'],
    ])
  })
})
