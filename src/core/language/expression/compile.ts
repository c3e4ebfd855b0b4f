/** Compiles a syntax tree to closures. Kinds of nodes that are not listed here are rejected. */
import type {
  AnyNode,
  ArrowFunctionExpression,
  Expression,
  Literal,
  Super,
  TemplateLiteral,
  ArrayExpression,
  ObjectExpression,
} from 'acorn'
import { numberOfText, FORBIDDEN_KEYS } from '#kernel'
import type { LogicPath } from '../logic/run.ts'
import { pathKey, withParts } from '../logic/variable.ts'
import type { Binding } from '../placeholders/binding.ts'
import { isRoot, type Fault } from '../placeholders/path.ts'
import { compileCall } from './compile-call.ts'
import { compileChain, compileMember } from './compile-member.ts'
import type { CallbackMaker, Compiler } from './compiler.ts'
import { CONSTANTS, FUNCTIONS, LIBRARIES } from './functions.ts'
import { messagePath, pathOf } from './names.ts'
import { BINARY, sum, UNARY, type Side } from './operators.ts'
import { shorten } from './parse.ts'
import { refusal } from './refused.ts'
import { missing, spend, type Code, type Frame, type Run, unfit } from './run.ts'
import { findName, readParameters, slotOf, type Scope } from './scope.ts'
import { bindingOfName, partsOfText, type Problem, type Source, isMarked } from './source.ts'
import { insertedText, numberOf, textOf, truthOf, keyOf } from './values.ts'
import { itemsOf } from './list-methods.ts'

const MAX_DEPTH = 250

export class ExpressionCompiler implements Compiler {
  readonly problems: Problem[] = []
  readonly paths = new Map<string, LogicPath>()
  readonly #text: string
  readonly #source: Source
  readonly hasChance: boolean
  #depth = 0

  constructor(text: string, source: Source, hasChance: boolean) {
    this.#text = text
    this.#source = source
    this.hasChance = hasChance
  }

  compile(node: Expression | Super, scope: Scope | undefined): Side {
    if (++this.#depth > MAX_DEPTH) {
      this.#depth = 0
      throw new RangeError('too deep')
    }
    const side = this.#compile(node, scope)
    this.#depth--
    return side
  }

