import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createRegistry, validateRule } from '../../../src/index.ts'
import { crashDraws, crashPoints } from '../../../src/testing/check-options.ts'
import { randomRules } from '../../../src/testing/index.ts'

const rules = fc.sample(randomRules({ plugs: builtins, resources: ['a', 'b'] }), { numRuns: 100, seed: 1 })

describe('randomRules', () => {
  it('are accepted by validation', () => {
    const plugs = createRegistry(builtins)
    for (const rule of rules)
      expect(validateRule(rule, plugs).issues.filter(({ severity }) => severity === 'ERROR')).toEqual([])
  })

  it('use many plugs, gates of every type, and all resources', () => {
    const sensors = rules.flatMap((rule) => rule.sensors ?? [])
    expect(new Set(sensors.map(({ name }) => name)).size).toBeGreaterThan(8)
    expect(new Set(sensors.map(({ resource }) => resource))).toEqual(new Set(['$', 'a', 'b']))
    expect(new Set(rules.flatMap((rule) => (rule.relations ?? []).map(({ type }) => type))).size).toBe(4)
  })

  it('use the requested properties and settings', () => {
    const given = randomRules({
      plugs: builtins.filter(({ name }) => ['condition', 'log'].includes(name)),
      properties: { condition: fc.constant({ condition: { '==': [1, 1] } }) },
      task: fc.constant({ type: 'periodic', frequency: 1000 }),
    })
    for (const rule of fc.sample(given, { numRuns: 20, seed: 1 })) {
      expect(rule.task).toMatchObject({ type: 'periodic', frequency: 1000 })
      for (const { properties } of rule.sensors ?? []) expect(properties).toEqual({ condition: { '==': [1, 1] } })
    }
  })
})

describe('crashPoints', () => {
  it('are ascending, each within the stream, at least one', () => {
    fc.assert(
      fc.property(crashDraws, fc.integer({ min: 1, max: 12 }), (draws, messages) => {
        const points = crashPoints(draws, messages).map(({ after }) => after)
        expect(points.length).toBeGreaterThan(0)
        expect(points).toEqual([...new Set(points)].toSorted((a, b) => a - b))
        for (const point of points) expect(point >= 1 && point <= messages).toBe(true)
      }),
    )
  })

  it('are absent for a stream without messages', () => {
    expect(crashPoints([{ position: 0.5, down: 0, inFlight: false }], 0)).toEqual([])
  })
})
