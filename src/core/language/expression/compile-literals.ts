/** List and record literals in expressions. */
import type { ArrayExpression, Expression, ObjectExpression } from 'acorn'
import { FORBIDDEN_KEYS } from '#kernel'
import type { Compiler } from './compiler.ts'
import { itemsOf } from './list-methods.ts'
import type { Side } from './operators.ts'
import { spend, unfit, type Frame, type Run } from './run.ts'
import type { Scope } from './scope.ts'
import { isMarked } from './source.ts'
import { keyOf } from './values.ts'

export function compileList(compiler: Compiler, node: ArrayExpression, scope: Scope | undefined): Side {
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

/** `{a: 1, [key]: 2, ...other}`; a field without a value is omitted, as in JSON. */
export function compileRecord(compiler: Compiler, node: ObjectExpression, scope: Scope | undefined): Side {
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
