/** Finds what a piece of code reads from the rule around it. */
import type { AnyNode, CallExpression, Identifier, MemberExpression, Node } from 'acorn'
import type { LogicPath } from '../logic/run.ts'
import { pathKey, withParts } from '../logic/variable.ts'
import type { Binding } from '../placeholders/binding.ts'
import { type Fault, isRoot } from '../placeholders/path.ts'
import { INSTEAD } from '../expression/refused.ts'
import { isCalendarPart, similarFunction, WORD_FUNCTIONS, wrongCall } from '../expression/word-functions.ts'
import { chainOf, lookupLength, memberName, messagePath, pathOf, withMeta } from '../expression/names.ts'
import { shorten } from '../expression/parse.ts'
import { bindingOfName, partsOfText, type Problem, type Source } from '../expression/source.ts'
import { type FreeName, freeNames } from './free-names.ts'
import { childrenOf } from './syntax-tree.ts'

/** Globals that sandboxed code may use. */
const LIBRARIES: ReadonlyMap<string, object> = new Map<string, object>([
  ['Math', Math],
  ['JSON', JSON],
  ['Number', Number],
  ['String', String],
  ['Boolean', Boolean],
  ['Array', Array],
  ['Object', Object],
  ['Date', Date],
  ['RegExp', RegExp],
  ['Map', Map],
  ['Set', Set],
  ['Symbol', Symbol],
  ['Error', Error],
  ['console', { log: 0, info: 0, warn: 0, error: 0, debug: 0 }],
])
const GLOBALS: ReadonlySet<string> = new Set([
  ...LIBRARIES.keys(),
  ...'undefined NaN Infinity parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI'.split(' '),
  ...'decodeURIComponent TypeError RangeError SyntaxError'.split(' '),
])
const LEFT_OUT = new Set(['constructor'])

const METHODS: ReadonlySet<string> = new Set(
  [String, Array, Number, Boolean, Date, RegExp, Map, Set, Object, Function, Error].flatMap((type) =>
    Object.getOwnPropertyNames(type.prototype),
  ),
)

function isGlobal(name: string): boolean {
  return GLOBALS.has(name)
}

/** Whether a library such as Math has that member; true for names that are not libraries. */
function hasMember(library: string, name: string): boolean {
  const owner = LIBRARIES.get(library)
  return owner === undefined || (Object.getOwnPropertyNames(owner).includes(name) && !LEFT_OUT.has(name))
}

function isMethod(name: string): boolean {
  return METHODS.has(name) && !LEFT_OUT.has(name)
}

const DECIDING = new Set('== != === !== < <= > >= + - * / % ** & | ^ << >> >>> in'.split(' '))
const TESTED = new Set(['ConditionalExpression', 'IfStatement', 'WhileStatement', 'DoWhileStatement', 'ForStatement'])
const EQUALITY = new Set(['==', '!=', '===', '!=='])

/**
 * `value`: names are values of the message, which must be known. `script`: they belong to the script or to JavaScript.
 */
export type Meaning = 'value' | 'script'

/** Collects what a piece of code reads from the rule around it, and the text that replaces each read at runtime. */
export class Reads {
  readonly uses: LogicPath[] = []
  readonly problems: Problem[] = []
  readonly words = new Set<string>()
  readonly zones = new Set<string>()
  hasChance = false
  readonly #text: string
  readonly #source: Source
  readonly #before: number
  readonly #meaning: Meaning
  readonly #wordAt = new Map<Node, string>()
  readonly #keys = new Set<Node>()
  readonly #indexes = new Map<string, number>()
  /** the index of the value that replaces a node, and the label of that value in messages */
  readonly #reads = new Map<Node, { readonly index: number; readonly label: string }>()
  readonly #needed = new Map<Node, string>()
  /** reads on which a decision depends, so that null and NaN are errors, too */
  readonly #deciding = new Set<Node>()
  readonly #numbers = new Set<Node>()

  /** `before`: number of characters before the text in the source of the tree */
  constructor(text: string, source: Source, before: number, meaning: Meaning = 'value') {
    this.#text = text
    this.#source = source
    this.#before = before
    this.#meaning = meaning
  }

  find(tree: Node): void {
    const free = freeNames(tree)
    const made = new Set(free.flatMap(({ node, isTarget }) => (isTarget ? [node.name] : [])))
    for (const one of free) this.#name(one, made.has(one.node.name))
    this.#look(tree, fieldsIn(tree), [])
  }

