/** Converts expressions that only calculate with numbers to formulas. */
import type { Expression, Super } from 'acorn'
import {
  asTruth,
  comparison,
  equalityTest,
  OPERATORS,
  type Formula,
  type FormulaRead,
  type Operator,
} from '../../plug/calculation.ts'
import type { Path } from '../placeholders/scope.ts'
import { isRoot } from '../placeholders/path.ts'
import { chainOf, messagePath, pathOf, type Chain } from './names.ts'
import { parseSource } from './parse.ts'
import { bindingOfName, isMarked, readSource, type Source } from './source.ts'

const SAME: readonly Operator[] = ['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '===', '!==']
const BINARY: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ...SAME.map((operator): [string, Operator] => [operator, operator]),
  ['==', '==='],
  ['!=', '!=='],
  ['&&', 'and'],
  ['||', 'or'],
])
const FUNCTIONS: Readonly<Record<string, readonly [Operator, number]>> = {
  'Math.abs': ['abs', 1],
  'Math.ceil': ['ceil', 1],
  'Math.floor': ['floor', 1],
  'Math.round': ['round', 1],
  'Math.trunc': ['trunc', 1],
  'Math.sign': ['sign', 1],
  'Math.sqrt': ['sqrt', 1],
  'Math.min': ['min', 2],
  'Math.max': ['max', 2],
}
const MAX_FORMULA = 500

/** Selects whether bare names in a text refer to properties or to values of the message. */
export type BareNames = 'properties' | 'streamdata'

export function formulaOf(text: string, bare: BareNames): Formula | undefined {
  return read(text, (tree, reader) => reader.formula(tree), bare)
}

export function formulasOf(text: string, bare: BareNames): Readonly<Record<string, Formula>> | undefined {
  return read(text, (tree, reader) => reader.record(tree), bare)
}

function read<T>(
  text: string,
  take: (tree: Expression, reader: FormulaReader) => T | undefined,
  bare: BareNames,
): T | undefined {
  if (text.length > MAX_FORMULA) return undefined
  const source = readSource(text)
  if (source.problems.length > 0) return undefined
  const parsed = parseSource(source, text)
  return 'tree' in parsed ? take(parsed.tree, new FormulaReader(source, bare)) : undefined
}

class FormulaReader {
  readonly #source: Source
  readonly #bare: BareNames

  constructor(source: Source, bare: BareNames) {
    this.#source = source
    this.#bare = bare
  }

  formula(node: Expression | Super): Formula | undefined {
    switch (node.type) {
      case 'ParenthesizedExpression':
        return this.formula(node.expression)
      case 'Literal':
        return typeof node.value === 'number' || typeof node.value === 'boolean' ? node.value : undefined
      case 'Identifier':
        return this.#name(node.name)
      case 'MemberExpression':
        return this.#chain(chainOf(node))
      case 'UnaryExpression': {
        if (node.operator === '!') return this.#truths('not', [node.argument])
        return node.operator === '-' ? this.#operation('negative', [node.argument]) : undefined
      }
      case 'BinaryExpression': {
        const op = BINARY.get(node.operator)
        if (op === undefined || node.left.type === 'PrivateIdentifier') return undefined
        if (op !== '===' && op !== '!==') return this.#operation(op, [node.left, node.right])
        const [first, second] = [truthOrText(node.left), truthOrText(node.right)]
        if (second !== undefined) return equalityTest(op, this.formula(node.left), second)
        return first === undefined
          ? this.#operation(op, [node.left, node.right])
          : equalityTest(op, this.formula(node.right), first)
      }
      case 'LogicalExpression': {
        const op = BINARY.get(node.operator)
        return op === undefined ? undefined : this.#truths(op, [node.left, node.right])
      }
      case 'ConditionalExpression': {
        const test = asTruth(this.formula(node.test))
        const [yes, no] = [this.formula(node.consequent), this.formula(node.alternate)]
        if (test === undefined || yes === undefined || no === undefined) return undefined
        return { op: '?', of: [test, yes, no] }
      }
      case 'CallExpression': {
        const args = node.arguments.filter((argument) => argument.type !== 'SpreadElement')
        if (args.length < node.arguments.length || node.optional) return undefined
        return this.#call(nameOf(node.callee), args)
      }
      default:
        return undefined
    }
  }

