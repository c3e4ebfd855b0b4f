/** Evaluates formulas: as source text for generated rows, or directly where code generation is not allowed. */
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

/** The values that formulas read. */
export interface FormulaValues {
  /** a number if the formula calculates with it, otherwise any value */
  parameter(name: string): unknown
  constant(place: number): number
  readonly numbers: number[]
}

/** Calculates the numbers of one sensor, after the sensors before it. Returns false when one is not finite. */
export function workOutNumbers({ first, numbers }: SensorFormula, values: FormulaValues): boolean {
  for (const [n, number] of numbers.entries()) {
    const value = valueOf(number, values) as number
    if (!Number.isFinite(value)) return false
    values.numbers[first + n] = value
  }
  return true
}

/** Returns the state index of a sensor whose numbers have been calculated. */
export function formulaState({ states, otherwise }: SensorFormula, values: FormulaValues): number {
  for (const [formula, state] of states) if (valueOf(formula, values) === true) return state
  return otherwise
}

function valueOf(formula: RowFormula, values: FormulaValues): number | boolean {
  if (typeof formula === 'boolean') return formula
  if ('is' in formula) return values.parameter(formula.parameter) === formula.is
  if ('parameter' in formula) return values.parameter(formula.parameter) as number
  if ('constant' in formula) return values.constant(formula.constant)
  if ('number' in formula) return values.numbers[formula.number] ?? 0
  const { op, of } = formula
  // The operand types were checked when the formula was compiled.
  const [a, b, c] = of.map((one) => valueOf(one, values)) as [number, number, number]
  return VALUES[op](a, b, c)
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

type Worked = (a: number, b: number, c: number) => number | boolean

const VALUES: Readonly<Record<Operator, Worked>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '===': (a, b) => a === b,
  '!==': (a, b) => a !== b,
  and: (a, b) => a && b,
  or: (a, b) => a || b,
  not: (a) => !a,
  '?': (a, b, c) => (a ? b : c),
  negative: (a) => -a,
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  round: Math.round,
  trunc: Math.trunc,
  sign: Math.sign,
  sqrt: Math.sqrt,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
}