  replace(node: AnyNode, suffix: string, asWritten: () => string, write: (node: Node) => string): string | undefined {
    const word = this.#wordAt.get(node)
    if (word !== undefined) return word + suffix
    if (this.#meaning === 'value' && node.type === 'BinaryExpression' && node.operator === 'in') {
      return `in${suffix}(${write(node.left)}, ${write(node.right)}, ${JSON.stringify(this.#label(node.right))})`
    }
    if (node.type === 'BinaryExpression' && this.#isOfRule(node)) {
      const sides = [node.left, node.right]
      const labels = sides.map((side) => (this.#deciding.has(bare(side)) ? this.#label(side) : ''))
      const args = [node.operator, ...labels].map((text) => JSON.stringify(text))
      return `law${suffix}(${args.join(', ')}, ${sides.map(write).join(', ')})`
    }
    const read = this.#reads.get(node)
    const label = this.#needed.get(node)
    if (read === undefined && label === undefined) return this.#quoted(node, suffix)
    const text = read === undefined ? asWritten() : `v${read.index}${suffix}`
    if (label === undefined) return text
    const check = this.#numbers.has(node) ? 'number' : this.#deciding.has(node) ? 'known' : 'need'
    return `${check === 'number' ? 'count' : check}${suffix}(${text}, ${JSON.stringify(label)})`
  }

  #isOfRule({
    left,
    right,
    operator,
  }: {
    readonly left: Node
    readonly right: Node
    readonly operator: string
  }): boolean {
    if (operator === 'in' || operator === 'instanceof' || isNothing(left) || isNothing(right)) return false
    return this.#deciding.has(bare(left)) || this.#deciding.has(bare(right))
  }

