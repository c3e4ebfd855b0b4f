/** Finds the free names in a piece of JavaScript, which refer to something outside. */
import type { AnyNode, Identifier, Node } from 'acorn'
import { childrenOf } from './syntax-tree.ts'

export interface FreeName {
  readonly node: Identifier
  /** the nodes around the name, nearest last */
  readonly around: readonly AnyNode[]
  readonly isTarget: boolean
}

type Names = ReadonlySet<string>

export function freeNames(tree: Node): readonly FreeName[] {
  const found: FreeName[] = []
  const visit = (descendant: Node, scopes: readonly Names[], around: readonly AnyNode[]): void => {
    const node = descendant as AnyNode
    if (node.type === 'Identifier') {
      if (isUse(node, around) && !scopes.some((scope) => scope.has(node.name))) {
        found.push({ node, around, isTarget: isTarget(node, around) })
      }
      return
    }
    const declared = namesIn(node)
    const inner = declared.size > 0 ? [...scopes, declared] : scopes
    const path = [...around, node]
    for (const child of childrenOf(node)) visit(child, inner, path)
  }
  visit(tree, [], [])
  const seen = new Set<number>()
  return found.filter(({ node }) => !seen.has(node.start) && seen.add(node.start))
}

/** Whether an identifier is a value, and not a key, label or declaration. */
function isUse(node: Identifier, around: readonly AnyNode[]): boolean {
  const parent = around.at(-1)
  switch (parent?.type) {
    case 'MemberExpression':
      return parent.object === node || parent.computed
    case 'Property':
      return parent.value === node || parent.computed
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return parent.value === node || parent.computed
    case 'LabeledStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
      return false
    default:
      return true
  }
}

function isTarget(node: Identifier, around: readonly AnyNode[]): boolean {
  let child: Node = node
  for (const parent of around.toReversed()) {
    if (parent.type === 'AssignmentExpression') return parent.left === child
    if (parent.type === 'UpdateExpression') return true
    if (parent.type === 'ForInStatement' || parent.type === 'ForOfStatement') return parent.left === child
    const isPattern = ['ArrayPattern', 'ObjectPattern', 'Property', 'RestElement', 'ParenthesizedExpression']
    if (!isPattern.includes(parent.type) && !(parent.type === 'AssignmentPattern' && parent.left === child))
      return false
    child = parent
  }
  return false
}

function namesIn(node: AnyNode): Names {
  const names = new Set<string>()
  switch (node.type) {
    case 'FunctionExpression':
    case 'FunctionDeclaration':
    case 'ArrowFunctionExpression':
      for (const param of node.params) addPattern(param, names)
      if (node.id) names.add(node.id.name)
      if (node.type !== 'ArrowFunctionExpression') names.add('arguments')
      addVars(node.body, names)
      break
    case 'Program':
    case 'BlockStatement':
    case 'StaticBlock':
      for (const statement of node.body) addLexical(statement, names)
      break
    case 'SwitchStatement':
      for (const one of node.cases) for (const statement of one.consequent) addLexical(statement, names)
      break
    case 'ForStatement':
      if (node.init) addLexical(node.init, names)
      break
    case 'ForInStatement':
    case 'ForOfStatement':
      addLexical(node.left, names)
      break
    case 'CatchClause':
      if (node.param) addPattern(node.param, names)
      break
    case 'ClassExpression':
    case 'ClassDeclaration':
      if (node.id) names.add(node.id.name)
      break
    default:
  }
  return names
}

function addLexical(declaration: Node, names: Set<string>): void {
  const node = declaration as AnyNode
  if (node.type === 'VariableDeclaration') for (const { id } of node.declarations) addPattern(id, names)
  else if ((node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') && node.id) names.add(node.id.name)
}

/** Collects names declared with `var`, which belong to the whole function wherever they stand. */
function addVars(declaration: Node, names: Set<string>): void {
  const node = declaration as AnyNode
  if (node.type === 'VariableDeclaration' && node.kind === 'var') addLexical(node, names)
  if (node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression') return
  if (node.type === 'FunctionDeclaration') return addLexical(node, names)
  for (const child of childrenOf(node)) addVars(child, names)
}

function addPattern(pattern: Node, names: Set<string>): void {
  const node = pattern as AnyNode
  switch (node.type) {
    case 'Identifier':
      names.add(node.name)
      break
    case 'ArrayPattern':
      for (const element of node.elements) if (element) addPattern(element, names)
      break
    case 'ObjectPattern':
      for (const property of node.properties) {
        addPattern(property.type === 'RestElement' ? property : property.value, names)
      }
      break
    case 'RestElement':
      addPattern(node.argument, names)
      break
    case 'AssignmentPattern':
      addPattern(node.left, names)
      break
    default:
  }
}
