import { describe, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import { createRegistry } from '../../../../src/core/plug/registry.ts'
import type { Relation, Rule, Sensor } from '../../../../src/core/rule/rule.ts'
import { validateRule } from '../../../../src/core/rule/validate.ts'

const plugs = createRegistry(builtins)

function limit(label: string, threshold: number | string, more: Partial<Sensor> = {}): Sensor {
  const properties = { parameter: 't', threshold }
  return { label, name: 'streamingDataSensor', resource: '$', properties, ...more }
}

function issuesOf(type: Relation['type'], sensors: readonly Sensor[], ...rows: readonly (readonly string[])[]) {
  const rule: Rule = {
    sensors: [...sensors],
    relations: [
      { label: 'g', type, parentLabels: sensors.map(({ label }) => label), combinations: rows.map((row) => [...row]) },
    ],
    actuators: [{ label: 'act', name: 'log', properties: { message: 'x' } }],
    triggers: [{ sourceLabel: 'g', destinationLabel: 'act', statesTrigger: ['TRUE'] }],
  }
  return validateRule(rule, plugs).issues.map(({ severity, path, message }) => `${severity} ${path}: ${message}`)
}

const pair = [limit('hot', 90), limit('cold', 80)]

describe('a row that can never hold', () => {
  it('is reported with the contradicting sensors', () => {
    expect(issuesOf('AND', pair, ['Above', 'Below'])).toEqual([
      'WARNING /relations/0/combinations/0: relation "g" requires Above of "hot" and Below of "cold", which no value of "t" satisfies at once',
    ])
  })

  it.each<[string, Relation['type'], readonly Sensor[], readonly (readonly string[])[]]>([
    ['the opposite of one that never holds', 'NAND', pair, [['Above', 'Below']]],
    ['one limit twice', 'AND', [limit('a', 5), limit('b', '5')], [['Above', 'Equal']]],
    ['two equalities', 'AND', [limit('a', 1), limit('b', 2)], [['Equal', 'Equal']]],
    [
      'a second row',
      'GENERAL',
      pair,
      [
        ['Above', 'Above'],
        ['Equal', 'Below'],
      ],
    ],
    [
      'three sensors of which two meet',
      'AND',
      [limit('a', 5), limit('b', 1), limit('c', 3)],
      [
        ['Below', 'Above', 'Above'],
        ['Below', 'Below', 'Above'],
      ].slice(1),
    ],
  ])('is detected: %s', (_, type, sensors, rows) => {
    expect(issuesOf(type, sensors, ...rows)).toEqual([expect.stringContaining('WARNING /relations/0/combinations/')])
  })

  it.each<[string, Relation['type'], readonly Sensor[], readonly string[]]>([
    ['limits with room between them', 'AND', pair, ['Below', 'Above']],
    ['both on one side', 'AND', pair, ['Above', 'Above']],
    ['a value at a limit', 'AND', pair, ['Equal', 'Above']],
    ['one of them is enough', 'OR', pair, ['Above', 'Below']],
    [
      'another parameter',
      'AND',
      [limit('hot', 90), limit('cold', 80, { properties: { parameter: 'u', threshold: 80 } })],
      ['Above', 'Below'],
    ],
    ['another resource', 'AND', [limit('hot', 90), limit('cold', 80, { resource: 'other' })], ['Above', 'Below']],
    ['a limit of the message', 'AND', [limit('hot', 90), limit('cold', 'least')], ['Above', 'Below']],
    ['a limit of a variable', 'AND', [limit('hot', 90), limit('cold', '${variables.least}')], ['Above', 'Below']],
    [
      'a state for a failure',
      'AND',
      [limit('hot', 90), limit('cold', 80, { timeoutState: 'Below' })],
      ['Above', 'Below'],
    ],
    ['its own clock', 'AND', [limit('hot', 90), limit('cold', 80, { pollingPeriod: 60_000 })], ['Above', 'Below']],
    [
      'states that are pushed',
      'AND',
      [limit('hot', 90), limit('cold', 80, { dataTrigger: false })],
      ['Above', 'Below'],
    ],
    [
      'a plug with an undeclared state for texts',
      'AND',
      [
        limit('over', 0, { name: 'condition', properties: { condition: 't > 90' } }),
        limit('under', 0, { name: 'condition', properties: { condition: 't <= 90' } }),
      ],
      ['False', 'False'],
    ],
  ])('is not reported falsely: %s', (_, type, sensors, row) => {
    expect(issuesOf(type, sensors, row)).toEqual([])
  })

  it('is not reported for a sensor that a trigger runs', () => {
    const rule: Rule = {
      sensors: [...pair],
      relations: [{ label: 'g', type: 'AND', parentLabels: ['hot', 'cold'], combinations: [['Above', 'Below']] }],
      actuators: [{ label: 'act', name: 'log', properties: { message: 'x' } }],
      triggers: [
        { sourceLabel: 'hot', destinationLabel: 'cold', statesTrigger: ['Above'] },
        { sourceLabel: 'g', destinationLabel: 'act', statesTrigger: ['TRUE'] },
      ],
    }
    expect(validateRule(rule, plugs).issues).toEqual([])
  })
})
