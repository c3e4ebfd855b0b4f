/** Implements the part of Java's BigDecimal that template arithmetic creates. */
import { JavaObject } from './value.ts'

const TEXT = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/
/** maximum digits before or after the point */
const MAX_SCALE = 2_000

export class JavaDecimal extends JavaObject {
  readonly kind = 'decimal'
  /** the value is `unscaled / 10^scale` */
  readonly unscaled: bigint
  readonly scale: number

  constructor(unscaled: bigint, scale: number) {
    super()
    this.unscaled = unscaled
    this.scale = scale
  }

  static parse(text: string): JavaDecimal | undefined {
    const [, sign = '', whole = '', fraction = '', exponent = '0'] = TEXT.exec(text) ?? []
    const digits = whole + fraction
    const scale = fraction.length - Number(exponent)
    if (digits === '' || digits.length > MAX_SCALE || Math.abs(scale) > MAX_SCALE) return undefined
    const size = BigInt(digits)
    return new JavaDecimal(sign === '-' ? -size : size, scale)
  }

  static exactly(value: number): JavaDecimal | undefined {
    if (!Number.isFinite(value)) return undefined
    let scaled = value
    let power = 0
    while (!Number.isInteger(scaled)) {
      scaled *= 2
      power++
    }
    return new JavaDecimal(BigInt(scaled) * 5n ** BigInt(power), power)
  }

  add(other: JavaDecimal): JavaDecimal {
    const scale = Math.max(this.scale, other.scale)
    return new JavaDecimal(this.#at(scale) + other.#at(scale), scale)
  }

  subtract(other: JavaDecimal): JavaDecimal {
    return this.add(other.negate())
  }

  multiply(other: JavaDecimal): JavaDecimal {
    return new JavaDecimal(this.unscaled * other.unscaled, this.scale + other.scale)
  }

  negate(): JavaDecimal {
    return new JavaDecimal(-this.unscaled, this.scale)
  }

  divide(other: JavaDecimal): JavaDecimal {
    let over = this.unscaled
    let under = other.unscaled
    if (other.scale >= 0) over *= 10n ** BigInt(other.scale)
    else under *= 10n ** BigInt(-other.scale)
    const quotient = over / under
    const rest = over % under
    const isUp = 2n * (rest < 0n ? -rest : rest) > (under < 0n ? -under : under)
    const isNegative = over < 0n !== under < 0n
    return new JavaDecimal(isUp ? quotient + (isNegative ? -1n : 1n) : quotient, this.scale)
  }

  compare(other: JavaDecimal): -1 | 0 | 1 {
    const scale = Math.max(this.scale, other.scale)
    const [left, right] = [this.#at(scale), other.#at(scale)]
    return left < right ? -1 : left > right ? 1 : 0
  }

  toNumber(): number {
    return Number(`${this.unscaled}e${-this.scale}`)
  }

  truncated(): bigint {
    return this.scale <= 0 ? this.#at(0) : this.unscaled / 10n ** BigInt(this.scale)
  }

  get isTooLong(): boolean {
    return Math.abs(this.scale) > MAX_SCALE || this.unscaled.toString(16).length > 2 * MAX_SCALE
  }

  textIn(): string {
    const digits = (this.unscaled < 0n ? -this.unscaled : this.unscaled).toString()
    const sign = this.unscaled < 0n ? '-' : ''
    const exponent = digits.length - 1 - this.scale
    if (this.scale >= 0 && exponent >= -6) {
      if (this.scale === 0) return sign + digits
      const padded = digits.padStart(this.scale + 1, '0')
      return `${sign}${padded.slice(0, -this.scale)}.${padded.slice(-this.scale)}`
    }
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
    return `${sign}${digits.charAt(0)}${fraction}E${exponent >= 0 ? '+' : ''}${exponent}`
  }

  override equalsIn(other: JavaObject): boolean {
    return other instanceof JavaDecimal && other.scale === this.scale && other.unscaled === this.unscaled
  }

  #at(scale: number): bigint {
    return this.unscaled * 10n ** BigInt(scale - this.scale)
  }
}
