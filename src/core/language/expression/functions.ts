/** Lists the functions and constants of expressions by name. */
import { isKnown, numberIn, parsePlainJson } from '#kernel'
import { itemsOf } from './list-methods.ts'
import { made, numberArg, textArg, type Call } from './method.ts'
import { callMethod } from './methods.ts'
import { missing, nextRandom, spend, unfit, unknown } from './run.ts'
import { jsonOf, keyOf, numberOf, textOf, truthOf } from './values.ts'
import { INSTANT, MAX_INSTANT } from './word-functions.ts'

type Named = (call: Call) => unknown

const MATH_CONSTANTS = ['E', 'LN10', 'LN2', 'LOG10E', 'LOG2E', 'PI', 'SQRT1_2', 'SQRT2'] as const
const MATH_OF_ONE = [
  'abs', 'acos', 'acosh', 'asin', 'asinh', 'atan', 'atanh', 'cbrt', 'ceil', 'clz32', 'cos', 'cosh', 'exp', 'expm1',
  'floor', 'fround', 'log', 'log10', 'log1p', 'log2', 'round', 'sign', 'sin', 'sinh', 'sqrt', 'tan', 'tanh', 'trunc',
] as const // prettier-ignore

export const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['undefined', undefined],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ...MATH_CONSTANTS.map((name): [string, unknown] => [`Math.${name}`, Math[name]]),
  ['Number.EPSILON', Number.EPSILON],
  ['Number.MAX_SAFE_INTEGER', Number.MAX_SAFE_INTEGER],
  ['Number.MIN_SAFE_INTEGER', Number.MIN_SAFE_INTEGER],
  ['Number.MAX_VALUE', Number.MAX_VALUE],
  ['Number.MIN_VALUE', Number.MIN_VALUE],
  ['Number.NaN', Number.NaN],
  ['Number.POSITIVE_INFINITY', Number.POSITIVE_INFINITY],
  ['Number.NEGATIVE_INFINITY', Number.NEGATIVE_INFINITY],
])

export const FUNCTIONS: ReadonlyMap<string, Named> = new Map<string, Named>([
  ...MATH_OF_ONE.map((name): [string, Named] => [`Math.${name}`, (call) => Math[name](number(call, 0))]),
  ['Math.atan2', (call) => Math.atan2(number(call, 0), number(call, 1))],
  ['Math.imul', (call) => Math.imul(number(call, 0), number(call, 1))],
  ['Math.random', ({ run, label }) => nextRandom(run, label)],
  ['Math.pow', (call) => number(call, 0) ** number(call, 1)],
  ['Math.hypot', (call) => Math.sqrt(all(call).reduce((sum, value) => sum + value * value, 0))],
  ['Math.max', (call) => bounds(call).reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)],
  ['Math.min', (call) => bounds(call).reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)],
  ['Number', (call) => (call.args.length === 0 ? 0 : converted(call))],
  ['Number.isFinite', (call) => Number.isFinite(call.args[0])],
  ['Number.isInteger', (call) => Number.isInteger(call.args[0])],
  ['Number.isNaN', (call) => Number.isNaN(call.args[0])],
  ['Number.isSafeInteger', (call) => Number.isSafeInteger(call.args[0])],
  ['Number.parseFloat', (call) => Number.parseFloat(textArg(call, 0))],
  ['Number.parseInt', (call) => Number.parseInt(textArg(call, 0), numberArg(call, 1, 10))],
  ['parseFloat', (call) => Number.parseFloat(textArg(call, 0))],
  ['parseInt', (call) => Number.parseInt(textArg(call, 0), numberArg(call, 1, 10))],
  ['isNaN', isNotNumber],
  ['isFinite', (call) => numberIn(plain(call, 0)) !== undefined],
  ['String', (call) => (call.args.length === 0 ? '' : textOf(call.run, call.args[0], labelOf(call, 0)))],
  ['Boolean', (call) => truthOf(plain(call, 0), labelOf(call, 0))],
  ['Array.isArray', (call) => Array.isArray(call.args[0])],
  ['Object.keys', (call) => made(call.run, Object.keys(record(call)))],
  ['Object.values', (call) => made(call.run, Object.values(record(call)) as readonly unknown[])],
  ['Object.entries', (call) => made(call.run, Object.entries(record(call)))],
  ['Object.fromEntries', fromEntries],
  ['JSON.parse', parseJson],
  ['JSON.stringify', stringify],
  ['Date.parse', (call) => instantOf(textArg(call, 0))],
  ['Date.now', ({ run }) => run.now],
])

