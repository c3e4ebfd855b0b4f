import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RowFormula } from '../../../../src/core/columnar/sensor-formula.ts'
import { evaluationSource } from '../../../../src/core/columnar/formula-code.ts'
import { compileCondition } from '../../../../src/core/language/expression/condition.ts'
import { conditionFormula, conditionSteps } from '../../../../src/core/language/expression/condition-formula.ts'
import { compileExpression } from '../../../../src/core/language/expression/expression.ts'
import { formulaOf, formulasOf } from '../../../../src/core/language/expression/formula.ts'
import { kindOf, type Formula } from '../../../../src/core/plug/calculation.ts'
import { numberText, truthLogic, truthText } from '../../../support/arbitraries/formulas.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -3, max: 40 }),
  fc.constantFrom(0, -0, 0.5, Number.MAX_VALUE, Number.MIN_VALUE),
)
const message = fc.record({ a: value, b: value })
type Values = Readonly<Record<'a' | 'b', number>>

/** As in rows: the numbers of the message by name, constants by their index. */
function asRowFormula(formula: Formula, constants: number[]): RowFormula {
  if (typeof formula === 'number') return { constant: constants.push(formula) - 1 }
  if (typeof formula === 'boolean') return formula
  if ('op' in formula) return { op: formula.op, of: formula.of.map((one) => asRowFormula(one, constants)) }
  return { parameter: formula.name }
}

type Evaluate = (message: Values, nums: readonly number[], at: number, numbers: number[]) => number

/** Result of the generated code: a number, or whether the condition holds. */
function result(formula: Formula, values: Values): unknown {
  const constants: number[] = []
  const own = asRowFormula(formula, constants)
  const isNumber = kindOf(formula) === 'number'
  const states = isNumber ? [] : [[own, 1] as const]
  const sensor = { first: 0, numbers: isNumber ? [own] : [], states, otherwise: 0, properties: [] }
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the text is the engine's own
  const evaluate = new Function('message', 'nums', 'at', 'numbers', evaluationSource(sensor, -2)) as Evaluate
  const numbers: number[] = []
  const state = evaluate(values, constants, 0, numbers)
  return isNumber ? numbers[0] : state === 1
}

/** Undefined where a value that is not finite would decide: rows then leave it to the expression. */
function known(evaluate: () => unknown): unknown {
  try {
    return evaluate()
  } catch (error) {
    expect((error as Error).message).toMatch(/is (?:NaN|-?Infinity), so the result is unknown/)
    return undefined
  }
}

const lookup = (values: Values) => (path: { readonly segments: readonly string[] }) =>
  values[path.segments[0] as 'a' | 'b']

