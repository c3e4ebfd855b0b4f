import type { AnyNode, MemberExpression, Node } from 'acorn'
import type { LogicPath } from '../logic/run.ts'
import { withParts } from '../logic/variable.ts'
import type { Binding } from '../placeholders/binding.ts'
import { isRoot, printPath, type Fault } from '../placeholders/path.ts'
import { chainOf, lookupLength, memberName, messagePath, pathOf } from '../expression/names.ts'
import { shorten } from '../expression/parse.ts'
import { bindingOfName, partsOfText, type Problem, type Source } from '../expression/source.ts'
import { freeNames, type FreeName } from './free-names.ts'
import { hasMember, isGlobal, isMethod } from './known-names.ts'
import { childrenOf } from './syntax-tree.ts'

const DECIDING = new Set('== != === !== < <= > >= + - * / % ** & | ^ << >> >>>'.split(' '))
const EQUALITY = new Set(['==', '!=', '===', '!=='])

/** What a piece of code reads of the rule around it, and the text that stands for each read while it runs. */
export class Reads {
  readonly uses: LogicPath[] = []
  readonly problems: Problem[] = []
  readonly #text: string
  readonly #source: Source
  readonly #before: number
  readonly #places = new Map<string, number>()
  /** the value that stands for a node, and what it is called in messages */
  readonly #reads = new Map<Node, { readonly place: number; readonly label: string }>()
  readonly #needed = new Map<Node, string>()

  /** `before`: how many characters stand before the text in what the tree was made of */
  constructor(text: string, source: Source, before: number) {
    this.#text = text
    this.#source = source
    this.#before = before
  }

  /** Finds all reads in a tree, and what is wrong with it. */
  find(tree: Node): void {
    for (const free of freeNames(tree)) this.#name(free)
    this.#look(tree, fieldsIn(tree), [])
  }

  /** The text for a node, for the rewriting of the source. */
  replace(node: AnyNode, suffix: string, asWritten: () => string): string | undefined {
    const read = this.#reads.get(node)
    const label = this.#needed.get(node)
    if (read === undefined && label === undefined) return this.#quoted(node, suffix)
    const text = read === undefined ? asWritten() : `v${read.place}${suffix}`
    return label === undefined ? text : `need${suffix}(${text}, ${JSON.stringify(label)})`
  }

