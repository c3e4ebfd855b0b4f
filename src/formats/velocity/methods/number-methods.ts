/** Implements methods of Integer, Long, Double, Float and Boolean, including static ones reachable from a value. */
import { failed } from '../fault.ts'
import { compareNumbers } from '../values/arithmetic.ts'
import { areEqual } from '../values/identity.ts'
import { JavaDecimal } from '../values/decimal.ts'
import {
  doubleOf,
  doubleText,
  intOf,
  isBigInteger,
  isInt,
  isNumber,
  isWhole,
  JavaFloat,
  longOf,
  toDouble,
  toWhole,
  type JavaNumber,
} from '../values/numbers.ts'
import { textOf } from '../values/text.ts'
import type { Environment, Value } from '../values/value.ts'
import {
  doubleArgument,
  intArgument,
  parseDouble,
  parseWhole,
  textArgument,
  type Method,
  type Methods,
} from './arguments.ts'

type NumberMethod = Method<JavaNumber>
type Class = 'Integer' | 'Long' | 'BigInteger' | 'Double' | 'Float' | 'BigDecimal'

export function classOfNumber(value: JavaNumber): Class {
  if (isWhole(value)) return isInt(value) ? 'Integer' : isBigInteger(value) ? 'BigInteger' : 'Long'
  if (value instanceof JavaDecimal) return 'BigDecimal'
  return value instanceof JavaFloat ? 'Float' : 'Double'
}

const bare =
  (compute: (self: JavaNumber) => Value): NumberMethod =>
  (self, args) =>
    args.length === 0 ? compute(self) : undefined

const COMMON: Methods<JavaNumber> = new Map<string, NumberMethod>([
  ['intValue', bare(intOf)],
  ['longValue', bare((self) => toWhole(longOf(self)))],
  ['doubleValue', bare((self) => toDouble(doubleOf(self)))],
  ['floatValue', bare((self) => new JavaFloat(doubleOf(self)))],
  ['shortValue', bare((self) => Number(BigInt.asIntN(16, BigInt(intOf(self)))))],
  ['byteValue', bare((self) => Number(BigInt.asIntN(8, BigInt(intOf(self)))))],
  [
    'equals',
    (self, args, environment) => (args.length === 1 ? areEqual(self, args[0] ?? null, environment) : undefined),
  ],
  [
    'compareTo',
    (self, [other], environment) => {
      if (other === undefined || other === null || !isNumber(other)) return undefined
      if (classOfNumber(other) !== classOfNumber(self)) throw failed('ClassCastException')
      return compareNumbers(self, other, environment.compat)
    },
  ],
])

const withTwo =
  (compute: (a: number, b: number) => Value, take: typeof intArgument): NumberMethod =>
  (_self, args, environment) => {
    const [a, b] = args.map((arg) => take(arg, environment))
    return args.length !== 2 || a === undefined || b === undefined ? undefined : compute(a, b)
  }

const withInt =
  (compute: (value: number) => Value): NumberMethod =>
  (_self, args, environment) => {
    const value = args.length === 1 ? intArgument(args[0], environment) : undefined
    return value === undefined ? undefined : compute(value)
  }

const withText =
  (compute: (text: string) => Value): NumberMethod =>
  (_self, args, environment) => {
    const text = args.length === 1 ? textArgument(args[0], environment) : undefined
    return text === undefined ? undefined : compute(text)
  }

const parsing =
  (bits: 32 | 64): NumberMethod =>
  (_self, args, environment) => {
    const text = textArgument(args[0], environment)
    const radix = args.length === 2 ? intArgument(args[1], environment) : 10
    return text === undefined || radix === undefined || args.length > 2 ? undefined : parseWhole(text, radix, bits)
  }

const valueOf =
  (bits: 32 | 64): NumberMethod =>
  (self, args, environment) => {
    const [first] = args
    if (args.length === 1 && first !== undefined && isInt(first)) return first
    return parsing(bits)(self, args, environment)
  }

