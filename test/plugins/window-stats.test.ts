import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { windowStats } from '../../plugins/window-stats/plug.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { validateRule } from '../../src/core/rule/validate.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { runSeries, statesOf } from '../support/plug-series.ts'

describe('windowStats', () => {
  it('returns every statistic over the last samples', () => {
    const ran = runSeries(
      windowStats,
      { value: 'v', samples: 3, statistic: 'max' },
      [9, 1, 2, 6].map((v) => ({ v })),
    )
    expect(ran.at(-1)?.rawData).toEqual({
      value: 6,
      count: 3,
      mean: 3,
      min: 1,
      max: 6,
      sum: 9,
      std: Math.sqrt(7),
      late: 0,
    })
  })

  it('drops numbers older than the duration', () => {
    const ran = runSeries(
      windowStats,
      { value: 'v', duration: '10s', statistic: 'sum' },
      [1, 2, 4, 8].map((v) => ({ v })),
      (i) => i * 5000,
    )
    expect(ran.map(({ rawData }) => rawData?.['value'])).toEqual([1, 3, 6, 12])
  })

  it('ignores a run without a new value, but drops old numbers and reports its statistics', () => {
    const properties = { value: 'v', duration: '10s', statistic: 'sum' }
    const { internalState } = runPlug(windowStats, { properties, message: { v: 40 }, now: 1000 })
    const carried = { properties, internalState, message: { v: 40 }, messageTime: 1000 }
    expect(runPlug(windowStats, { ...carried, now: 5000 })).toMatchObject({
      state: 'In Range',
      rawData: { value: 40, count: 1 },
    })
    expect(runPlug(windowStats, { ...carried, now: 11_000 })).toMatchObject({
      state: 'Collecting',
      rawData: { count: 0, late: 0 },
    })
    expect(runPlug(windowStats, { properties }).rawData).toEqual({ count: 0, late: 0 })
  })

  it('adds new data of other nodes, and new values of the message', () => {
    const nodes = { n: { x: 2 } }
    const ofNode = { properties: { value: 'nodes.n.rawData.x', samples: 9, statistic: 'sum' }, nodes }
    const first = runPlug(windowStats, ofNode)
    const stale = { ...ofNode, internalState: first.internalState, staleNodes: ['n'] }
    expect(runPlug(windowStats, stale).rawData).toMatchObject({ value: 2, count: 1 })
    expect(runPlug(windowStats, { ...ofNode, internalState: first.internalState }).rawData).toMatchObject({ value: 4 })
    const both = { properties: { value: 'nodes.n.rawData.x * v', samples: 9, statistic: 'sum' }, nodes }
    const { internalState } = runPlug(windowStats, { ...both, message: { v: 5 } })
    const carried = { ...both, internalState, message: { v: 5 }, messageTime: 0, now: 1, staleNodes: ['n'] }
    expect(runPlug(windowStats, carried).rawData).toMatchObject({ value: 10, count: 1 })
  })

  it.each<[string, string | undefined, readonly (number | string | undefined)[], number[], number]>([
    ['numbers count at the times of their messages', undefined, [1000, 9000, 4000, 12_000], [1, 3, 7, 14], 0],
    ['numbers beyond the window are late', undefined, [20_000, 9000, 10_000, 10_001], [1, 1, 1, 9], 2],
    ['with a lateness of 0s, all older numbers are late', '0s', [1000, 9000, 8999, 9000], [1, 3, 3, 11], 1],
    ['with a lateness, numbers older than that are late', 'PT5S', [1000, 9000, 4000, 3999], [1, 3, 7, 7], 1],
    ['text is read as ISO 8601', undefined, ['1970-01-01T00:00:09Z', 8000, 'soon', undefined], [1, 3, 4, 12], 0],
    ['the future counts as now', undefined, [9e15, 100_000, '2100-01-01', 100_000], [1, 3, 7, 15], 0],
  ])('by the time of the message: %s', (_, lateness, timestamps, sums, late) => {
    const properties = { value: 'v', duration: '10s', statistic: 'sum', ...(lateness && { lateness }) }
    const messages = timestamps.map((timestamp, i) => ({ v: 2 ** i, ...(timestamp !== undefined && { timestamp }) }))
    const ran = runSeries(windowStats, properties, messages, () => 100_000)
    expect(ran.map(({ rawData }) => rawData?.['value'])).toEqual(sums)
    expect(ran.at(-1)?.rawData?.['late']).toBe(late)
  })

  it('computes percentiles of numbers out of order', () => {
    const properties = { value: 'v', duration: '10s', statistic: 'percentile', percentile: 50 }
    const messages = [3, 9, 1, 5].map((v, i) => ({ v, timestamp: [1000, 9000, 2000, 11_500][i] }))
    const ran = runSeries(windowStats, properties, messages, () => 100_000)
    expect(ran.map(({ rawData }) => rawData?.['value'])).toEqual([3, 6, 3, 5])
  })

  it('continues a memory whose numbers were stored by arrival time', () => {
    const properties = { value: 'v', duration: '10s', statistic: 'sum' }
    const { internalState } = runPlug(windowStats, { properties, message: { v: 1 }, now: 5000 })
    const { window, tree } = internalState as Record<string, unknown>
    const before = { window, tree }
    expect(
      runPlug(windowStats, { properties, message: { v: 2 }, now: 6000, internalState: before }).rawData,
    ).toMatchObject({ value: 3, late: 0 })
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

  it('computes the same percentiles as sorting, for any numbers', () => {
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
    [{ samples: 0 }, 'samples: 0 is out of range'],
    [{ duration: '0s' }, 'is not above 0'],
    [{ lateness: '-PT1S' }, 'lateness: "-PT1S" is below 0'],
    [{ percentile: 101 }, '101 is not a valid percentile'],
    [{ minimum: 0 }, 'minimum: 0'],
    [{ lowerLimit: 2, upperLimit: 1 }, 'upperLimit 1 is below lowerLimit 2'],
    [{ value: 'a b' }, 'column 3'],
  ])('rejects %j: %s', (properties, text) => {
    expect(checkPlug(windowStats, properties).join()).toContain(text)
  })

  it('requests samples or a duration', () => {
    expect(() => runPlug(windowStats, { properties: { value: '1' } })).toThrow('set samples such as 60')
  })

  it('is rejected with its node and property when a rule is checked, if it has neither samples nor duration', () => {
    const rule = { sensors: [{ label: 'w', name: 'windowStats', resource: '$', properties: { value: 'v' } }] }
    expect(validateRule(rule, createRegistry(builtins)).issues.map(({ path, message }) => [path, message])).toEqual([
      ['/sensors/0/properties/samples', 'sensor "w": samples and duration are both missing'],
    ])
  })
})