describe('a formula', () => {
  it('returns the same number as its expression', () => {
    fc.assert(
      fc.property(numberText, message, (text, values) => {
        const expected = known(() => compileExpression(text).evaluate(lookup(values), 0))
        const formula = formulaOf(text, 'streamdata')
        if (expected === undefined) return
        if (formula === undefined) expect(text.length).toBeGreaterThan(500)
        else expect(result(formula, values)).toEqual(expected)
      }),
      runs(500),
    )
  })

  it.each([
    ['expressions', truthText],
    ['JSON Logic', truthLogic],
  ])('holds if its condition holds, in %s', (_, condition: fc.Arbitrary<unknown>) => {
    fc.assert(
      fc.property(condition, message, (given, values) => {
        const compiled = typeof given === 'boolean' ? undefined : compileCondition(given)
        const expected = compiled === undefined ? given : known(() => compiled.holds(lookup(values), 0))
        if (expected === undefined) return
        const formula = conditionFormula(given)
        if (formula === undefined) expect(JSON.stringify(given).length).toBeGreaterThan(500)
        else expect(result(formula, values)).toEqual(expected)
      }),
      runs(500),
    )
  })

  it.each([
    'temperature > 25 && "pump"',
    '"mode" == "on"',
    'nodes.s.rawData.mode == "on"',
    'mode == "${variables.mode}"',
    'mode > "on"',
    'temperature > null',
    'a == null',
    'typeof a == "number"',
    'a ?? b > 3',
    'nodes.s.state == "Above"',
    'now > 3',
    'hour(now) > 3',
    'a ** 2 > 3',
    '(a | 3) > 3',
    'Math.random() > 0.5',
    'Math.max(a, b, 3) > 2',
    'Math.max(...[a, b]) > 2',
    'a.b > 2',
    'streamdata.a.b > 2',
    'a > 1, b > 2',
    'a > ',
    'items.length > 2',
    '{"cat": [1, 2]}',
    '{">": [{"var": ["a", 3]}, 2]}',
    '{">": [{"var": "a.b"}, 2]}',
    '{">": [1, 2], "<": [1, 2]}',
    '{"if": [true, 1, 2]}',
    { '==': [{ var: 'mode' }, '${variables.mode}'] },
    { '==': [{ '+': [{ var: 'a' }, 1] }, 'on'] },
    { '>': [{ var: 'a' }, '2'] },
    42,
    undefined,
  ])('cannot be compiled from %j', (condition) => {
    expect(conditionFormula(condition)).toBeUndefined()
  })

  it.each<[unknown, Formula]>([
    ['pump == true', { from: 'streamdata', name: 'pump', is: true }],
    ['false === pump', { from: 'streamdata', name: 'pump', is: false }],
    ['("on") == (mode)', { from: 'streamdata', name: 'mode', is: 'on' }],
    ['pump', { from: 'streamdata', name: 'pump', is: true }],
    [
      'a > 2 && !pump',
      {
        op: 'and',
        of: [
          { op: '>', of: [{ from: 'streamdata', name: 'a' }, 2] },
          { op: 'not', of: [{ from: 'streamdata', name: 'pump', is: true }] },
        ],
      },
    ],
    [{ '!=': ['on', { var: 'mode' }] }, { op: 'not', of: [{ from: 'streamdata', name: 'mode', is: 'on' }] }],
    [{ '==': [{ var: 'pump' }, true] }, { from: 'streamdata', name: 'pump', is: true }],
    [{ var: 'pump' }, { from: 'streamdata', name: 'pump', is: true }],
  ])('of %j requires a boolean or a text', (condition, formula) => {
    expect(conditionFormula(condition)).toEqual(formula)
  })

  it('reads raw data of nodes, including its own', () => {
    expect(formulaOf('nodes.s.rawData.x + 1', 'streamdata')).toEqual({
      op: '+',
      of: [{ from: 'nodes', node: 's', name: 'x' }, 1],
    })
    expect(formulaOf('rawData.x * limit', 'properties')).toEqual({
      op: '*',
      of: [
        { from: 'rawData', name: 'x' },
        { from: 'properties', name: 'limit' },
      ],
    })
  })

  it('can be one of several in an object literal', () => {
    expect(formulasOf('({ x: a * 2, y: 3 })', 'streamdata')).toEqual({
      x: { op: '*', of: [{ from: 'streamdata', name: 'a' }, 2] },
      y: 3,
    })
    for (const text of [
      '{ x: a, x: b }',
      '{ ...a }',
      '{ "x": a }',
      '{ [a]: 1 }',
      '{ x() {} }',
      '{ x: "1" }',
      'a',
      '[a]',
    ]) {
      expect(formulasOf(text, 'streamdata')).toBeUndefined()
    }
  })
})

describe('a condition that compares one number with one limit', () => {
  it.each([
    ['a > 5', 'FFT'],
    ['a >= 5', 'FTT'],
    ['a < -5', 'TFF'],
    ['5 < a', 'FFT'],
    ['5 >= a', 'TTF'],
    ['a == 5', 'FTF'],
    ['a != 5', 'TFT'],
    [{ '<=': [{ var: 'a' }, 5] }, 'TTF'],
    [{ '<': [5, { var: 'a' }] }, 'FFT'],
  ])('is recognized in %j', (condition, states) => {
    const expected = states.split('').map((state) => (state === 'T' ? 'True' : 'False'))
    expect(conditionSteps(condition)).toEqual({
      parameter: 'a',
      cuts: [condition === 'a < -5' ? -5 : 5],
      states: expected,
    })
  })

  it.each(['a > b', 'a + 1 > 5', 'a > 5 && b > 5', '!(a > 5)', '3 > 2', 'nodes.s.rawData.x > 5', 'true'])(
    'is not recognized in %j',
    (condition) => {
      expect(conditionSteps(condition)).toBeUndefined()
    },
  )
})
