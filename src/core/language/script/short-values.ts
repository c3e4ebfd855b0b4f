/** Recognizes expressions of a script that can never be a long text, so that they need not be counted. */
import type { AnyNode, Node } from 'acorn'
import { childrenOf } from './syntax-tree.ts'

/** Maximum number of characters of a text that costs no more than a number. */
const SHORT = 64
const QUICK_UNARY = new Set(['!', 'typeof', 'void', 'delete', '-', '+', '~'])

export function isShort(wrapped: Node, numbers: ReadonlySet<string>): boolean {
  const node = wrapped as AnyNode
  switch (node.type) {
    case 'Literal':
      return typeof node.value !== 'string' || node.value.length <= SHORT
    case 'Identifier':
      return numbers.has(node.name)
    case 'ParenthesizedExpression':
      return isShort(node.expression, numbers)
    case 'UnaryExpression':
      return QUICK_UNARY.has(node.operator)
    case 'BinaryExpression':
      return node.operator !== '+' || (isNumber(node.left, numbers) && isNumber(node.right, numbers))
    case 'UpdateExpression':
    case 'ObjectExpression':
    case 'ArrayExpression':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return true
    default:
      return false
  }
}

/** Each declaration begins with a number, and all changes are `++`, `--` or the addition of a number. */
export function numberNames(tree: Node): ReadonlySet<string> {
  const numbers = new Set<string>()
  const others = new Set<string>()
  const known: ReadonlySet<string> = new Set()
  let hasGlobals = false
  const visit = (inner: Node): void => {
    const node = inner as AnyNode
    if (node.type === 'VariableDeclarator') {
      if (node.id.type === 'Identifier' && node.init && isNumber(node.init, known)) numbers.add(node.id.name)
      else addNames(node.id, others)
    } else if (node.type === 'AssignmentExpression') {
      const adds = (node.operator === '+=' || node.operator === '-=') && isNumber(node.right, known)
      if (!adds) addNames(node.left, others)
    } else if (node.type === 'ForInStatement' || node.type === 'ForOfStatement') {
      addNames(node.left, others)
    } else if (node.type === 'CatchClause') {
      if (node.param) addNames(node.param, others)
    } else if (
      node.type === 'FunctionExpression' ||
      node.type === 'FunctionDeclaration' ||
      node.type === 'ArrowFunctionExpression'
    ) {
      for (const param of node.params) addNames(param, others)
      if (node.id) addNames(node.id, others)
    } else if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') {
      if (node.id) addNames(node.id, others)
    }
    if (node.type === 'ThisExpression' || (node.type === 'Identifier' && node.name === 'globalThis')) hasGlobals = true
    for (const child of childrenOf(node)) visit(child)
  }
  visit(tree)
  // any name may get any value through the global object
  return hasGlobals ? known : new Set([...numbers].filter((name) => !others.has(name)))
}

function isNumber(wrapped: Node, numbers: ReadonlySet<string>): boolean {
  const node = wrapped as AnyNode
  if (node.type === 'Literal') return typeof node.value === 'number'
  if (node.type === 'Identifier') return numbers.has(node.name)
  return node.type === 'UnaryExpression' && node.operator === '-' && isNumber(node.argument, numbers)
}

function addNames(node: Node, names: Set<string>): void {
  const one = node as AnyNode
  if (one.type === 'Identifier') names.add(one.name)
  for (const child of childrenOf(one)) addNames(child, names)
}
