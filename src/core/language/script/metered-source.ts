/**
 * Rewrites the source of a script before it runs. The interpreter counts loops and calls, but not the work of one
 * operator, such as a comparison of long texts. Therefore operands, keys and results that may be long texts pass
 * through functions of the prelude that count them; what cannot be counted is rejected. Everything keeps its value, its
 * order and its target.
 *
 * METER-1 A text reaches a native conversion or comparison only after its length was counted.
 * METER-2 A function of the script returns a text only after it was counted, so an object that converts to a text is
 *   counted too.
 * METER-3 A caught or dropped error is counted, because the interpreter writes the whole stack for it.
 * METER-4 Every loop and function checks whether the script has ended, since an async function turns even that error
 *   into a value.
 */
import type { AnyNode, Expression, MemberExpression, Node, Property, PropertyDefinition, Super } from 'acorn'
import { childrenOf } from './syntax-tree.ts'
import { isShort, numberNames } from './short-values.ts'

export interface Uncounted {
  readonly at: number
  readonly what: string
}

export interface MeteredSource {
  /** source that, given the meters of the prelude in the order of METERS, returns the value of the tree */
  readonly code: string
  readonly uncounted: readonly Uncounted[]
}

type Write = (node: Node) => string

/** Additional rewriting; its names end in a suffix that no name of the script has. */
export interface Rewriting {
  /** undefined keeps the original, which `asWritten` returns with its meters; `write` is for nodes below */
  readonly replace?: (node: AnyNode, suffix: string, asWritten: () => string, write: Write) => string | undefined
  readonly around?: (text: string, suffix: string) => string
}

const METERS = ['use', 'give', 'made', 'cell', 'keys', 'step', 'fault', 'last'] as const
type Meter = (typeof METERS)[number]

/** Fields whose native setters convert texts to numbers. */
const CONVERTING_FIELDS = new Set(['length', 'lastIndex'])
const CONVERTING = new Set('== != === !== < <= > >= - * / % ** & | ^ << >> >>>'.split(' '))
const EQUALITY = new Set(['===', '!=='])

/** Rewrites the source of an expression; positions in `tree` refer to `source`. */
export function meteredSource(tree: Node, source: string, rewriting: Rewriting = {}): MeteredSource {
  const writer = new Writer(tree, source, rewriting)
  const written = writer.write(tree)
  const text = rewriting.around?.(written, writer.suffix) ?? written
  return {
    code: `((${METERS.map((meter) => writer.meter(meter)).join()}) => (${text}\n))`,
    uncounted: writer.uncounted,
  }
}

class Writer {
  readonly uncounted: Uncounted[] = []
  readonly #source: string
  readonly #replace: Rewriting['replace']
  readonly suffix: string
  readonly #numbers: ReadonlySet<string>

  constructor(tree: Node, source: string, { replace }: Rewriting) {
    this.#source = source
    this.#replace = replace
    this.suffix = unusedSuffix(tree)
    this.#numbers = numberNames(tree)
  }

  meter(meter: Meter): string {
    return `${meter}${this.suffix}`
  }

  write(written: Node): string {
    const node = written as AnyNode
    const asWritten = () => this.#rewritten(node) ?? this.#children(node)
    return this.#replace?.(node, this.suffix, asWritten, (child) => this.write(child)) ?? asWritten()
  }

