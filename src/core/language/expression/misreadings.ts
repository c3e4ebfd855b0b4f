/** Rejects code that means something else in JavaScript than it seems to, and suggests the right form. */
import type { AnyNode, BinaryExpression, Node } from 'acorn'
import { childrenOf } from '../script/syntax-tree.ts'
import type { Problem } from './source.ts'
import { DAYS } from './word-functions.ts'

const COMPARING = new Set(['==', '===', '!=', '!==', '<', '<=', '>', '>=', 'in'])

/** Returns the problems in a tree; their `at` counts like the positions of the tree. */
export function misreadings(tree: Node): readonly Problem[] {
  const problems: Problem[] = []
  const visit = (inner: Node): void => {
    const node = inner as AnyNode
    if (node.type === 'BinaryExpression') problems.push(...misread(node))
    for (const child of childrenOf(node)) visit(child)
  }
  visit(tree)
  return problems
}

function misread({ left, right, operator, start }: BinaryExpression): readonly Problem[] {
  const problems: Problem[] = []
  if (operator === 'in' && left.type === 'UnaryExpression' && left.operator === '!') {
    const message = 'the ! applies only to the left side, not to the result of in'
    problems.push({ at: start, message, suggestion: 'write !(x in list)' })
  }
  if (operator === 'in' && isText(right)) {
    const message = 'the right side of in is a text'
    problems.push({ at: right.start, message, suggestion: 'write contains(text, part), or x in ["a", "b"]' })
  }
  const isDay = isWeekday(left) || isWeekday(right)
  if (isDay && COMPARING.has(operator) && (comparesNumber(left) || comparesNumber(right))) {
    const message = 'weekday returns the name of the day, but is compared with a number'
    problems.push({ at: start, message, suggestion: `write one of ${DAYS.map((day) => `"${day}"`).join(', ')}` })
  }
  return problems
}

function isText(node: Node): boolean {
  const one = bare(node)
  return one.type === 'TemplateLiteral' || (one.type === 'Literal' && typeof one.value === 'string')
}

function isWeekday(node: Node): boolean {
  const one = bare(node)
  return one.type === 'CallExpression' && one.callee.type === 'Identifier' && one.callee.name === 'weekday'
}

function comparesNumber(node: Node): boolean {
  const one = bare(node)
  if (one.type === 'ArrayExpression') return one.elements.some((element) => element && comparesNumber(element))
  return one.type === 'Literal' && typeof one.value === 'number'
}

function bare(node: Node): AnyNode {
  let one = node as AnyNode
  while (one.type === 'ParenthesizedExpression') one = one.expression
  return one
}
