import { describe, expect, it } from 'vitest'
import { describeIssue } from '../../../../src/kernel/errors.ts'
import { validateRule } from '../../../../src/core/rule/validate.ts'
import { growth } from '../../../support/cpu-time.ts'
import { plugs } from '../sample.ts'

const coins = ['a', 'b'].map((label) => ({ label, name: 'coin', resource: '$' }))

type Gate = readonly [label: string, type: string, parents: readonly string[], rows: readonly (readonly string[])[]]

function warnings(...gates: readonly Gate[]): string[] {
  const relations = gates.map(([label, type, parentLabels, combinations]) => ({
    label,
    type,
    parentLabels,
    combinations,
  }))
  const { issues } = validateRule({ sensors: coins, relations }, plugs)
  return issues.filter(({ message }) => !message.includes('twice')).map(describeIssue)
}

const both: Gate = ['both', 'AND', ['a', 'b'], [['Heads', 'Heads']]]

describe('rows that can never hold', () => {
  it('are reported when a gate would have to be TRUE against its own parents', () => {
    const top: Gate = [
      'top',
      'GENERAL',
      ['both', 'a'],
      [
        ['TRUE', 'Tails'],
        ['FALSE', 'Tails'],
      ],
    ]
    expect(warnings(both, top)).toEqual([
      '/relations/1/combinations/0: relation "top": ["TRUE","Tails"] can never hold, because the gates above exclude it; omit the row, or change a gate above',
    ])
  })

  it('are reported over two levels too', () => {
    const middle: Gate = ['middle', 'NAND', ['both'], [['TRUE']]]
    const top: Gate = [
      'top',
      'GENERAL',
      ['middle', 'a', 'b'],
      [
        ['TRUE', 'Heads', 'Heads'],
        ['TRUE', 'Heads', 'Tails'],
      ],
    ]
    expect(warnings(both, middle, top)).toEqual([
      expect.stringMatching(/^\/relations\/2\/combinations\/0: .*can never hold/),
    ])
  })

  it('are not reported over independent sensors', () => {
    expect(
      warnings([
        'g',
        'GENERAL',
        ['a', 'b'],
        [
          ['Heads', 'Tails'],
          ['Tails', 'Heads'],
        ],
      ]),
    ).toEqual([])
  })
})

describe('gates that never change', () => {
  it.each<[string, Gate[], string]>([
    ['a GENERAL with every row', [['g', 'GENERAL', ['a'], [['Heads'], ['Tails']]]], 'TRUE'],
    ['a OR of both states', [['g', 'OR', ['a', 'a'], [['Heads', 'Tails']]]], 'TRUE'],
    ['an AND of both states', [['g', 'AND', ['a', 'a'], [['Heads', 'Tails']]]], 'FALSE'],
    ['an AND against its own parent', [both, ['g', 'AND', ['both', 'a'], [['TRUE', 'Tails']]]], 'FALSE'],
    ['a NAND that is always TRUE', [['g', 'NAND', ['a', 'a'], [['Heads', 'Tails']]]], 'TRUE'],
  ])('%s', (_name, gates, result) => {
    expect(warnings(...gates)).toEqual([
      expect.stringMatching(new RegExp(`relation "g" is ${result} whatever its parents are`)),
    ])
  })

  it('are not searched over too many sensors', () => {
    const sensors = Array.from({ length: 20 }, (_, i) => ({ label: `c${i}`, name: 'coin', resource: '$' }))
    const labels = sensors.map(({ label }) => label)
    const relations = [
      {
        label: 'g',
        type: 'OR',
        parentLabels: [...labels, ...labels],
        combinations: [[...labels.map(() => 'Heads'), ...labels.map(() => 'Tails')]],
      },
    ]
    const { issues } = validateRule({ sensors, relations }, plugs)
    expect(issues.filter(({ message }) => message.includes('whatever'))).toEqual([])
  })

  it('are searched in time proportional to the length of a chain', () => {
    const check = (count: number) => {
      const relations = Array.from({ length: count }, (_, i) => ({
        label: `g${i}`,
        type: 'AND',
        parentLabels: [i === 0 ? 'a' : `g${i - 1}`],
        combinations: [[i === 0 ? 'Heads' : 'TRUE']],
      }))
      expect(validateRule({ sensors: coins, relations }, plugs).issues).toEqual([])
    }
    expect(growth(check, 1000, 10)).toBeLessThan(30)
  })

  it("are searched at the limit while the rule's budget lasts", () => {
    const sensors = Array.from({ length: 12 }, (_, i) => ({ label: `c${i}`, name: 'coin', resource: '$' }))
    const parentLabels = sensors.map(({ label }) => label)
    const check = (count: number) => {
      const relations = Array.from({ length: count }, (_, i) => ({
        label: `g${i}`,
        type: 'AND',
        parentLabels,
        combinations: [parentLabels.map(() => 'Heads')],
      }))
      expect(validateRule({ sensors, relations }, plugs).issues).toEqual([])
    }
    expect(growth(check, 100, 10)).toBeLessThan(5)
  })
})