  #rewritten(node: AnyNode): string | undefined {
    switch (node.type) {
      case 'BinaryExpression':
        if (node.operator === '+') return this.#call('made', this.#children(node))
        if (node.operator === 'in') return this.#children(node, [node.left])
        return CONVERTING.has(node.operator) ? this.#children(node, this.#compared(node)) : undefined
      case 'UnaryExpression':
        return '+-~'.includes(node.operator) ? this.#children(node, [node.argument]) : undefined
      case 'UpdateExpression':
        return this.#changing(node.argument, (target) => this.#children(node, [], new Map([[node.argument, target]])))
      case 'AssignmentExpression':
        return this.#assignment(node)
      case 'MemberExpression':
        return node.computed ? this.#children(node, [node.property]) : undefined
      case 'Property':
        // a shorthand is both key and value
        if (node.shorthand) return this.#shorthand(node)
        return node.computed ? this.#children(node, [node.key]) : undefined
      case 'MethodDefinition':
        return node.computed ? this.#children(node, [node.key]) : undefined
      case 'PropertyDefinition': {
        const counted = isConverting(node) && node.value ? [node.value] : []
        return this.#children(node, node.computed ? [node.key, ...counted] : counted)
      }
      case 'ReturnStatement':
        return node.argument ? this.#children(node, [node.argument]) : undefined
      case 'SwitchStatement':
        return this.#children(node, [node.discriminant])
      case 'SwitchCase':
        return node.test ? this.#children(node, [node.test]) : undefined
      case 'ForInStatement':
        this.#refuseTargets(node.left, false)
        return this.#loop(node, [[node.right, this.#call('keys', this.write(node.right))]])
      case 'ForOfStatement':
        this.#refuseTargets(node.left, false)
        return this.#loop(node)
      case 'ForStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
        return this.#loop(node)
      case 'ObjectExpression':
        return this.#children(node, [], this.#spreads(node.properties))
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'FunctionDeclaration':
        return this.#function(node)
      case 'CatchClause':
        return this.#children(node, [], new Map([[node.body, this.#opened(node.body, 'fault')]]))
      case 'TryStatement':
        return node.finalizer
          ? this.#children(node, [], new Map([[node.finalizer, this.#opened(node.finalizer, 'fault')]]))
          : undefined
      default: {
        const what = uncountedIn(node)
        if (what !== undefined) this.uncounted.push({ at: node.start, what })
        return undefined
      }
    }
  }

  /** Returns the rewritten source of a node: some children are counted, some are replaced by texts. */
  #children(node: AnyNode, counted: readonly Node[] = [], texts?: ReadonlyMap<Node, string>): string {
    let text = ''
    let at = node.start
    for (const child of childrenOf(node)) {
      if (child.start < at) continue
      const written = texts?.get(child) ?? (counted.includes(child) ? this.#used(child) : this.write(child))
      text += this.#source.slice(at, child.start) + written
      at = child.end
    }
    return text + this.#source.slice(at, node.end)
  }

  #used(node: Node): string {
    const text = this.write(node)
    if (isShort(node, this.#numbers) || node.type === 'PrivateIdentifier') return text
    return this.#call('use', node.type === 'SequenceExpression' ? `(${text})` : text)
  }

  #call(meter: Meter, text: string): string {
    return `${this.meter(meter)}(${text})`
  }

  #compared({ left, right, operator }: AnyNode & { type: 'BinaryExpression' }): readonly Node[] {
    // texts of unequal length are not compared character by character
    const isQuick = (side: Node) => isShort(side, this.#numbers)
    if (EQUALITY.has(operator) && (isQuick(left) || isQuick(right))) return []
    return [left, right]
  }

  #assignment(node: AnyNode & { type: 'AssignmentExpression' }): string {
    const { left, right, operator } = node
    const isField = left.type === 'MemberExpression' && isConverting(left)
    if (['=', '&&=', '||=', '??='].includes(operator)) {
      this.#refuseTargets(left, true)
      return this.#children(node, isField ? [right] : [])
    }
    if (operator === '+=') {
      const target = isField ? new Map([[left as Node, this.#cell(left)]]) : undefined
      return this.#call('made', this.#children(node, [], target))
    }
    return this.#changing(left, (target) => this.#children(node, [right], new Map([[left, target]])))
  }

  /** Code that reads, converts and writes in one step. `whole` returns the code for a given text of its target. */
  #changing(target: Node, whole: (target: string) => string): string {
    let inner = target as AnyNode
    while (inner.type === 'ParenthesizedExpression') inner = inner.expression
    if (inner.type === 'MemberExpression') return whole(this.#cell(inner))
    const text = this.write(inner)
    return isShort(inner, this.#numbers)
      ? whole(text)
      : this.#call('last', `${this.#call('use', text)}, ${whole(text)}`)
  }

  #cell({ object, property, computed, start }: MemberExpression): string {
    if (object.type === 'Super' || property.type === 'PrivateIdentifier') {
      this.uncounted.push({ at: start, what: 'combined assignment to such a field; write x = x + 1' })
    }
    const key = computed ? this.#used(property) : JSON.stringify(this.#source.slice(property.start, property.end))
    const parts = [object, property].map((part) => (part.type === 'SequenceExpression' ? ['(', ')'] : ['', '']))
    const [[open = '', close = ''] = [], [before = '', after = ''] = []] = parts
    return `${this.meter('cell')}(${open}${this.write(object)}${close}, ${before}${key}${after}).v`
  }

  #shorthand(node: Property | (AnyNode & { type: 'Property' })): string {
    const written = this.write(node.value)
    const { key } = node
    const same = node.value.type === 'Identifier' && key.type === 'Identifier' && written === key.name
    return same || node.value.type !== 'Identifier' ? written : `${this.#source.slice(key.start, key.end)}: ${written}`
  }

  #spreads(properties: readonly Node[]): ReadonlyMap<Node, string> {
    return new Map(
      properties.flatMap((property) => {
        const part = property as AnyNode
        return part.type === 'SpreadElement' ? [[property, `...${this.#call('keys', this.write(part.argument))}`]] : []
      }),
    )
  }

  #function(
    node: AnyNode & { type: 'ArrowFunctionExpression' | 'FunctionExpression' | 'FunctionDeclaration' },
  ): string {
    const { body, async, params } = node
    if (async && params.some(({ type }) => type !== 'Identifier')) {
      this.uncounted.push({
        at: node.start,
        what: 'destructuring in the parameters of an async function; name the parameters',
      })
    }
    if (body.type === 'BlockStatement') {
      return this.#children(node, [], new Map([[body, this.#opened(body, async ? 'fault' : 'step')]]))
    }
    const text = this.write(body)
    const result = this.#call('give', body.type === 'SequenceExpression' ? `(${text})` : text)
    return this.#children(node, [], new Map([[body, async ? `(${this.#call('fault', '')}, ${result})` : result]]))
  }

  #loop(node: AnyNode & { readonly body: Node }, more: readonly (readonly [Node, string])[] = []): string {
    const { body } = node
    const text = isBlock(body) ? this.#opened(body, 'step') : `{${this.#call('step', '')};${this.write(body)}}`
    return this.#children(node, [], new Map([...more, [body, text]]))
  }

  #opened(block: AnyNode & { type: 'BlockStatement' }, meter: 'step' | 'fault'): string {
    const call = `${this.#call(meter, '')};`
    const directive = block.body.findLast((one) => one.type === 'ExpressionStatement' && one.directive !== undefined)
    if (directive === undefined) return `{${call}${this.#children(block).slice(1)}`
    return this.#children(block, [], new Map([[directive, `${this.write(directive)};${call}`]]))
  }

  /** Rejects destructuring into members that convert texts, which cannot be counted. */
  #refuseTargets(pattern: AnyNode, isTop: boolean): void {
    for (const target of targetsIn(pattern, isTop)) {
      if (isConverting(target)) {
        this.uncounted.push({ at: target.start, what: 'destructuring into such a field; assign it separately' })
      }
    }
  }
}