const decode: NumberMethod = withText((text) => {
  const [, sign = '', prefix = '', digits = ''] = /^([+-]?)(0[xX]|#|0(?=.))?(.*)$/s.exec(text) ?? []
  const radix = prefix === '' ? 10 : prefix === '0' ? 8 : 16
  return parseWhole(sign + digits, radix, 32)
})

const shownIn = (radix: number): NumberMethod => withInt((value) => (value >>> 0).toString(radix))

const INTEGER: Methods<JavaNumber> = new Map<string, NumberMethod>([
  ['parseInt', parsing(32)],
  [
    'parseUnsignedInt',
    (_self, args, environment) => {
      const value = parsing(64)(0, args, environment)
      return typeof value === 'number' ? value | 0 : undefined
    },
  ],
  ['valueOf', valueOf(32)],
  ['decode', decode],
  ['toHexString', shownIn(16)],
  ['toBinaryString', shownIn(2)],
  ['toOctalString', shownIn(8)],
  ['toUnsignedString', shownIn(10)],
  ['toUnsignedLong', withInt((value) => value >>> 0)],
  ['max', withTwo(Math.max, intArgument)],
  ['min', withTwo(Math.min, intArgument)],
  ['sum', withTwo((a, b) => (a + b) | 0, intArgument)],
  ['compare', withTwo((a, b) => Math.sign(a - b), intArgument)],
  ['bitCount', withInt((value) => (value >>> 0).toString(2).replaceAll('0', '').length)],
  [
    'reverse',
    withInt(
      (value) => Number.parseInt((value >>> 0).toString(2).padStart(32, '0').split('').reverse().join(''), 2) | 0,
    ),
  ],
  [
    'reverseBytes',
    withInt((value) => (value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24) | 0),
  ],
  ['signum', withInt((value) => Math.sign(value))],
  ['numberOfLeadingZeros', withInt((value) => Math.clz32(value))],
  ['numberOfTrailingZeros', withInt((value) => (value === 0 ? 32 : 31 - Math.clz32(value & -value)))],
  ['highestOneBit', withInt((value) => (value === 0 ? 0 : (1 << (31 - Math.clz32(value))) | 0))],
  ['lowestOneBit', withInt((value) => value & -value)],
  ['rotateLeft', withTwo((a, b) => (a << (b & 31)) | (a >>> (-b & 31)), intArgument)],
  ['rotateRight', withTwo((a, b) => (a >>> (b & 31)) | (a << (-b & 31)), intArgument)],
  [
    'toString',
    (_self, args, environment) => {
      const [value, radix] = args.map((arg) => intArgument(arg, environment))
      if (value === undefined || args.length > 2 || (args.length === 2 && radix === undefined)) return undefined
      return value.toString(radix !== undefined && radix >= 2 && radix <= 36 ? radix : 10)
    },
  ],
])

const LONG: Methods<JavaNumber> = new Map<string, NumberMethod>([
  ['parseLong', parsing(64)],
  ['valueOf', valueOf(64)],
  ['max', withTwo(Math.max, doubleArgument)],
  ['min', withTwo(Math.min, doubleArgument)],
  [
    'toHexString',
    (_self, [value]) =>
      value !== undefined && isNumber(value) && isWhole(value)
        ? BigInt.asUintN(64, BigInt(value)).toString(16)
        : undefined,
  ],
])

const viewOf = (): DataView => new DataView(new ArrayBuffer(8))

const DOUBLE: Methods<JavaNumber> = new Map<string, NumberMethod>([
  ['isNaN', bare((self) => Number.isNaN(doubleOf(self)))],
  ['isInfinite', bare((self) => Math.abs(doubleOf(self)) === Infinity)],
  ['parseDouble', withText((text) => toDouble(parseDouble(text)))],
  [
    'valueOf',
    (_self, args, environment) => {
      const [value] = args
      if (args.length !== 1 || value === null || value === undefined) return undefined
      const double = typeof value === 'string' ? parseDouble(value) : doubleArgument(value, environment)
      return double === undefined ? undefined : toDouble(double)
    },
  ],
  [
    'toString',
    (_self, args, environment) => {
      const value = args.length === 1 ? doubleArgument(args[0], environment) : undefined
      return value === undefined ? undefined : doubleText(value)
    },
  ],
  ['max', withTwo((a, b) => toDouble(Math.max(a, b)), doubleArgument)],
  ['min', withTwo((a, b) => toDouble(Math.min(a, b)), doubleArgument)],
  ['sum', withTwo((a, b) => toDouble(a + b), doubleArgument)],
  ['compare', withTwo((a, b) => (a < b ? -1 : a > b ? 1 : 0), doubleArgument)],
  [
    'longBitsToDouble',
    (_self, [bits]) => {
      if (bits === undefined || !isNumber(bits) || !isWhole(bits)) return undefined
      const view = viewOf()
      view.setBigInt64(0, BigInt(bits))
      return toDouble(view.getFloat64(0))
    },
  ],
])

const FLOAT: Methods<JavaNumber> = new Map<string, NumberMethod>([
  ['isNaN', bare((self) => Number.isNaN(doubleOf(self)))],
  ['isInfinite', bare((self) => Math.abs(doubleOf(self)) === Infinity)],
  ['parseFloat', withText((text) => new JavaFloat(parseDouble(text)))],
  [
    'intBitsToFloat',
    withInt((bits) => {
      const view = viewOf()
      view.setInt32(0, bits)
      return new JavaFloat(view.getFloat32(0))
    }),
  ],
])

const BY_CLASS: Readonly<Record<Class, Methods<JavaNumber>>> = {
  Integer: INTEGER,
  Long: LONG,
  BigInteger: new Map(),
  Double: DOUBLE,
  Float: FLOAT,
  BigDecimal: new Map(),
}

export function callNumber(
  self: JavaNumber,
  name: string,
  args: readonly Value[],
  environment: Environment,
): Value | undefined {
  return (
    COMMON.get(name)?.(self, args, environment) ?? BY_CLASS[classOfNumber(self)].get(name)?.(self, args, environment)
  )
}

export const BOOLEAN_METHODS: Methods<boolean> = new Map<string, Method<boolean>>([
  ['booleanValue', (self, args) => (args.length === 0 ? self : undefined)],
  ['compareTo', (self, [other]) => (typeof other === 'boolean' ? Number(self) - Number(other) : undefined)],
  ['parseBoolean', (_self, [text]) => (typeof text === 'string' ? text.toLowerCase() === 'true' : undefined)],
  [
    'valueOf',
    (_self, [value]) =>
      typeof value === 'string' ? value.toLowerCase() === 'true' : typeof value === 'boolean' ? value : undefined,
  ],
  ['logicalAnd', (_self, [a, b]) => (typeof a === 'boolean' && typeof b === 'boolean' ? a && b : undefined)],
  ['logicalOr', (_self, [a, b]) => (typeof a === 'boolean' && typeof b === 'boolean' ? a || b : undefined)],
  ['logicalXor', (_self, [a, b]) => (typeof a === 'boolean' && typeof b === 'boolean' ? a !== b : undefined)],
  ['toString', (_self, [value], environment) => (typeof value === 'boolean' ? textOf(value, environment) : undefined)],
])
