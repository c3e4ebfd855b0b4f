/** Writes formulas as source text for generated code. */
import type { Operator } from '../plug/calculation.ts'
import type { RowFormula, SensorFormula } from './sensor-formula.ts'

/** Returns the names that source text uses for values. */
export interface FormulaNames {
  parameter(name: string): string
  constant(place: number): string
  number(place: number): string
}

export function sourceOf(formula: RowFormula, names: FormulaNames): string {
  if (typeof formula === 'boolean') return String(formula)
  if ('is' in formula) return testSource(names.parameter(formula.parameter), formula.is)
  if ('parameter' in formula) return names.parameter(formula.parameter)
  if ('constant' in formula) return names.constant(formula.constant)
  if ('number' in formula) return names.number(formula.number)
  return SOURCES[formula.op](formula.of.map((one) => sourceOf(one, names)))
}

function testSource(value: string, wanted: boolean | string): string {
  if (typeof wanted === 'string') return `(${value} === ${JSON.stringify(wanted)})`
  return wanted ? value : `!${value}`
}

/** Returns source for a sensor's state index. Two states use arithmetic, because a branch may be mispredicted. */
export function stateSource({ states, otherwise }: SensorFormula, names: FormulaNames): string {
  const [first, another] = states
  if (first === undefined) return String(otherwise)
  if (another === undefined) {
    const [formula, state] = first
    const holds = sourceOf(formula, names)
    if (otherwise === 0 && state === 1) return `(${holds} | 0)`
    return `(${otherwise} + (${holds} | 0) * ${state - otherwise})`
  }
  return states.reduceRight(
    (rest, [formula, state]) => `(${sourceOf(formula, names)} ? ${state} : ${rest})`,
    String(otherwise),
  )
}

/**
 * Returns the numbers to check so that all are known to be finite. A sum, product or quotient of a number that is not
 * finite is not finite either, so its operands need no check.
 */
export function numbersToCheck(all: readonly RowFormula[]): readonly number[] {
  return [...all.keys()].filter((place) => !all.some((other) => isLostWith(other, place)))
}

function isLostWith(formula: RowFormula, place: number): boolean {
  if (typeof formula === 'boolean') return false
  if ('number' in formula) return formula.number === place
  if (!('op' in formula)) return false
  const { op, of } = formula
  if (op === '+' || op === '-' || op === '*') return of.some((one) => isLostWith(one, place))
  const [dividend] = of
  return (op === '/' || op === 'negative') && dividend !== undefined && isLostWith(dividend, place)
}

/**
 * Returns source that evaluates one sensor for `message`, after the sensors before it: its state index, or `otherwise`
 * when a number is not finite. `nums` contains the task's constants from `at` on; `numbers` what sensors calculated.
 */
export function evaluationSource(formula: SensorFormula, otherwise: number): string {
  const { first, numbers } = formula
  const names: FormulaNames = {
    parameter: (name) => `message[${JSON.stringify(name)}]`,
    constant: (place) => `nums[at + ${place}]`,
    number: (place) => `numbers[${place}]`,
  }
  return [
    ...numbers.map((number, n) => `numbers[${first + n}] = ${sourceOf(number, names)}`),
    ...numbers.map((_, n) => `if (!Number.isFinite(numbers[${first + n}])) return ${otherwise}`),
    `return ${stateSource(formula, names)}`,
  ].join('\n')
}

const infix = (operator: string) => (of: readonly string[]) => `(${of.join(` ${operator} `)})`
const call = (name: string) => (of: readonly string[]) => `Math.${name}(${of.join(', ')})`

const SOURCES: Readonly<Record<Operator, (of: readonly string[]) => string>> = {
  '+': infix('+'),
  '-': infix('-'),
  '*': infix('*'),
  '/': infix('/'),
  '%': infix('%'),
  '<': infix('<'),
  '<=': infix('<='),
  '>': infix('>'),
  '>=': infix('>='),
  '===': infix('==='),
  '!==': infix('!=='),
  // Neither side has effects or can fail, so no branch is needed.
  and: (of) => `((${of.map((one) => `(${one} | 0)`).join(' & ')}) === 1)`,
  or: (of) => `((${of.map((one) => `(${one} | 0)`).join(' | ')}) === 1)`,
  not: ([of = '']) => `!(${of})`,
  '?': ([test = '', yes = '', no = '']) => `(${test} ? ${yes} : ${no})`,
  negative: ([of = '']) => `(-${of})`,
  abs: call('abs'),
  ceil: call('ceil'),
  floor: call('floor'),
  round: call('round'),
  trunc: call('trunc'),
  sign: call('sign'),
  sqrt: call('sqrt'),
  min: call('min'),
  max: call('max'),
}