  record(node: Expression): Readonly<Record<string, Formula>> | undefined {
    if (node.type === 'ParenthesizedExpression') return this.record(node.expression)
    if (node.type !== 'ObjectExpression') return undefined
    const fields: [string, Formula][] = []
    for (const property of node.properties) {
      if (property.type !== 'Property' || property.kind !== 'init' || property.computed) return undefined
      const value = property.key.type === 'Identifier' ? this.formula(property.value) : undefined
      if (value === undefined || property.key.type !== 'Identifier') return undefined
      fields.push([property.key.name, value])
    }
    return new Set(fields.map(([name]) => name)).size === fields.length ? Object.fromEntries(fields) : undefined
  }

  #operation(op: Operator, nodes: readonly (Expression | Super)[]): Formula | undefined {
    const of = nodes.map((node) => this.formula(node))
    if (!of.every((one) => one !== undefined)) return undefined
    const [left, right] = of
    const isCompared = this.#bare === 'streamdata' && (OPERATORS.order as readonly string[]).includes(op)
    return isCompared && left !== undefined && right !== undefined ? comparison(op, left, right) : { op, of }
  }

  #truths(op: Operator, nodes: readonly Expression[]): Formula | undefined {
    const of = nodes.map((node) => asTruth(this.formula(node)))
    return of.every((one) => one !== undefined) ? { op, of } : undefined
  }

  #call(name: string, args: readonly Expression[]): Formula | undefined {
    if (name === 'between' && args.length === 3) {
      const [value, low, high] = args.map((one) => this.formula(one))
      if (value === undefined || low === undefined || high === undefined) return undefined
      const sides: readonly Formula[] = [comparison('<=', low, value), comparison('<=', value, high)]
      return { op: 'and', of: sides }
    }
    const [op, count] = Object.hasOwn(FUNCTIONS, name) ? (FUNCTIONS[name] ?? []) : []
    return op !== undefined && args.length === count ? this.#operation(op, args) : undefined
  }

  #name(name: string): Formula | undefined {
    const binding = bindingOfName(name, this.#source)
    if (binding !== undefined) return readOf(binding.path)
    if (this.#bare === 'properties') return { from: 'properties', name }
    // `now`, `Infinity` and similar names are not values of the message
    const found = NO_VALUES.has(name) || isRoot(name) ? undefined : messagePath(name)
    return found !== undefined && 'path' in found ? readOf(found.path) : undefined
  }

  #chain(chain: Chain | undefined): Formula | undefined {
    if (chain === undefined) return undefined
    const [name, another] = chain.names
    if (chain.root === 'rawData' && this.#bare === 'properties') {
      return name !== undefined && another === undefined ? { from: 'rawData', name } : undefined
    }
    if (!isRoot(chain.root)) return undefined
    const found = pathOf(chain.root, chain.names)
    return 'path' in found ? readOf(found.path) : undefined
  }
}

const NO_VALUES: ReadonlySet<string> = new Set(['now', 'undefined', 'NaN', 'Infinity', 'Math', 'Number', 'Date'])

/** Returns the read of a number at a path; undefined for paths that formulas cannot read. */
export function readOf({ root, segments }: Path): FormulaRead | undefined {
  const [first, second, third] = segments
  if (first === undefined) return undefined
  if (root === 'streamdata' && segments.length === 1) return { from: 'streamdata', name: first }
  if (root !== 'nodes' || segments.length !== 3 || second !== 'rawData' || third === undefined) return undefined
  return { from: 'nodes', node: first, name: third }
}

function truthOrText(node: Expression | Super): boolean | string | undefined {
  if (node.type === 'ParenthesizedExpression') return truthOrText(node.expression)
  if (node.type !== 'Literal') return undefined
  const { value } = node
  return typeof value === 'boolean' || (typeof value === 'string' && !isMarked(value)) ? value : undefined
}

function nameOf(callee: Expression | Super): string {
  if (callee.type === 'Identifier') return callee.name
  const chain = chainOf(callee)
  return chain === undefined ? '' : [chain.root, ...chain.names].join('.')
}
