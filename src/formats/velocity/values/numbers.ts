/** Represents Java numbers beyond JavaScript numbers, and prints numbers. */
import { failed } from '../fault.ts'
import { JavaDecimal } from './decimal.ts'
import { doubleHash } from './identity.ts'
import { JavaObject, type Value } from './value.ts'

export const MIN_INT = -2_147_483_648
export const MAX_INT = 2_147_483_647
export const MIN_LONG = -(2n ** 63n)
export const MAX_LONG = 2n ** 63n - 1n
const MAX_BITS = 32_768

export class JavaDouble extends JavaObject {
  readonly kind = 'double'
  readonly value: number

  constructor(value: number) {
    super()
    this.value = value
  }

  textIn(): string {
    return doubleText(this.value)
  }

  override equalsIn(other: JavaObject): boolean {
    return other instanceof JavaDouble && Object.is(other.value, this.value)
  }

  override hashIn(): number {
    return doubleHash(this.value)
  }
}

export class JavaFloat extends JavaObject {
  readonly kind = 'float'
  readonly value: number

  constructor(value: number) {
    super()
    this.value = Math.fround(value)
  }

  textIn(): string {
    return floatText(this.value)
  }

  override equalsIn(other: JavaObject): boolean {
    return other instanceof JavaFloat && Object.is(other.value, this.value)
  }

  override hashIn(): number {
    const view = new DataView(new ArrayBuffer(4))
    view.setFloat32(0, this.value)
    return view.getInt32(0)
  }
}

export type JavaNumber = number | bigint | JavaDouble | JavaFloat | JavaDecimal

export function isNumber(value: Value): value is JavaNumber {
  if (typeof value === 'number' || typeof value === 'bigint') return true
  return value instanceof JavaDouble || value instanceof JavaFloat || value instanceof JavaDecimal
}

export function toDouble(value: number): number | JavaDouble {
  return Number.isInteger(value) ? new JavaDouble(value) : value
}

export function toWhole(value: bigint): number | bigint {
  if (value >= -9_007_199_254_740_991n && value <= 9_007_199_254_740_991n) return Number(value)
  if (value > MAX_LONG || value < MIN_LONG) checkBits(value)
  return value
}

/** Converts a JSON number; without a fraction it is an integer. */
export function fromJsonNumber(value: number): Value {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? toWhole(BigInt(value)) : toDouble(value)
}

export function isWhole(value: JavaNumber): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
}

export function isInt(value: Value): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= MIN_INT && value <= MAX_INT
}

export function isBigInteger(value: JavaNumber): value is bigint {
  return typeof value === 'bigint' && (value > MAX_LONG || value < MIN_LONG)
}

export function doubleOf(value: JavaNumber): number {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  return value instanceof JavaDecimal ? value.toNumber() : value.value
}

export function longOf(value: JavaNumber): bigint {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value)
  if (value instanceof JavaDecimal) return BigInt.asIntN(64, value.truncated())
  const number = doubleOf(value)
  if (Number.isNaN(number)) return 0n
  if (number >= 2 ** 63) return MAX_LONG
  return number <= -(2 ** 63) ? MIN_LONG : BigInt(Math.trunc(number))
}

/** Same as `intValue()`: integers lose bits, others saturate. */
export function intOf(value: JavaNumber): number {
  if (isWhole(value)) return Number(BigInt.asIntN(32, BigInt(value)))
  if (value instanceof JavaDecimal) return Number(BigInt.asIntN(32, value.truncated()))
  const number = doubleOf(value)
  return Number.isNaN(number) ? 0 : Math.trunc(Math.min(MAX_INT, Math.max(MIN_INT, number))) + 0
}

export function numberText(value: number): string {
  return Number.isInteger(value) ? String(value) : doubleText(value)
}

export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const size = Math.abs(value)
  if (size < 1e-3 || size >= 1e7) return scientific(value.toExponential())
  return Number.isInteger(value) ? `${value}.0` : String(value)
}

/** Same as `Float.toString`: the shortest unique digits. */
export function floatText(value: number): string {
  if (!Number.isFinite(value) || value === 0) return doubleText(value)
  for (let digits = 1; digits <= 9; digits++) {
    const shown = Number(value.toPrecision(digits))
    if (Math.fround(shown) === value) return doubleText(shown)
  }
  return doubleText(value)
}

function scientific(text: string): string {
  const [digits = '', exponent = ''] = text.split('e')
  return `${digits.includes('.') ? digits : `${digits}.0`}E${exponent.replace('+', '')}`
}

function checkBits(value: bigint): void {
  const most = 1n << BigInt(MAX_BITS)
  if (value > most || value < -most) throw failed(`a whole number has more than ${MAX_BITS} bits`)
}
