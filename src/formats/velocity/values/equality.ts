/** The operators `==` and `!=`, and what `< > <= >=` ask of two values. */
import { compareNumbers } from './arithmetic.ts'
import { JavaDecimal } from './decimal.ts'
import { isNumber, type JavaNumber } from './numbers.ts'
import { textOf } from './text.ts'
import { areEqual } from './identity.ts'
import type { Environment, Value } from './value.ts'

export function areSame(left: Value, right: Value, environment: Environment): boolean {
  if (left === null || right === null) return left === right
  const order = orderOf(left, right, environment)
  if (order !== undefined) return order === 0
  if (classOf(left) === classOf(right)) return areEqual(left, right, environment)
  return textOf(left, environment) === textOf(right, environment)
}

/** Undefined when they cannot be compared as numbers. */
export function orderOf(left: Value, right: Value, environment: Environment): number | undefined {
  // nearly every comparison is one of numbers
  if (typeof left === 'number' && typeof right === 'number') return left < right ? -1 : left > right ? 1 : 0
  if (typeof left === 'string' && typeof right === 'string') return undefined
  const a = asNumber(left, environment)
  const b = asNumber(right, environment)
  return a === undefined || b === undefined ? undefined : compareNumbers(a, b, environment.compat)
}

/** 2.4 takes a text for the number that it spells. */
export function asNumber(value: Value, environment: Environment): JavaNumber | undefined {
  if (typeof value === 'number') return value
  if (value === null || typeof value === 'boolean') return undefined
  if (isNumber(value)) return value
  if (environment.compat === '1.7') return undefined
  const text = textOf(value, environment)
  return text === null ? undefined : JavaDecimal.parse(text)
}

/** Equality of one class, or by text. */
function classOf(value: Value): string {
  return typeof value === 'object' && value !== null ? value.kind : typeof value
}