/** First parts of the dotted names above, such as `Math`. */
export const LIBRARIES: ReadonlySet<string> = new Set(
  [...FUNCTIONS.keys(), ...CONSTANTS.keys()]
    .filter((name) => name.includes('.'))
    .map((name) => name.split('.')[0] ?? ''),
)

function instantOf(text: string): number {
  return INSTANT.test(text) ? Date.parse(text) : Number.NaN
}

export function instantArg(call: Call): number {
  const value = plain(call, 0)
  if (value === undefined) throw missing(labelOf(call, 0))
  const instant = typeof value === 'string' ? instantOf(value) : value
  if (typeof instant === 'number' && Math.abs(instant) <= MAX_INSTANT) return instant
  throw unfit(labelOf(call, 0), 'is not an instant; write epoch milliseconds, or a text such as 2026-01-31T08:00:00Z')
}

export function readNumber(call: Call): number {
  return number(call, 0)
}

export function containsPart(call: Call): unknown {
  const [whole, part] = [plain(call, 0), plain(call, 1)]
  if (!isKnown(part)) throw unknown(labelOf(call, 1), part)
  return callMethod(whole, 'includes', { ...call, args: [part] }, labelOf(call, 0))
}

function labelOf(call: Call, index: number): string {
  return `argument ${index + 1} of ${call.label}`
}

function plain(call: Call, index: number): unknown {
  const value = call.args[index]
  if (typeof value === 'function') throw unfit(call.label, 'does not accept an arrow function there')
  return value
}

function number(call: Call, index: number): number {
  return numberOf(plain(call, index), labelOf(call, index))
}

/** Returns an argument of minimum or maximum as a number; a literal limit may be infinite. */
function bound(value: unknown, label: string): number {
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY ? value : numberOf(value, label)
}

function converted(call: Call): number {
  const value = plain(call, 0)
  if (typeof value === 'boolean' || (typeof value === 'string' && value.trim() !== '')) return Number(value)
  return number(call, 0)
}

/** Implements `isNaN`: whether a value is not a number. Throws for a missing value. */
function isNotNumber(call: Call): boolean {
  const value = plain(call, 0)
  if (value === undefined) throw missing(labelOf(call, 0))
  return typeof value === 'number' ? Number.isNaN(value) : numberIn(value) === undefined
}

function all(call: Call): readonly number[] {
  return call.args.map((_, index) => number(call, index))
}

function bounds(call: Call): readonly number[] {
  return call.args.map((_, index) => bound(plain(call, index), labelOf(call, index)))
}

function record(call: Call): object {
  const value = plain(call, 0)
  if (value === undefined) throw missing(labelOf(call, 0))
  if (typeof value !== 'object' || value === null) throw unfit(labelOf(call, 0), 'is not an object')
  spend(call.run, Object.keys(value).length)
  return value
}

function fromEntries(call: Call): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const entry of itemsOf(call.run, plain(call, 0), labelOf(call, 0))) {
    if (!Array.isArray(entry)) throw unfit(labelOf(call, 0), 'is not a list of [key, value]')
    result[keyOf(entry[0], labelOf(call, 0))] = entry[1]
  }
  return result
}

function parseJson(call: Call): unknown {
  const text = textArg(call, 0)
  spend(call.run, text.length)
  try {
    return parsePlainJson(text)
  } catch (error) {
    throw unfit(labelOf(call, 0), `is not valid JSON: ${error instanceof Error ? error.message : ''}`)
  }
}

function stringify(call: Call): string {
  if (call.args[0] === undefined) throw missing(labelOf(call, 0))
  const value = plain(call, 0)
  const second = plain(call, 1)
  if (second !== undefined && second !== null) throw unfit(call.label, 'takes null as its second argument')
  return jsonOf(call.run, value, Math.min(10, numberArg(call, 2, 0)))
}