  label(node: { readonly start: number; readonly end: number }): string {
    return shorten(this.#text.slice(node.start, node.end))
  }

  side(node: AnyNode, code: Code): Side {
    return { code, label: this.label(node), constant: false }
  }

  constant(node: AnyNode, value: unknown): Side {
    return { code: () => value, label: this.label(node), constant: true, value }
  }

  wrong(node: AnyNode, message: string, suggestion: string): Side {
    this.problems.push({ at: node.start, message, suggestion })
    return this.constant(node, undefined)
  }

  refuse(node: AnyNode): Side {
    const [message, suggestion] = refusal(node.type)
    return this.wrong(node, `"${this.label(node)}" ${message}`, suggestion)
  }

  read(node: AnyNode, found: { readonly path: LogicPath } | { readonly fault: Fault }): Side {
    if ('fault' in found) {
      return this.wrong(node, `"${this.label(node)}": ${found.fault.message}`, found.fault.suggestion)
    }
    const key = pathKey(found.path)
    const path = this.paths.get(key) ?? found.path
    this.paths.set(key, path)
    return this.side(node, (run) => run.lookup(path))
  }

  callback(node: ArrowFunctionExpression, scope: Scope | undefined): CallbackMaker {
    const { body, async, params } = node
    const parameters = readParameters(params)
    if (body.type === 'BlockStatement' || async || 'wrong' in parameters) {
      const at = 'wrong' in parameters ? parameters.wrong : node
      this.wrong(
        at,
        `"${this.label(at)}" is more than a short arrow function`,
        'write x => x > 1, or ([key, value]) => value',
      )
      return () => () => undefined
    }
    const { names, slotsOf } = parameters
    const { code } = this.compile(body, { names, outer: scope })
    return (run, outer) =>
      (...values) => {
        spend(run, 1)
        return code(run, { slots: slotsOf(values), outer })
      }
  }

  #compile(node: Expression | Super, scope: Scope | undefined): Side {
    switch (node.type) {
      case 'ParenthesizedExpression':
        return this.compile(node.expression, scope)
      case 'Literal':
        return this.#literal(node)
      case 'Identifier':
        return this.#name(node, node.name, scope)
      case 'TemplateLiteral':
        return this.#template(node, scope)
      case 'MemberExpression':
        return compileMember(this, node, scope)
      case 'ChainExpression':
        return compileChain(this, node, scope)
      case 'CallExpression':
        return compileCall(this, node, scope)
      case 'ArrayExpression':
        return compileList(this, node, scope)
      case 'ObjectExpression':
        return compileRecord(this, node, scope)
      case 'UnaryExpression': {
        const build = UNARY.get(node.operator)
        if (!build) return this.refuse(node)
        const of = this.compile(node.argument, scope)
        const negative = node.operator === '-' && of.constant && typeof of.value === 'number' ? -of.value : undefined
        if (negative !== undefined) return this.constant(node, negative)
        if (node.operator === 'void') return this.constant(node, undefined)
        const side = this.side(node, build(of))
        const { measured } = of
        if (node.operator !== '-' || !measured) return side
        return { ...side, measured: (run, frame) => -numberOf(measured(run, frame), of.label) }
      }
      case 'BinaryExpression': {
        const { left, right, operator } = node
        if ((operator === '+' || operator === '-') && left.type !== 'PrivateIdentifier') {
          const sides = [this.compile(left, scope), this.compile(right, scope)] as const
          return { ...sum(operator, ...sides), label: this.label(node), constant: false }
        }
        const build = BINARY.get(operator)
        if (!build || left.type === 'PrivateIdentifier') {
          return this.wrong(
            node,
            `the operator ${operator} cannot be used`,
            'use includes, or compare a field with null',
          )
        }
        return this.side(node, build(this.compile(left, scope), this.compile(right, scope)))
      }
      case 'LogicalExpression': {
        const { code: left, label } = this.compile(node.left, scope)
        const right = this.compile(node.right, scope).code
        if (node.operator === '??') return this.side(node, (run, frame) => left(run, frame) ?? right(run, frame))
        const stops = node.operator === '||'
        return this.side(node, (run, frame) => {
          const value = left(run, frame)
          return truthOf(value, label) === stops ? value : right(run, frame)
        })
      }
      case 'ConditionalExpression': {
        const { code: test, label } = this.compile(node.test, scope)
        const yes = this.compile(node.consequent, scope).code
        const no = this.compile(node.alternate, scope).code
        return this.side(node, (run, frame) => (truthOf(test(run, frame), label) ? yes(run, frame) : no(run, frame)))
      }
      case 'ArrowFunctionExpression':
        return this.wrong(
          node,
          `the arrow function "${this.label(node)}" is not an argument of a method`,
          'hand it to a method of a list, such as list.map(x => x * 2)',
        )
      default:
        return this.refuse(node)
    }
  }

  #literal(node: Literal): Side {
    if (node.regex) {
      return this.wrong(
        node,
        `the regular expression ${this.label(node)} could run endlessly`,
        'use includes, startsWith, endsWith, indexOf or split',
      )
    }
    if (typeof node.value === 'bigint') return this.wrong(node, `${this.label(node)} is a bigint`, 'write it without n')
    if (typeof node.value !== 'string') return this.constant(node, node.value)
    const parts = partsOfText(node.value, this.#source)
    if (parts.every((part) => typeof part === 'string')) {
      const text = parts.join('')
      return { ...this.constant(node, text), isText: numberOfText(text) === undefined }
    }
    const codes = parts.map((part) => (typeof part === 'string' ? () => part : this.#inserted(node, part)))
    return { ...this.side(node, (run, frame) => joined(run, frame, codes)), isText: true }
  }

  #inserted(node: AnyNode, binding: Binding): Code {
    const { code } = this.#binding(node, binding)
    return (run, frame) => {
      const value = code(run, frame)
      if (value !== undefined) return insertedText(run, value)
      if (binding.optional) return ''
      throw missing(binding.text)
    }
  }

  #binding(node: AnyNode, { path, optional }: Binding): Side {
    return this.read(node, path.root === 'vault' ? pathOf('vault', path.segments) : { path: withParts(path, optional) })
  }