  #name(free: FreeName, isMade: boolean): void {
    const { node, around, isTarget } = free
    const { name } = node
    const binding = bindingOfName(name, this.#source)
    if (this.#meaning === 'script' && binding === undefined) {
      if (!isMade && (isRoot(name) || isMeta(free))) this.#rooted(free)
      return
    }
    if (isTarget) {
      return this.#wrong(
        node,
        `"${this.#label(node)}" is assigned to, but not declared in the code`,
        'declare it with let',
      )
    }
    if (binding) return this.#read(node, node, around, pathOfBinding(binding), binding)
    if (isRoot(name) || isMeta(free)) return this.#rooted(free)
    const parent = around.at(-1)
    if (isGlobal(name)) {
      const isPlain = parent?.type === 'MemberExpression' && (memberName(parent) ?? 'random') !== 'random'
      if (name === 'Math' && !isPlain) this.hasChance = true
      return
    }
    if (parent?.type === 'CallExpression' && parent.callee === node) return this.#call(node, parent)
    if (name === 'now') return this.#word(node)
    this.#read(node, node, around, messagePath(name))
  }

  #call(node: Identifier, call: CallExpression): void {
    const { name } = node
    if (!WORD_FUNCTIONS.has(name)) {
      const close = similarFunction(name)
      const hint = close === undefined ? 'use a function of JavaScript, or declare it' : `did you mean ${close}?`
      return this.#wrong(node, `unknown function "${name}"`, INSTEAD.get(name) ?? hint)
    }
    const wrong = wrongCall(name, call.arguments)
    if (wrong) return this.#wrong(node, wrong.message, wrong.suggestion)
    const zone = call.arguments[1]
    if (zone?.type === 'Literal' && isCalendarPart(name)) this.zones.add(String(zone.value))
    this.#word(node)
  }

  #word(node: Identifier): void {
    this.words.add(node.name)
    this.#wordAt.set(node, node.name)
  }

  /** Records a chain such as `nodes.a.state`, up to the part that the engine reads. */
  #rooted({ node, around }: FreeName): void {
    const chain: MemberExpression[] = []
    for (const parent of around.toReversed()) {
      const last: Node = chain.at(-1) ?? node
      if (parent.type !== 'MemberExpression' || parent.object !== last) break
      chain.push(parent)
    }
    const known = chain.findIndex((one) => memberName(one) === undefined)
    const fixed = known === -1 ? chain : chain.slice(0, known)
    const last = fixed.at(-1)
    const { root, names } = withMeta((last && chainOf(last)) ?? { root: node.name, names: [] })
    if (!isRoot(root)) return
    const length = lookupLength(root, names)
    // In metadata, `$` stands for two names.
    const written = length - (names.length - fixed.length)
    const end = fixed[Math.min(written, fixed.length) - 1]
    const isComputed = known !== -1 && fixed.length < written
    if (this.#meaning === 'script' && (end === undefined || isComputed)) return
    if (end === undefined || isComputed) {
      const what = isComputed || known !== -1 ? 'computes the path that it reads' : 'alone is not a value'
      return this.#wrong(
        node,
        `"${this.#label(end ?? node)}" ${what}`,
        'write the path literally, such as nodes.<label>.state',
      )
    }
    this.#read(node, end, around, pathOf(root, names.slice(0, length)))
  }

  #read(
    node: Node,
    whole: Node,
    around: readonly AnyNode[],
    found: { readonly path: LogicPath } | { readonly fault: Fault },
    binding?: Binding,
  ): void {
    const label = this.#label(whole)
    if ('fault' in found) return this.#wrong(node, `"${label}": ${found.fault.message}`, found.fault.suggestion)
    this.#reads.set(whole, { index: this.#index(found.path), label })
    if (binding?.optional !== true) this.#need(whole, around, this.#meaning === 'script' && binding !== undefined)
  }

  #index(path: LogicPath): number {
    const key = pathKey(path)
    const known = this.#indexes.get(key)
    if (known !== undefined) return known
    const index = this.uses.push(path) - 1
    this.#indexes.set(key, index)
    return index
  }

  /** The read or a read below it decides something. `always`: unless the code tests the value. */
  #need(read: Node, around: readonly AnyNode[], always: boolean): void {
    let node: Node = read
    let isTested = !always
    let rest = around.toReversed()
    rest = rest.slice(
      rest.findIndex((parent) => parent.start <= read.start && parent.end >= read.end && parent !== read),
    )
    for (const parent of rest) {
      if (decides(parent, node)) {
        this.#needed.set(node, this.#label(node))
        this.#deciding.add(node)
        if (isNumeric(parent)) this.#numbers.add(node)
        return
      }
      if (forwardsValue(parent, node)) {
        node = parent
      } else if (parent.type === 'MemberExpression' && parent.object === node) {
        if (parent.optional) isTested = true
        else this.#needed.set(node, this.#label(node))
        node = parent
      } else {
        if (!(isTested || asks(parent, node))) this.#needed.set(node, this.#label(node))
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
      return `text${suffix}(v${this.#index(found.path)}${suffix}, ${JSON.stringify(part.text)}, ${part.optional})`
    })
    const text = `(${parts.join(' + ')})`
    return this.#keys.has(node) ? `[use${suffix}${text}]` : `use${suffix}${text}`
  }

  #isMarked(node: AnyNode & { readonly type: 'Literal' }): boolean {
    return partsOfText(String(node.value), this.#source).some((part) => typeof part !== 'string')
  }

  /** Reports problems that exist whatever the values, and finds reads inside quoted texts. */
  #look(inner: Node, fields: ReadonlySet<string>, around: readonly AnyNode[]): void {
    const node = inner as AnyNode
    if (node.type === 'Literal' && typeof node.value === 'string') this.#texts(node)
    if (isField(node) && !node.computed) this.#keys.add(node.key)
    if (this.#meaning === 'value') this.#check(node, fields, around)
    for (const child of childrenOf(node)) this.#look(child, fields, [...around, node])
  }

  #check(node: AnyNode, fields: ReadonlySet<string>, around: readonly AnyNode[]): void {
    if (node.type === 'AwaitExpression' || (isFunction(node) && node.async)) {
      this.#wrong(
        node,
        `"${this.#label(node)}" waits, but an expression must return at once`,
        'use the plug script to wait',
      )
    }
    if (isFunction(node) && around.every(({ type }) => type === 'ParenthesizedExpression') && this.#before === 0) {
      this.#wrong(node, 'the code is a function that is never called', 'write its result instead')
    }
    if (node.type === 'MemberExpression' && node.object.type === 'Identifier') this.#library(node)
    if (node.type === 'CallExpression' && node.callee.type === 'MemberExpression') this.#method(node.callee, fields)
  }

  #texts(node: AnyNode & { readonly type: 'Literal' }): void {
    for (const part of partsOfText(String(node.value), this.#source)) {
      if (typeof part === 'string') continue
      const found = pathOfBinding(part)
      if ('fault' in found) this.#wrong(node, `"${part.text}": ${found.fault.message}`, found.fault.suggestion)
      else this.#index(found.path)
    }
  }

  #library(node: MemberExpression): void {
    const name = memberName(node)
    if (node.object.type !== 'Identifier' || name === undefined || hasMember(node.object.name, name)) return
    if (isMethod(name) && node.object.name !== 'Math' && node.object.name !== 'JSON') return
    this.#wrong(node, `unknown name "${this.#label(node)}"`, 'use a name of JavaScript')
  }

  #method(callee: MemberExpression, fields: ReadonlySet<string>): void {
    const name = memberName(callee)
    if (name === undefined || isMethod(name) || fields.has(name)) return
    if (callee.object.type === 'Identifier' && isGlobal(callee.object.name)) return
    const hint = INSTEAD.get(name) ?? 'use a function of JavaScript, or declare it'
    this.#wrong(callee.property, `unknown method "${name}"`, hint)
  }

  #label(node: { readonly start: number; readonly end: number }): string {
    return shorten(this.#text.slice(node.start - this.#before, node.end - this.#before))
  }

  #wrong(node: Node, message: string, suggestion: string): void {
    this.problems.push({ at: Math.max(0, node.start - this.#before), message, suggestion })
  }
}

/** Whether a name begins `META.$`. Other uses of META are ordinary names, since a message value may have that name. */
function isMeta({ node, around }: FreeName): boolean {
  const parent = around.at(-1)
  return (
    node.name === 'META' && parent?.type === 'MemberExpression' && parent.object === node && memberName(parent) === '$'
  )
}

function pathOfBinding({ path, optional }: Binding): { readonly path: LogicPath } | { readonly fault: Fault } {
  return path.root === 'vault' ? pathOf('vault', path.segments) : { path: withParts(path, optional) }
}

function isFunction(node: AnyNode): node is AnyNode & { type: 'FunctionExpression' | 'ArrowFunctionExpression' } {
  return node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
}

function isField(node: AnyNode): node is AnyNode & { type: 'Property' | 'MethodDefinition' | 'PropertyDefinition' } {
  return node.type === 'Property' || node.type === 'MethodDefinition' || node.type === 'PropertyDefinition'
}

function forwardsValue(parent: AnyNode, part: Node): boolean {
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

function asks(parent: AnyNode, node: Node): boolean {
  switch (parent.type) {
    case 'BinaryExpression':
      return EQUALITY.has(parent.operator) && isNothing(parent.left === node ? parent.right : parent.left)
    case 'UnaryExpression':
      return ['typeof', 'void'].includes(parent.operator)
    case 'LogicalExpression':
      return parent.left === node
    case 'CallExpression':
      return parent.callee.type === 'Identifier' && parent.callee.name === 'isKnown'
    default:
      return false
  }
}

/** Whether the node is an operand whose absence would make the result a guess. */
function decides(parent: AnyNode, node: Node): boolean {
  switch (parent.type) {
    case 'BinaryExpression':
      return (
        DECIDING.has(parent.operator) &&
        !(EQUALITY.has(parent.operator) && [parent.left, parent.right].some((side) => side !== node && isNothing(side)))
      )
    case 'UnaryExpression':
      return '+-~!'.includes(parent.operator)
    case 'LogicalExpression':
      return parent.left === node && parent.operator !== '??'
    case 'AssignmentExpression':
      return parent.right === node && !['=', '&&=', '||=', '??='].includes(parent.operator)
    case 'TemplateLiteral':
    case 'SpreadElement':
      return true
    case 'CallExpression':
      if (isNumeric(parent)) return true
      return (
        parent.callee.type === 'Identifier' &&
        WORD_FUNCTIONS.has(parent.callee.name) &&
        parent.callee.name !== 'isKnown'
      )
    case 'ForOfStatement':
      return parent.right === node
    default:
      return TESTED.has(parent.type) && 'test' in parent && parent.test === node
  }
}

function isNumeric(parent: AnyNode): boolean {
  if (parent.type === 'UnaryExpression') return '+-~'.includes(parent.operator)
  if (parent.type !== 'CallExpression') return false
  const { callee } = parent
  if (callee.type === 'Identifier') return callee.name === 'number'
  return callee.type === 'MemberExpression' && callee.object.type === 'Identifier' && callee.object.name === 'Math'
}

function bare(wrapped: Node): Node {
  const node = wrapped as AnyNode
  return node.type === 'ParenthesizedExpression' ? bare(node.expression) : node
}

function isNothing(wrapped: Node): boolean {
  const node = wrapped as AnyNode
  if (node.type === 'ParenthesizedExpression') return isNothing(node.expression)
  return (node.type === 'Literal' && node.value === null) || (node.type === 'Identifier' && node.name === 'undefined')
}

/** Returns names of fields that the code itself creates, and which may be functions. */
function fieldsIn(tree: Node): ReadonlySet<string> {
  const fields = new Set<string>()
  const visit = (inner: Node): void => {
    const node = inner as AnyNode
    if (isField(node)) {
      if (node.key.type === 'Identifier') fields.add(node.key.name)
    } else if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression') {
      fields.add(memberName(node.left) ?? '')
    }
    for (const child of childrenOf(node)) visit(child)
  }
  visit(tree)
  return fields
}
