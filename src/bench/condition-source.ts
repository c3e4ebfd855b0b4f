/** Generates source text for simple conditions, as a programmer would write it. */
import { parseExpressionAt, type Expression } from 'acorn'

export interface ConditionSource {
  readonly source: string
  readonly parameters: readonly string[]
}

/** Returns undefined for conditions that call functions, read more than the message, or have another form. */
export function conditionSource(condition: unknown): ConditionSource | undefined {
  const parameters: string[] = []
  const slot = (name: string): string => {
    const known = parameters.indexOf(name)
    return `$${known === -1 ? parameters.push(name) - 1 : known}`
  }
  const source = typeof condition === 'string' ? ofText(condition, slot) : ofLogic(condition, slot)
  return source === undefined ? undefined : { source, parameters }
}

type Slot = (name: string) => string
type Written = string | undefined

const INFIX = new Set(['==', '===', '!=', '!==', '<', '<=', '>', '>=', '+', '-', '*', '/', '%'])
const LOGICAL: ReadonlyMap<string, string> = new Map([
  ['and', '&&'],
  ['or', '||'],
])

function ofLogic(logic: unknown, slot: Slot): Written {
  if (typeof logic !== 'object' || logic === null) return constant(logic)
  const [entry, ...more] = Object.entries(logic as Readonly<Record<string, unknown>>)
  if (Array.isArray(logic) || entry === undefined || more.length > 0) return undefined
  const [name, argument] = entry
  const operands: readonly unknown[] = Array.isArray(argument) ? argument : [argument]
  if (name === 'var') return typeof argument === 'string' && /^\w+$/.test(argument) ? slot(argument) : undefined
  const written = operands.map((operand) => ofLogic(operand, slot))
  if (written.includes(undefined)) return undefined
  if (name === '!' && written.length === 1) return `!(${written[0]})`
  const logical = LOGICAL.get(name)
  if (logical !== undefined) return `(${written.join(` ${logical} `)})`
  if ((name === '<' || name === '<=') && written.length === 3) {
    const [low, middle, high] = written
    return `(${low} ${name} ${middle} && ${middle} ${name} ${high})`
  }
  return INFIX.has(name) && written.length === 2 ? `(${written.join(` ${name} `)})` : undefined
}

function ofText(text: string, slot: Slot): Written {
  try {
    const tree = parseExpressionAt(text, 0, { ecmaVersion: 2022 })
    return text.slice(tree.end).trim() === '' ? ofTree(tree, slot) : undefined
  } catch {
    return undefined
  }
}

function ofTree(tree: Expression, slot: Slot): Written {
  switch (tree.type) {
    case 'Literal':
      return constant(tree.value)
    case 'Identifier':
      return /^\w+$/.test(tree.name) && tree.name !== 'now' && tree.name !== 'undefined' ? slot(tree.name) : undefined
    case 'ParenthesizedExpression':
      return ofTree(tree.expression, slot)
    case 'UnaryExpression': {
      const operand = ofTree(tree.argument, slot)
      return operand !== undefined && (tree.operator === '!' || tree.operator === '-')
        ? `${tree.operator}(${operand})`
        : undefined
    }
    case 'BinaryExpression':
    case 'LogicalExpression': {
      if (tree.left.type === 'PrivateIdentifier') return undefined
      const isKnown = INFIX.has(tree.operator) || tree.operator === '&&' || tree.operator === '||'
      const left = ofTree(tree.left, slot)
      const right = ofTree(tree.right, slot)
      return isKnown && left !== undefined && right !== undefined ? `(${left} ${tree.operator} ${right})` : undefined
    }
    default:
      return undefined
  }
}

function constant(value: unknown): Written {
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  return isPlain ? JSON.stringify(value) : undefined
}
