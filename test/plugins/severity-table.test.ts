import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { severityTable } from '../../plugins/severity-table/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { runSeries, statesOf } from '../support/plug-series.ts'

const up = {
  value: 'v',
  hysteresis: 2,
  table: [
    { from: 80, severity: 'MINOR' },
    { from: 95, severity: 'critical' },
  ],
}
const both = {
  ...up,
  table: [
    { from: 80, to: 90, severity: 'MINOR' },
    { from: 90, severity: 'MAJOR' },
    { to: 10, severity: 'CRITICAL' },
  ],
}

describe('severityTable', () => {
  it.each([
    [up, [70, 80, 95, 94, 93, 92.9, 79, 78, 77.9], 'Normal Minor Critical Critical Critical Minor Minor Minor Normal'],
    [up, [100, 50, 100], 'Critical Normal Critical'],
    [both, [85, 89, 90, 88, 87, 10, 12, 12.1], 'Minor Minor Major Major Minor Critical Critical Normal'],
  ])('%j over %j is %s', (properties, values, states) => {
    expect(statesOf(severityTable, properties, values).join(' ')).toBe(states)
  })

  it('shows the severity as alarms have it, and since when', () => {
    const ran = runSeries(severityTable, up, [{ v: 96 }, { v: 94 }, { v: 50 }], (i) => 100 * i)
    expect(ran.map(({ rawData }) => rawData)).toEqual([
      { value: 96, severity: 'CRITICAL', since: 0 },
      { value: 94, severity: 'CRITICAL', since: 0 },
      { value: 50, since: 200 },
    ])
  })

  it('is never less severe than the table, and without hysteresis equal to it', () => {
    const rank = ['Critical', 'Major', 'Minor', 'Warning', 'Normal']
    const plain = (v: number) => (v >= 95 ? 'Critical' : v >= 80 ? 'Minor' : 'Normal')
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 70, max: 100 })), (values) => {
        expect(statesOf(severityTable, { ...up, hysteresis: 0 }, values)).toEqual(values.map(plain))
        statesOf(severityTable, up, values).forEach((state, i) => {
          expect(rank.indexOf(String(state))).toBeLessThanOrEqual(rank.indexOf(plain(values[i] ?? 0)))
        })
      }),
    )
  })

  it.each([
    [[], 'has 0 ranges'],
    [[5], 'other than an object in range 1'],
    [
      [
        { from: 1, severity: 'MINOR' },
        { from: 1, severity: 'HIGH' },
      ],
      'an invalid severity in range 2',
    ],
    [[{ severity: 'MINOR' }], 'neither from nor to'],
    [[{ from: 5, to: 1, severity: 'MINOR' }], 'from above its to'],
    [[{ from: '5', severity: 'MINOR' }], 'an invalid limit'],
    [[{ above: 5, severity: 'MINOR' }], 'an unknown field "above"'],
  ])('rejects the table %j', (table, problem) => {
    expect(checkPlug(severityTable, { ...up, table }).join()).toContain(problem)
    expect(() => runPlug(severityTable, { properties: { ...up, table }, message: { v: 1 } })).toThrow(problem)
  })

  it('rejects a negative hysteresis', () => {
    expect(checkPlug(severityTable, { ...up, hysteresis: -1 }).join()).toContain('-1 is negative')
  })

  it('keeps its state in a run without a new value, and fails before the first one', () => {
    const carried = { message: {}, internalState: { state: 'Minor', since: 3 } }
    expect(() => runPlug(severityTable, { properties: up })).toThrow('no message has contained a value of "v" yet')
    expect(runPlug(severityTable, { properties: up, ...carried, message: { v: 79 } }).state).toBe('Minor')
  })
})
