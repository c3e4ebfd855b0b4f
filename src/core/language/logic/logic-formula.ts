/**
 * The part of JSON Logic that only calculates with numbers, as data: for numbers, a formula has the same value as its
 * logic.
 */
import { isPlainObject } from '#kernel'
import { readOf } from '../expression/formula.ts'
import { asTruth, comparison, equalityTest, type Formula, type Operator } from '../../plug/calculation.ts'
import { topPath } from './variable.ts'

const SAME: readonly Operator[] = ['>', '>=', '<', '<=', '===', '!==']
const ORDER: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ...SAME.map((operator): [string, Operator] => [operator, operator]),
  ['==', '==='],
  ['!=', '!=='],
])
const MAX_PARTS = 100

export function formulaOfLogic(logic: unknown): Formula | undefined {
  let parts = 0
  const formulaOf = (given: unknown): Formula | undefined => {
    if (++parts > MAX_PARTS) return undefined
    if (typeof given === 'number' || typeof given === 'boolean') return given
    if (!isPlainObject(given)) return undefined
    const [entry, another] = Object.entries(given)
    if (entry === undefined || another !== undefined) return undefined
    const [name, values] = entry
    const args: readonly unknown[] = Array.isArray(values) ? values : [values]
    if (name === 'var') return variable(args)
    const equality = equalityOf(name, args)
    if (equality !== undefined) return equalityTest(equality.op, formulaOf(equality.value), equality.wanted)
    const of = args.map(formulaOf)
    return of.every((one) => one !== undefined) ? operation(name, of) : undefined
  }
  return formulaOf(logic)
}

function equalityOf(name: string, [left, right, third]: readonly unknown[]) {
  const op = ORDER.get(name)
  if ((op !== '===' && op !== '!==') || third !== undefined) return undefined
  if (isTruthOrText(right)) return { op, value: left, wanted: right } as const
  return isTruthOrText(left) ? ({ op, value: right, wanted: left } as const) : undefined
}

function isTruthOrText(value: unknown): value is boolean | string {
  return typeof value === 'boolean' || (typeof value === 'string' && !value.includes('${'))
}

function variable([name, another]: readonly unknown[]): Formula | undefined {
  if (typeof name !== 'string' || another !== undefined) return undefined
  const found = topPath(name)
  return 'path' in found ? readOf(found.path) : undefined
}

function operation(name: string, of: readonly Formula[]): Formula | undefined {
  const [first, second, third] = of
  if (first === undefined) return undefined
  if (name === '!') return second === undefined ? truths('not', of) : undefined
  if (second === undefined) return undefined
  if (name === 'and' || name === 'or') return of.reduce((left, right) => truths(name, [left, right]))
  if (third !== undefined) return undefined
  const order = ORDER.get(name)
  if (order !== undefined) return comparison(order, first, second)
  return name === '+' || name === '-' || name === '*' || name === '/' || name === '%' ? { op: name, of } : undefined
}

function truths(op: Operator, of: readonly Formula[]): Formula {
  return { op, of: of.map((one) => asTruth(one) ?? one) }
}
