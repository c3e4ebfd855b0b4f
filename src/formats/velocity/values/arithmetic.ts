/** Implements the operators `+ - * / %` and comparison of numbers, with Java's types. */
import { failed } from '../fault.ts'
import { JavaDecimal } from './decimal.ts'
import {
  doubleOf,
  doubleText,
  isBigInteger,
  isWhole,
  JavaDouble,
  JavaFloat,
  toDouble,
  toWhole,
  type JavaNumber,
} from './numbers.ts'
import type { Compat } from './value.ts'

export type Operator = '+' | '-' | '*' | '/' | '%'

export function calculate(operator: Operator, left: JavaNumber, right: JavaNumber, compat: Compat): JavaNumber | null {
  if (typeof left === 'number' && typeof right === 'number') {
    if (Number.isInteger(left) && Number.isInteger(right)) {
      const whole = ofIntegers(operator, left, right)
      if (whole === null || (whole !== undefined && Number.isSafeInteger(whole))) return whole
    } else if (operator !== '/' && operator !== '%') return toDouble(ofDoubles(operator, left, right))
  }
  if ((operator === '/' || operator === '%') && isZero(right)) return null
  if (isWhole(left) && isWhole(right)) return ofWholes(operator, left, right)
  if (isDecimal(left, right)) return ofDecimals(operator, decimalOf(left, compat), decimalOf(right, compat))
  const result = ofDoubles(operator, doubleOf(left), doubleOf(right))
  const isDouble = (value: JavaNumber): boolean =>
    value instanceof JavaDouble || (typeof value === 'number' && !isWhole(value))
  return isDouble(left) || isDouble(right) ? toDouble(result) : new JavaFloat(result)
}

/** Returns -1, 0 or 1; NaN equals any number. */
export function compareNumbers(left: JavaNumber, right: JavaNumber, compat: Compat): number {
  if (!(typeof left === 'number' && typeof right === 'number')) {
    if (isDecimal(left, right)) return decimalOf(left, compat).compare(decimalOf(right, compat))
    if (isWhole(left) && isWhole(right)) return left < right ? -1 : left > right ? 1 : 0
  }
  const [a, b] = [doubleOf(left), doubleOf(right)]
  return a < b ? -1 : a > b ? 1 : 0
}

export function negated(value: JavaNumber): JavaNumber {
  if (isWhole(value)) return value === 0 ? 0 : toWhole(-BigInt(value))
  if (value instanceof JavaDecimal) return value.negate()
  return value instanceof JavaFloat ? new JavaFloat(-value.value) : toDouble(-doubleOf(value))
}

export function isZero(value: JavaNumber): boolean {
  return value instanceof JavaDecimal ? value.unscaled === 0n : doubleOf(value) === 0
}

/** Returns undefined when JavaScript numbers may be inexact. */
function ofIntegers(operator: Operator, left: number, right: number): number | null | undefined {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      // avoids -0
      return left * right + 0
    case '/':
      return right === 0 ? null : (left - (left % right)) / right + 0
    case '%':
      return right === 0 ? null : (left % right) + 0
  }
}

function ofDoubles(operator: Operator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
  }
}

function ofWholes(operator: Operator, left: number | bigint, right: number | bigint): JavaNumber {
  const [a, b] = [BigInt(left), BigInt(right)]
  switch (operator) {
    case '+':
      return toWhole(a + b)
    case '-':
      return toWhole(a - b)
    case '*':
      return toWhole(a * b)
    case '/':
      return toWhole(a / b)
    case '%': {
      if (!isBigInteger(left) && !isBigInteger(right)) return toWhole(a % b)
      // as BigInteger.mod, which is never negative
      if (b < 0n) throw failed('BigInteger: modulus not positive')
      return toWhole(((a % b) + b) % b)
    }
  }
}

function isDecimal(left: JavaNumber, right: JavaNumber): boolean {
  if (left instanceof JavaDecimal || right instanceof JavaDecimal) return true
  return (!isWhole(left) && isBigInteger(right)) || (isBigInteger(left) && !isWhole(right))
}

function decimalOf(value: JavaNumber, compat: Compat): JavaDecimal {
  if (value instanceof JavaDecimal) return value
  if (isBigInteger(value)) return new JavaDecimal(value, 0)
  const decimal =
    compat === '1.7' ? JavaDecimal.exactly(doubleOf(value)) : JavaDecimal.parse(doubleText(doubleOf(value)))
  if (decimal === undefined) throw failed('Infinite or NaN')
  return decimal
}

function ofDecimals(operator: Operator, left: JavaDecimal, right: JavaDecimal): JavaDecimal {
  if (operator === '%') throw failed('the modulo of BigDecimals cannot be calculated')
  const results = { '+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide' } as const
  const result = left[results[operator]](right)
  if (result.isTooLong) throw failed('a decimal has too many digits')
  return result
}
