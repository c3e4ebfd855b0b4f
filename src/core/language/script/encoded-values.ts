/** Passes values of a rule into the sandbox: as JSON next to the code, never as part of the code. */
import { DECIMAL, MAX_DECIMAL, MAX_DIGITS } from '#kernel'
import type { LogicPath } from '../logic/run.ts'

/** An encoded value: JSON has neither undefined nor NaN, so these are encoded as an empty list and a text. */
export type EncodedValue = readonly [] | readonly [value: unknown] | readonly [nothing: null, number: string]

export function valuesOf(uses: readonly LogicPath[], lookup: (path: LogicPath) => unknown): readonly EncodedValue[] {
  return uses.map((path) => {
    const value = lookup(path)
    if (value === undefined) return []
    return typeof value === 'number' && !Number.isFinite(value) ? [null, String(value)] : [value]
  })
}

/**
 * As in kernel/values.ts but without rounding of sums. Needs `lack` and `use`; the script's own values follow
 * JavaScript.
 */
export function unknownRulesCode(suffix: string): string {
  const [known, count, law] = ['known', 'count', 'law'].map((name) => name + suffix)
  return `const { ${known}, ${count}, ${law} } = (() => {
    const Wrong = TypeError, toNumber = Number, pattern = ${String(DECIMAL)}, leading = /^-?[0.]*/
    const isKnown = (value) => typeof value === 'number' ? value - value === 0 : value !== undefined && value !== null
    const known = (value, name) => isKnown(value) ? value : lack${suffix}(name, value)
    const ofText = (text) => {
      if (text.length > ${MAX_DECIMAL} || !pattern.test(text)) return undefined
      return text.replace(leading, '').replace('.', '').length <= ${MAX_DIGITS} ? toNumber(text) : undefined
    }
    const numberIn = (value) => typeof value === 'string' ? ofText(value) : typeof value === 'number' ? value : undefined
    const count = (value, name) => {
      const number = numberIn(known(value, name))
      if (number === undefined) throw new Wrong('"' + name + '" must be a number, but is ' + (typeof value === 'string' ? 'the text ' + JSON.stringify(value.slice(0, 40)) : 'a ' + typeof value))
      return number
    }
    const same = (a, b) => {
      if (typeof a === typeof b) return a === b
      if (typeof a === 'number' && typeof b === 'string') return ofText(b) === a
      if (typeof a === 'string' && typeof b === 'number') return ofText(a) === b
      return (a ?? null) === null && (b ?? null) === null
    }
    const order = (operator, a, b) => operator === '<' ? a < b : operator === '<=' ? a <= b : operator === '>' ? a > b : a >= b
    const calculate = { __proto__: null,
      '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '%': (a, b) => a % b,
      '**': (a, b) => a ** b, '&': (a, b) => a & b, '|': (a, b) => a | b, '^': (a, b) => a ^ b,
      '<<': (a, b) => a << b, '>>': (a, b) => a >> b, '>>>': (a, b) => a >>> b }
    const law = (operator, left, right, a, b) => {
      use${suffix}(a)
      use${suffix}(b)
      if (operator === '===') return a === b
      if (operator === '!==') return a !== b
      if (operator === '==') return same(a, b)
      if (operator === '!=') return !same(a, b)
      const areTexts = typeof a === 'string' && typeof b === 'string'
      if (operator[0] === '<' && operator !== '<<' || operator[0] === '>' && operator[1] !== '>') {
        if (areTexts && ofText(a) !== undefined && ofText(b) !== undefined) {
          throw new Wrong('"' + (left || right) + '" is compared as a text with another text of a number; write number(a) < number(b)')
        }
        if (areTexts) return order(operator, a, b)
        return order(operator, left === '' ? a : count(a, left), right === '' ? b : count(b, right))
      }
      // texts are joined, also with a text of the code itself
      if (operator === '+' && (areTexts || (left === '' && typeof a === 'string') || (right === '' && typeof b === 'string'))) return use${suffix}(a + b)
      return calculate[operator](left === '' ? a : count(a, left), right === '' ? b : count(b, right))
    }
    return { ${known}: known, ${count}: count, ${law}: law }
  })()`
}

/** Returns code for the sandbox that inserts placeholders into a quoted text; needs `lack` for missing values. */
export function textCode(suffix: string): string {
  return `const text${suffix} = (value, name, optional) => {
    if (value === undefined) return optional ? '' : lack${suffix}(name)
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
  }`
}
