/** The operations that conditions are made of, as functions: several times faster than a walk through the logic. */
import jsonLogic from 'json-logic-js'
import type { LogicNode } from './run.ts'

/** Over numbers, and over anything that JavaScript compares with its own rules. */
const COMPARISONS: ReadonlyMap<string, (a: number, b: number) => boolean> = new Map([
  ['>', (a, b) => a > b],
  ['>=', (a, b) => a >= b],
  ['<', (a, b) => a < b],
  ['<=', (a, b) => a <= b],
  // oxlint-disable-next-line eqeqeq -- loose equality is what the operator == of JSON Logic means
  ['==', (a, b) => a == b],
  // oxlint-disable-next-line eqeqeq -- the opposite of it
  ['!=', (a, b) => a != b],
  ['===', (a, b) => a === b],
  ['!==', (a, b) => a !== b],
])

/** Over numbers. The library adds and multiplies what it reads from text, and text knows no -0. */
const ARITHMETIC: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ['+', (a, b) => a + b + 0],
  ['-', (a, b) => a - b],
  ['*', (a, b) => (a + 0) * (b + 0)],
  ['/', (a, b) => a / b],
  ['%', (a, b) => a % b],
])

/** Truth as JSON Logic has it: an empty list is false, the text "0" is true. */
export function isTruthy(value: unknown): boolean {
  return typeof value === 'boolean' ? value : jsonLogic.truthy(value)
}

/** An operation as a function of its operands, which leaves lists and records to `library`; undefined for most operations. */
export function compiled(name: string, args: readonly LogicNode[], library: LogicNode): LogicNode | undefined {
  if (name === 'and') return firstThat(args, (value) => !isTruthy(value))
  if (name === 'or') return firstThat(args, isTruthy)
  const [left, right, third] = args
  if (!left || third) return undefined
  if (name === '!') return (run) => !isTruthy(left(run))
  if (name === '!!') return (run) => isTruthy(left(run))
  const compare = COMPARISONS.get(name)
  const calculate = ARITHMETIC.get(name) ?? compare
  if (!right || !calculate) return undefined
  return (run) => {
    const a = left(run)
    const b = right(run)
    if (typeof a === 'number' && typeof b === 'number') return calculate(a, b)
    // the casts only quiet the compiler: texts must be compared as texts
    return compare && isPrimitive(a) && isPrimitive(b) ? compare(a as number, b as number) : library(run)
  }
}

function firstThat(args: readonly LogicNode[], decides: (value: unknown) => boolean): LogicNode {
  const [first, second, third] = args
  if (first && second && !third) {
    return (run) => {
      const value = first(run)
      return decides(value) ? value : second(run)
    }
  }
  return (run) => {
    let value: unknown
    for (const arg of args) {
      value = arg(run)
      if (decides(value)) break
    }
    return value
  }
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