  #name(free: FreeName): void {
    const { node, around, isTarget } = free
    const { name } = node
    const binding = bindingOfName(name, this.#source)
    if (isTarget) {
      return this.#wrong(
        node,
        `"${this.#label(node)}" is changed and is no variable of the code`,
        'declare it with let',
      )
    }
    if (binding) return this.#read(node, node, around, pathOfBinding(binding), binding.optional)
    if (isRoot(name)) return this.#rooted(free)
    if (isGlobal(name)) return
    const parent = around.at(-1)
    if (parent?.type === 'CallExpression' && parent.callee === node) {
      return this.#wrong(node, `there is no function "${name}"`, 'call one of JavaScript, or declare it')
    }
    this.#read(node, node, around, messagePath(name))
  }

  /** A chain such as `nodes.a.state`, as far as the engine reads it. */
  #rooted({ node, around }: FreeName): void {
    const root = node.name
    if (!isRoot(root)) return
    const chain: MemberExpression[] = []
    for (const parent of around.toReversed()) {
      const last: Node = chain.at(-1) ?? node
      if (parent.type !== 'MemberExpression' || parent.object !== last) break
      chain.push(parent)
    }
    const known = chain.findIndex((one) => memberName(one) === undefined)
    const fixed = known === -1 ? chain : chain.slice(0, known)
    const names = (fixed.at(-1) && chainOf(fixed.at(-1) ?? node)?.names) ?? []
    const length = lookupLength(root, names)
    const end = fixed[Math.min(length, fixed.length) - 1]
    const isComputed = known !== -1 && fixed.length < length
    if (end === undefined || isComputed) {
      const what = isComputed || known !== -1 ? 'computes what it reads' : 'alone is no value'
      return this.#wrong(
        node,
        `"${this.#label(end ?? node)}" ${what}`,
        'write the path out, such as nodes.<label>.state',
      )
    }
    this.#read(node, end, around, pathOf(root, names.slice(0, length)))
  }

  #read(
    node: Node,
    whole: Node,
    around: readonly AnyNode[],
    found: { readonly path: LogicPath } | { readonly fault: Fault },
    optional = false,
  ): void {
    const label = this.#label(whole)
    if ('fault' in found) return this.#wrong(node, `"${label}": ${found.fault.message}`, found.fault.suggestion)
    this.#reads.set(whole, { place: this.#place(found.path), label })
    if (!optional) this.#need(whole, around)
  }

  #place(path: LogicPath): number {
    const key = printPath(path)
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const place = this.uses.push(path) - 1
    this.#places.set(key, place)
    return place
  }

  /** Whether something is decided by the read, or by what is read further from it. */
  #need(read: Node, around: readonly AnyNode[]): void {
    let node: Node = read
    let rest = around.toReversed()
    rest = rest.slice(
      rest.findIndex((parent) => parent.start <= read.start && parent.end >= read.end && parent !== read),
    )
    for (const parent of rest) {
      if (handsOn(parent, node)) {
        node = parent
      } else if (parent.type === 'MemberExpression' && parent.object === node) {
        if (!parent.optional) this.#needed.set(node, this.#label(node))
        node = parent
      } else {
        if (decides(parent, node)) this.#needed.set(node, this.#label(node))
        return
      }
    }
  }

  #quoted(node: AnyNode, suffix: string): string | undefined {
    if (node.type !== 'Literal' || typeof node.value !== 'string' || !this.#isMarked(node)) return undefined
    const parts = partsOfText(node.value, this.#source).map((part) => {
      if (typeof part === 'string') return JSON.stringify(part)
      const found = pathOfBinding(part)
      if ('fault' in found) return '""'
      return `text${suffix}(v${this.#place(found.path)}${suffix}, ${JSON.stringify(part.text)}, ${part.optional})`
    })
    return `(${parts.join(' + ')})`
  }

  #isMarked(node: AnyNode & { readonly type: 'Literal' }): boolean {
    return partsOfText(String(node.value), this.#source).some((part) => typeof part !== 'string')
  }

  /** What no run could mend, and reads inside of quoted texts. */
  #look(given: Node, fields: ReadonlySet<string>, around: readonly AnyNode[]): void {
    const node = given as AnyNode
    if (node.type === 'Literal' && typeof node.value === 'string') this.#texts(node)
    if (node.type === 'AwaitExpression' || (isFunction(node) && node.async)) {
      this.#wrong(node, `"${this.#label(node)}" waits, and an expression answers at once`, 'leave waiting to script')
    }
    if (isFunction(node) && around.every(({ type }) => type === 'ParenthesizedExpression') && this.#before === 0) {
      this.#wrong(node, 'the code is a function, and nobody calls it', 'write what it should give')
    }
    if (node.type === 'MemberExpression' && node.object.type === 'Identifier') this.#library(node)
    if (node.type === 'CallExpression' && node.callee.type === 'MemberExpression') this.#method(node.callee, fields)
    for (const child of childrenOf(node)) this.#look(child, fields, [...around, node])
  }

  #texts(node: AnyNode & { readonly type: 'Literal' }): void {
    for (const part of partsOfText(String(node.value), this.#source)) {
      if (typeof part === 'string') continue
      const found = pathOfBinding(part)
      if ('fault' in found) this.#wrong(node, `"${part.text}": ${found.fault.message}`, found.fault.suggestion)
      else this.#place(found.path)
    }
  }

  #library(node: MemberExpression): void {
    const name = memberName(node)
    if (node.object.type !== 'Identifier' || name === undefined || hasMember(node.object.name, name)) return
    if (isMethod(name) && node.object.name !== 'Math' && node.object.name !== 'JSON') return
    this.#wrong(node, `there is no "${this.#label(node)}"`, 'name one that JavaScript has, and no chance')
  }

  #method(callee: MemberExpression, fields: ReadonlySet<string>): void {
    const name = memberName(callee)
    if (name === undefined || isMethod(name) || fields.has(name)) return
    if (callee.object.type === 'Identifier' && isGlobal(callee.object.name)) return
    this.#wrong(callee.property, `there is no method "${name}"`, 'call one of JavaScript, or declare it')
  }

  #label(node: { readonly start: number; readonly end: number }): string {
    return shorten(this.#text.slice(node.start - this.#before, node.end - this.#before))
  }

  #wrong(node: Node, message: string, suggestion: string): void {
    this.problems.push({ at: Math.max(0, node.start - this.#before), message, suggestion })
  }
}

function pathOfBinding({ path }: Binding): { readonly path: LogicPath } | { readonly fault: Fault } {
  return path.root === 'vault' ? pathOf('vault', path.segments) : { path: withParts(path) }
}

function isFunction(node: AnyNode): node is AnyNode & { type: 'FunctionExpression' | 'ArrowFunctionExpression' } {
  return node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
}

/** Whether the value of a part can be that of the whole, a missing one included. */
function handsOn(parent: AnyNode, part: Node): boolean {
  switch (parent.type) {
    case 'ParenthesizedExpression':
    case 'ChainExpression':
      return true
    case 'ConditionalExpression':
      return parent.test !== part
    case 'LogicalExpression':
      return parent.right === part || parent.operator === '&&'
    case 'SequenceExpression':
      return parent.expressions.at(-1) === part
    default:
      return false
  }
}

/** An operand whose absence would make the outcome a guess. */
function decides(parent: AnyNode, node: Node): boolean {
  switch (parent.type) {
    case 'BinaryExpression':
      return (
        DECIDING.has(parent.operator) &&
        !(EQUALITY.has(parent.operator) && [parent.left, parent.right].some((side) => side !== node && isNothing(side)))
      )
    case 'UnaryExpression':
      return '+-~'.includes(parent.operator)
    case 'AssignmentExpression':
      return parent.right === node && !['=', '&&=', '||=', '??='].includes(parent.operator)
    case 'TemplateLiteral':
    case 'SpreadElement':
      return true
    case 'ForOfStatement':
      return parent.right === node
    default:
      return false
  }
}

function isNothing(given: Node): boolean {
  const node = given as AnyNode
  if (node.type === 'ParenthesizedExpression') return isNothing(node.expression)
  return (node.type === 'Literal' && node.value === null) || (node.type === 'Identifier' && node.name === 'undefined')
}

/** Names of fields that the code makes itself, which may be functions. */
function fieldsIn(tree: Node): ReadonlySet<string> {
  const fields = new Set<string>()
  const visit = (given: Node): void => {
    const node = given as AnyNode
    if (node.type === 'Property' || node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') {
      if (node.key.type === 'Identifier') fields.add(node.key.name)
    } else if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression') {
      fields.add(memberName(node.left) ?? '')
    }
    for (const child of childrenOf(node)) visit(child)
  }
  visit(tree)
  return fields
}