function isBlock(node: Node): node is AnyNode & { type: 'BlockStatement' } {
  return node.type === 'BlockStatement'
}

/** Describes native work of unbounded length that a meter cannot precede. */
function uncountedIn(node: AnyNode): string | undefined {
  switch (node.type) {
    case 'WithStatement':
      return 'the statement with; name the object each time'
    case 'ImportExpression':
      return 'import; a script has no modules'
    case 'ObjectPattern':
      return node.properties.some(({ type }) => type === 'RestElement')
        ? 'the rest of an object; name the fields'
        : undefined
    case 'Literal':
      return typeof node.value === 'bigint' ? 'bigint; write a number' : undefined
    default:
      return undefined
  }
}

function targetsIn(pattern: AnyNode, isTop: boolean): readonly MemberExpression[] {
  switch (pattern.type) {
    case 'MemberExpression':
      return isTop ? [] : [pattern]
    case 'ArrayPattern':
    case 'ObjectPattern':
    case 'Property':
    case 'RestElement':
    case 'AssignmentPattern':
      return childrenOf(pattern).flatMap((child) => targetsIn(child as AnyNode, false))
    default:
      return []
  }
}

function isConverting(node: MemberExpression | PropertyDefinition): boolean {
  const key: Expression | Super | Node = node.type === 'MemberExpression' ? node.property : node.key
  const named = key as AnyNode
  if (!node.computed) {
    if (named.type === 'Identifier') return CONVERTING_FIELDS.has(named.name)
    return named.type === 'Literal' && CONVERTING_FIELDS.has(String(named.value))
  }
  return !(named.type === 'Literal' && typeof named.value === 'number')
}

/** Returns a suffix that names of the script do not have, in any spelling. */
function unusedSuffix(tree: Node): string {
  const names = new Set<string>()
  const visit = (inner: Node): void => {
    const node = inner as AnyNode
    if (node.type === 'Identifier') names.add(node.name)
    for (const child of childrenOf(node)) visit(child)
  }
  visit(tree)
  for (let suffix = 0; ; suffix++) {
    if ([...names].every((name) => !name.endsWith(`$${suffix}`))) return `$${suffix}`
  }
}
