/** Determines the value of statements without a return, as `eval` does, and rewrites their function to return it. */
import type { AnyNode, Expression, Node, Statement } from 'acorn'
import { childrenOf } from './syntax-tree.ts'

type Write = (node: Node) => string

const DECIDING = new Set(
  'IfStatement ForStatement ForInStatement ForOfStatement WhileStatement DoWhileStatement SwitchStatement TryStatement'.split(
    ' ',
  ),
)

export class Completion {
  readonly #values = new Set<Node>()
  readonly #deciding = new Set<Node>()
  readonly #afterThrow = new Set<Node>()
  readonly #last: Node | undefined
  readonly #through: string

  /** `through`: name, without its suffix, of a function that converts the final value */
  constructor(body: readonly Node[], through = '') {
    this.#last = body.at(-1)
    this.#through = through
    for (const statement of body) this.#visit(statement as AnyNode)
  }

  declaration(suffix: string): string {
    return `let ${this.#name(suffix)}`
  }

  /** Returns the rewritten text of a node; undefined for nodes without a value. */
  replace(node: AnyNode, suffix: string, asWritten: () => string, write: Write): string | undefined {
    const text = this.#written(node, suffix, asWritten, write)
    if (node !== this.#last) return text
    const end = this.#through === '' ? '' : this.#through + suffix
    return `${text ?? asWritten()}\n;return ${end}(use${suffix}(${this.#name(suffix)}))`
  }

  #written(node: AnyNode, suffix: string, asWritten: () => string, write: Write): string | undefined {
    const name = this.#name(suffix)
    const reset = this.#afterThrow.has(node) ? `${name} = void 0;` : ''
    if (this.#deciding.has(node)) return `{${name} = void 0;${asWritten()}\n}`
    if (this.#values.has(node) && node.type === 'ExpressionStatement') {
      return `${name} = (${write(node.expression)});`
    }
    return reset === '' ? undefined : reset + asWritten()
  }

  #name(suffix: string): string {
    return `given${suffix}`
  }

  #visit(node: AnyNode): void {
    switch (node.type) {
      case 'ExpressionStatement':
        if (node.directive === undefined) this.#values.add(node)
        return
      case 'BlockStatement':
        for (const one of node.body) this.#visit(one)
        return
      case 'LabeledStatement':
        // a label must stand directly before its loop
        if (DECIDING.has(node.body.type)) {
          this.#deciding.add(node)
          this.#parts(node.body)
        } else this.#visit(node.body)
        return
      default:
        if (!DECIDING.has(node.type)) return
        this.#deciding.add(node)
        this.#parts(node)
    }
  }

  #parts(node: AnyNode): void {
    switch (node.type) {
      case 'IfStatement':
        this.#visit(node.consequent)
        if (node.alternate) this.#visit(node.alternate)
        return
      case 'SwitchStatement':
        for (const { consequent } of node.cases) for (const one of consequent) this.#visit(one)
        return
      case 'TryStatement':
        this.#visit(node.block)
        if (node.handler) {
          this.#visit(node.handler.body)
          const [first] = node.handler.body.body
          if (first) this.#afterThrow.add(first)
        }
        return
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
        this.#visit(node.body)
        return
      default:
    }
  }
}

export function returnsValue(body: readonly Node[]): boolean {
  if (!hasNoReturn(body)) return true
  const last = body.findLast((statement) => !isSilent(statement as AnyNode))
  return last !== undefined && holds(last as AnyNode, 'ExpressionStatement')
}

export function hasNoReturn(body: readonly Node[]): boolean {
  return !body.some((statement) => holds(statement as AnyNode, 'ReturnStatement'))
}

/** Returns a final block that was probably meant as an object: its first statement is a label before a value. */
export function objectLikeBlock(body: readonly Node[]): Node | undefined {
  const last = body.at(-1) as Statement | undefined
  if (last?.type !== 'BlockStatement') return undefined
  const [first] = last.body
  return first?.type === 'LabeledStatement' && first.body.type === 'ExpressionStatement' ? last : undefined
}

/** Returns values that are not used, because more statements follow. */
export function droppedValues(body: readonly Node[]): readonly Expression[] {
  const last = body.findLastIndex((statement) => !isSilent(statement as AnyNode))
  return body.slice(0, Math.max(0, last)).flatMap((item) => {
    const statement = item as AnyNode
    if (statement.type !== 'ExpressionStatement' || statement.directive !== undefined) return []
    return isPure(statement.expression) ? [statement.expression] : []
  })
}

function isSilent({ type }: AnyNode): boolean {
  return type.endsWith('Declaration') || type === 'EmptyStatement'
}

function holds(node: AnyNode, type: string): boolean {
  if (node.type === type) return node.type !== 'ExpressionStatement' || node.directive === undefined
  if (/Function|Class/.test(node.type)) return false
  return childrenOf(node).some((child) => holds(child as AnyNode, type))
}

const CHANGING = /^(?:Assignment|Update|Call|New|Await|Yield|TaggedTemplate|Import)Expression$/

function isPure(node: Node): boolean {
  const one = node as AnyNode
  if (CHANGING.test(one.type) || (one.type === 'UnaryExpression' && one.operator === 'delete')) return false
  return childrenOf(one).every(isPure)
}
