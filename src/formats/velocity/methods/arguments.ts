/** Converts arguments for Java methods; 2.4 also converts between texts, numbers and booleans. */
import { failed } from '../fault.ts'
import { JavaCharacter } from '../values/character.ts'
import { doubleOf, intOf, isInt, isNumber } from '../values/numbers.ts'
import { shownText } from '../values/text.ts'
import type { Environment, Value } from '../values/value.ts'

/** Returns undefined when no method of that name accepts these arguments. */
export type Method<Self> = (self: Self, args: readonly Value[], environment: Environment) => Value | undefined
export type Methods<Self> = ReadonlyMap<string, Method<Self>>

export const VOID = ''

export function intArgument(value: Value | undefined, { compat }: Environment): number | undefined {
  if (value === undefined || value === null) return undefined
  if (isInt(value)) return value
  if (compat === '1.7') return undefined
  if (isNumber(value)) {
    const double = doubleOf(value)
    if (double < -2_147_483_648 || double > 2_147_483_647) throw failed('value out of range')
    return intOf(value)
  }
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'string' ? parseWhole(value, 10, 32) : undefined
}

export function doubleArgument(value: Value | undefined, { compat }: Environment): number | undefined {
  if (value === undefined || value === null) return undefined
  if (isNumber(value) && !(typeof value === 'bigint')) return doubleOf(value)
  return compat === '2.4' && typeof value === 'string' ? parseDouble(value) : undefined
}

/** Accepts null as a text, although methods then fail. */
export function textArgument(value: Value | undefined, environment: Environment): string | undefined {
  if (typeof value === 'string') return value
  if (value === null) throw failed('NullPointerException')
  if (value === undefined || environment.compat === '1.7') return undefined
  return shownText(value, environment)
}

export function sequenceArgument(value: Value | undefined): string | undefined {
  if (value === null) throw failed('NullPointerException')
  return typeof value === 'string' ? value : undefined
}

export function characterArgument(value: Value | undefined): string | undefined {
  return value instanceof JavaCharacter ? value.text : undefined
}

export function parseWhole(text: string, radix: number, bits: 32 | 64): number {
  const digits = text.replace(/^[+-]/, '')
  const whole = digits.split('').every((char) => Number.parseInt(char, radix) >= 0)
    ? parsedBig(digits, radix)
    : undefined
  const signed = whole !== undefined && text.startsWith('-') ? -whole : whole
  if (signed === undefined || BigInt.asIntN(bits, signed) !== signed)
    throw failed(`For input string: "${text.slice(0, 100)}"`)
  return Number(signed)
}

function parsedBig(digits: string, radix: number): bigint | undefined {
  if (digits === '' || digits.length > 64 || radix < 2 || radix > 36) return undefined
  let value = 0n
  for (const char of digits) value = value * BigInt(radix) + BigInt(Number.parseInt(char, radix))
  return value
}

const DOUBLE = /^[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?)[fFdD]?$/

export function parseDouble(text: string): number {
  const trimmed = text.trim()
  if (!DOUBLE.test(trimmed)) throw failed(`For input string: "${text.slice(0, 100)}"`)
  return Number(trimmed.replace(/(?<=[\d.])[fFdD]$/, ''))
}
