import { describe, expect, it } from 'vitest'
import type { Rule, Template } from '../../../src/index.ts'
import { constantsOf } from '../../../src/testing/index.ts'

const rule: Rule = {
  sensors: [
    { label: 'a', name: 'streamingDataSensor', properties: { parameter: 't', threshold: 90 }, evictionTime: 5000 },
    { label: 'b', name: 'condition', properties: { condition: "mode == 'auto' and pressure > 2.5" } },
    { label: 'c', name: 'holdsFor', properties: { condition: 'tt > 7', duration: '30m', count: 3 } },
  ],
  triggers: [{ sourceLabel: 'a', destinationLabel: 'b', invocationPolicy: 600 }],
  task: { frequency: 4000 },
}

describe('constantsOf', () => {
  const { values, durations, counts } = constantsOf(rule, ['t', 'mode', 'pressure', 'tt'])

  it('assigns a metric the numbers and texts of sensors that name it, and adjacent values', () => {
    expect(values['t']).toEqual(expect.arrayContaining([90, 90.1, 89.9, 90.01, 91, 89]))
    expect(values['t']).not.toContain(2.5)
    expect(values['pressure']).toEqual(expect.arrayContaining([2.5, 2.6, 2.4]))
    expect(values['mode']).toContain('auto')
    expect(values['tt']).toContain(7)
    expect(values['tt']).not.toContain(90)
    expect(constantsOf(rule, ['t'], { neighbours: false }).values['t']).not.toContain(90.1)
  })
  it('returns the durations of the rule, in ms', () => {
    expect(durations).toEqual([4000, 5000, 600_000, 1_800_000])
  })
  it('returns possible counts', () => {
    expect(counts).toContain(3)
    expect(counts).not.toContain(90)
  })
  it('returns variables and defaults to all metrics', () => {
    const template: Template = {
      name: 'limit',
      variables: [{ name: 'limit', type: 'double', defaultValue: 40 }],
      sensors: [
        { label: 'a', name: 'streamingDataSensor', properties: { parameter: 't', threshold: '${variables.limit}' } },
      ],
      taskDefaults: { variables: { other: 41.5 } },
    }
    expect(constantsOf(template, ['t']).values['t']).toEqual(expect.arrayContaining([40, 41.5]))
  })
})
