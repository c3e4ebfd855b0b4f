/** Compiles expressions and references to closures, precomputing constants. */
import { callMethod, readProperty } from '../methods/call.ts'
import { SCOPE_METHODS } from '../methods/scope-methods.ts'
import type { Block, Expression, Part, Reference } from '../syntax/nodes.ts'
import { calculate, compareNumbers, isZero, negated } from '../values/arithmetic.ts'
import { Collection, JavaArray, JavaList, JavaRange, outOfBounds } from '../values/collections.ts'
import { failed } from '../fault.ts'
import { JavaMap } from '../values/map.ts'
import { intOf, isInt, isNumber, type JavaNumber } from '../values/numbers.ts'
import { Scope } from '../values/scope.ts'
import { shownText, textOf } from '../values/text.ts'
import type { Compat, Environment, Value } from '../values/value.ts'
import type { Eval, Exec, Run, Test } from './run.ts'
import { JavaDecimal } from '../values/decimal.ts'
import { areEqual } from '../values/identity.ts'

type Step = (of: Value, run: Run) => Value

export class ExpressionCompiler {
  readonly #compat: Compat
  readonly #block: (block: Block) => Exec

  constructor(compat: Compat, block: (block: Block) => Exec) {
    this.#compat = compat
    this.#block = block
  }

  value(expression: Expression): Eval {
    switch (expression.kind) {
      case 'literal': {
        const { value } = expression
        return () => value
      }
      case 'reference':
        return this.reference(expression)
      case 'template':
        return this.#template(expression.block, expression.drops)
      case 'word':
        return () => null
      case 'list': {
        const items = expression.items.map((item) => this.value(item))
        return (run) => {
          run.budget.spend(items.length)
          return new JavaList(items.map((item) => item(run)))
        }
      }
      case 'map':
        return this.#map(expression.entries)
      case 'range':
        return this.#range(this.value(expression.from), this.value(expression.to))
      case 'negate': {
        const of = this.value(expression.of)
        return (run) => {
          const number = asNumber(of(run), run)
          return number === undefined ? null : negated(number)
        }
      }
      case 'calculate':
        return this.#calculation(expression)
      default:
        return this.test(expression)
    }
  }

  /** Returns whether an `#if` condition holds. In 1.7, anything but a reference or a comparison is false. */
  test(expression: Expression): Test {
    switch (expression.kind) {
      case 'reference': {
        const get = this.reference(expression)
        return (run) => isTrue(get(run), run)
      }
      case 'not': {
        const of = this.test(expression.of)
        return (run) => !of(run)
      }
      case 'and':
      case 'or': {
        const [left, right] = [this.test(expression.left), this.test(expression.right)]
        return expression.kind === 'and' ? (run) => left(run) && right(run) : (run) => left(run) || right(run)
      }
      case 'compare':
        return this.#comparison(expression)
      case 'literal': {
        const is =
          typeof expression.value === 'boolean'
            ? expression.value
            : this.#compat === '2.4' && !isEmpty(expression.value)
        return () => is
      }
      case 'negate': {
        const of = this.test(expression.of)
        return this.#compat === '1.7' ? () => false : of
      }
      default:
        return this.#testOfOther(expression)
    }
  }

  #testOfOther(expression: Expression): Test {
    if (this.#compat === '1.7') return () => false
    if (expression.kind === 'range' || expression.kind === 'calculate') return () => false
    if (expression.kind === 'list') return () => expression.items.length > 0
    if (expression.kind === 'map') return () => expression.entries.length > 0
    const value = this.value(expression)
    return (run) => !isEmpty(value(run))
  }

  reference({ name, parts, alternate, at }: Reference): Eval {
    const path = this.#compat === '1.7' ? propertiesOf(parts) : undefined
    const get =
      path === undefined
        ? variable(
            name,
            parts.map((part) => this.#step(part)),
            at,
          )
        : pathOf(name, path, at)
    if (alternate === undefined) return get
    const other = this.value(alternate)
    return (run) => {
      const value = get(run)
      return isTrue(value, run) ? value : other(run)
    }
  }

  #step(part: Part): Step {
    const { at } = part
    if (part.kind === 'property') {
      const { name } = part
      return (of, run) => {
        if (of instanceof JavaMap && run.compat === '1.7') return of.get(name)
        run.at = at
        return readProperty(of, name, run) ?? null
      }
    }
    if (part.kind === 'index') {
      const index = this.value(part.index)
      return (of, run) => {
        run.at = at
        return readIndex(of, index(run), run)
      }
    }
    const { name } = part
    const args = part.args.map((arg) => this.value(arg))
    return (of, run) => {
      const values = args.map((arg) => arg(run))
      run.at = at
      return callMethod(of, name, values, run) ?? null
    }
  }