  #template({ quasis, expressions }: TemplateLiteral, scope: Scope | undefined): Side {
    const codes: Code[] = []
    for (const [index, quasi] of quasis.entries()) {
      const text = quasi.value.cooked ?? ''
      if (text !== '') codes.push(() => text)
      const expression = expressions[index]
      if (expression === undefined) continue
      const { code, label } = this.compile(expression, scope)
      codes.push((run, frame) => textOf(run, code(run, frame), label))
    }
    const [first, end] = [quasis[0], quasis.at(-1)]
    const node = { start: first?.start ?? 0, end: end?.end ?? 0 }
    return { code: (run, frame) => joined(run, frame, codes), label: this.label(node), constant: false, isText: true }
  }

  #name(node: AnyNode, name: string, scope: Scope | undefined): Side {
    const local = findName(scope, name)
    if (local) {
      const { depth, slot } = local
      if (depth === 0) return this.side(node, (_, frame) => frame?.slots[slot])
      return this.side(node, (_, frame) => slotOf(frame, depth, slot))
    }
    if (CONSTANTS.has(name)) return this.constant(node, CONSTANTS.get(name))
    if (name === 'now') return this.side(node, (run) => run.now)
    const binding = bindingOfName(name, this.#source)
    if (binding) return this.#binding(node, binding)
    if (isRoot(name)) {
      return this.wrong(
        node,
        `"${name}" alone is not a value`,
        'write what to read, such as nodes.<label>.state or streamdata.<name>',
      )
    }
    if (LIBRARIES.has(name) || FUNCTIONS.has(name)) {
      return this.wrong(
        node,
        `"${name}" alone is not a value`,
        `call it, or write streamdata.${name} for a value of the message`,
      )
    }
    return this.read(node, messagePath(name))
  }
}

function joined(run: Run, frame: Frame | undefined, codes: readonly Code[]): string {
  let text = ''
  for (const code of codes) text += code(run, frame) as string // each code returns text
  spend(run, text.length)
  return text
}

function compileList(compiler: Compiler, node: ArrayExpression, scope: Scope | undefined): Side {
  const parts = node.elements.map((element) => {
    if (element === null) return { spread: false, code: () => null, label: '' }
    const spread = element.type === 'SpreadElement'
    const { code, label } = compiler.compile(spread ? element.argument : element, scope)
    return { spread, code, label }
  })
  return compiler.side(node, (run, frame) => {
    const list: unknown[] = []
    for (const { spread, code, label } of parts) {
      const value = code(run, frame)
      if (!spread) list.push(value)
      else for (const item of itemsOf(run, value, label)) list.push(item)
    }
    spend(run, list.length)
    return list
  })
}

type Part = (run: Run, frame: Frame | undefined, into: Record<string, unknown>) => void

/** Compiles `{a: 1, [key]: 2, ...other}`; a field without a value is omitted, as in JSON. */
function compileRecord(compiler: Compiler, node: ObjectExpression, scope: Scope | undefined): Side {
  const parts = node.properties.map((property): Part => {
    if (property.type === 'SpreadElement') {
      const { code, label } = compiler.compile(property.argument, scope)
      return (run, frame, into) => spreadInto(run, code(run, frame), label, into)
    }
    if (property.kind !== 'init' || property.method) {
      compiler.wrong(property, `"${compiler.label(property)}" is a function`, 'write a field such as {a: 1}')
      return () => undefined
    }
    const value = compiler.compile(property.value, scope).code
    const fixed = property.computed ? undefined : fixedKey(property.key)
    if (fixed !== undefined) {
      if (FORBIDDEN_KEYS.has(fixed)) compiler.wrong(property.key, `the key "${fixed}" is reserved`, 'use another key')
      return (run, frame, into) => set(into, fixed, value(run, frame))
    }
    const key: Side = compiler.compile(property.key, scope)
    return (run, frame, into) => set(into, keyOf(key.code(run, frame), key.label), value(run, frame))
  })
  return compiler.side(node, (run, frame) => {
    const record: Record<string, unknown> = {}
    spend(run, 1 + parts.length)
    for (const part of parts) part(run, frame, record)
    return record
  })
}

function fixedKey(key: Expression): string | undefined {
  if (key.type === 'Identifier') return key.name
  if (key.type !== 'Literal' || (typeof key.value === 'string' && isMarked(key.value))) return undefined
  return typeof key.value === 'string' || typeof key.value === 'number' ? String(key.value) : undefined
}

function set(into: Record<string, unknown>, key: string, value: unknown): void {
  if (value !== undefined) into[key] = value
}

function spreadInto(run: Run, value: unknown, label: string, into: Record<string, unknown>): void {
  if (value === null || value === undefined) return
  if (typeof value !== 'object' || Array.isArray(value)) throw unfit(label, 'is not an object')
  const entries = Object.entries(value)
  spend(run, entries.length)
  for (const [key, item] of entries) into[keyOf(key, label)] = item as unknown
}