  #template(block: Block, drops: boolean): Eval {
    const exec = this.#block(block)
    return (run) => {
      const text = run.captured(exec)
      return drops ? text.slice(0, -1) : text
    }
  }

  #map(entries: readonly (readonly [Expression, Expression])[]): Eval {
    const pairs = entries.map(([key, value]) => [this.value(key), this.value(value)] as const)
    return (run) => {
      const map = new JavaMap()
      for (const [key, value] of pairs) map.put(key(run), value(run))
      return map
    }
  }

  #range(from: Eval, to: Eval): Eval {
    return (run) => {
      const [begin, end] = [asNumber(from(run), run), asNumber(to(run), run)]
      return begin === undefined || end === undefined ? null : new JavaRange(intOf(begin), intOf(end))
    }
  }

  #calculation(expression: Extract<Expression, { kind: 'calculate' }>): Eval {
    const { operator } = expression
    const [left, right] = [this.value(expression.left), this.value(expression.right)]
    const [leftSource, rightSource] = [expression.left.source, expression.right.source]
    return (run) => {
      const [a, b] = [left(run), right(run)]
      if (operator === '+' && (typeof a === 'string' || typeof b === 'string')) {
        const text = (a === null ? leftSource : shownText(a, run)) + (b === null ? rightSource : shownText(b, run))
        run.budget.make(text.length)
        return text
      }
      const x = asNumber(a, run)
      const y = asNumber(b, run)
      return x === undefined || y === undefined ? null : calculate(operator, x, y, run.compat)
    }
  }

  #comparison(expression: Extract<Expression, { kind: 'compare' }>): Test {
    const [left, right] = [this.value(expression.left), this.value(expression.right)]
    const order = (run: Run): number | undefined => orderOf(left(run), right(run), run)
    switch (expression.operator) {
      case '==':
        return (run) => areSame(left(run), right(run), run)
      case '!=':
        return (run) => !areSame(left(run), right(run), run)
      case '<':
        return (run) => order(run) === -1
      case '>':
        return (run) => order(run) === 1
      case '<=':
        return (run) => (order(run) ?? 1) <= 0
      case '>=':
        return (run) => (order(run) ?? -1) >= 0
    }
  }
}

interface Property {
  readonly name: string
  readonly at: number
}

function propertiesOf(parts: readonly Part[]): readonly Property[] | undefined {
  const properties: Property[] = []
  for (const part of parts) {
    if (part.kind !== 'property') return undefined
    properties.push({ name: part.name, at: part.at })
  }
  return properties.length === 0 ? undefined : properties
}

/** Compiles `$a.b.c` of 1.7, by far the most frequent reference, without a call per part. */
function pathOf(name: string, path: readonly Property[], at: number): Eval {
  const [only] = path
  if (path.length === 1 && only !== undefined) return propertyOf(name, only)
  return (run) => {
    run.at = at
    let value = run.context.get(name)
    for (const property of path) {
      if (value === null) return null
      if (value instanceof JavaMap) value = value.get(property.name)
      else {
        run.at = property.at
        value = readProperty(value, property.name, run) ?? null
      }
    }
    return value
  }
}

function propertyOf(name: string, property: Property): Eval {
  const key = property.name
  const ofScope = SCOPE_METHODS.get(key)
  return (run) => {
    const value = run.context.get(name)
    if (value instanceof JavaMap) return value.get(key)
    if (value === null) return null
    const known = value instanceof Scope ? ofScope?.(value, NONE, run) : undefined
    if (known !== undefined) return known
    run.at = property.at
    return readProperty(value, key, run) ?? null
  }
}

const NONE: readonly Value[] = []

function variable(name: string, steps: readonly Step[], at: number): Eval {
  const [first, second] = steps
  if (first === undefined) return (run) => run.context.get(name)
  const get: Eval = (run) => {
    const value = run.context.get(name)
    return value === null ? null : first(value, run)
  }
  if (second === undefined) return get
  const rest = steps.slice(1)
  return (run) => {
    run.at = at
    let value = get(run)
    for (const step of rest) {
      if (value === null) return null
      value = step(value, run)
    }
    return value
  }
}

/** `x[i]`, equal to `x.get(i)`; negative indexes count from the end. */
export function readIndex(of: Value, index: Value, run: Run): Value {
  return callMethod(of, 'get', [fromEnd(of, index)], run) ?? null
}

export function fromEnd(of: Value, index: Value): Value {
  if (!isInt(index) || index >= 0) return index
  if (of instanceof Collection || of instanceof JavaMap) return of.size + index
  throw failed('a negative index needs a value with a size')
}

export function writePart(of: Value, key: Value, value: Value, run: Run): void {
  if (of instanceof JavaMap) of.put(key, value)
  else if (of instanceof JavaArray || of instanceof JavaList) {
    if (!isInt(key)) return
    if (key < 0 || key >= of.size) throw outOfBounds(key, of.size)
    callMethod(of, 'set', [key, value], run)
  }
}

function areSame(left: Value, right: Value, environment: Environment): boolean {
  if (left === null || right === null) return left === right
  const order = orderOf(left, right, environment)
  if (order !== undefined) return order === 0
  if (classOf(left) === classOf(right)) return areEqual(left, right, environment)
  return textOf(left, environment) === textOf(right, environment)
}

function orderOf(left: Value, right: Value, environment: Environment): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left < right ? -1 : left > right ? 1 : 0
  if (typeof left === 'string' && typeof right === 'string') return undefined
  const a = asNumber(left, environment)
  const b = asNumber(right, environment)
  return a === undefined || b === undefined ? undefined : compareNumbers(a, b, environment.compat)
}

function asNumber(value: Value, environment: Environment): JavaNumber | undefined {
  if (typeof value === 'number') return value
  if (value === null || typeof value === 'boolean') return undefined
  if (isNumber(value)) return value
  if (environment.compat === '1.7') return undefined
  const text = textOf(value, environment)
  return text === null ? undefined : JavaDecimal.parse(text)
}

function classOf(value: Value): string {
  return typeof value === 'object' && value !== null ? value.kind : typeof value
}

function isTrue(value: Value, environment: Environment): boolean {
  if (value === null) return false
  if (typeof value === 'boolean') return value
  return environment.compat === '1.7' || !isEmpty(value)
}

function isEmpty(value: Value): boolean {
  if (value === null) return true
  if (typeof value === 'string') return value === ''
  if (value instanceof Collection || value instanceof JavaMap) return value.size === 0
  if (value instanceof Scope) return value.storage.size === 0
  return isNumber(value) && isZero(value)
}
