/** Compiles member reads in expressions: paths of the engine, constants, and own fields of values. */
import type { ChainExpression, MemberExpression } from 'acorn'
import { FORBIDDEN_KEYS } from '#kernel'
import { isRoot } from '../placeholders/path.ts'
import type { Compiler } from './compiler.ts'
import { CONSTANTS, LIBRARIES } from './functions.ts'
import { chainOf, lookupLength, memberName, pathOf, withMeta } from './names.ts'
import type { Side } from './operators.ts'
import { findName, type Scope } from './scope.ts'
import { member } from './values.ts'

/** Result of a chain after a `?.` on a missing value. Never leaves the chain. */
export const NOTHING: unique symbol = Symbol('nothing')

/** Compiles `a.b` and `a[b]`: a path of the engine, a constant such as Math.PI, or an own field of a value. */
export function compileMember(compiler: Compiler, node: MemberExpression, scope: Scope | undefined): Side {
  const read = rooted(compiler, node, scope)
  if (read) return read
  const { object, property, optional } = node
  const of = compiler.compile(object, scope)
  const name = memberName(node)
  if (name !== undefined && FORBIDDEN_KEYS.has(name)) {
    return compiler.wrong(property, `"${name}" is a reserved name`, 'use a field of the data itself')
  }
  if (property.type === 'PrivateIdentifier') return compiler.refuse(property)
  const key = name === undefined ? compiler.compile(property, scope).code : () => name
  const { code, label } = of
  return compiler.side(node, (run, frame) => {
    const value = code(run, frame)
    if (value === NOTHING || (optional && (value === undefined || value === null))) return NOTHING
    return member(value, name ?? key(run, frame), label)
  })
}

export function compileChain(compiler: Compiler, node: ChainExpression, scope: Scope | undefined): Side {
  const { code } = compiler.compile(node.expression, scope)
  return compiler.side(node, (run, frame) => {
    const value = code(run, frame)
    return value === NOTHING ? undefined : value
  })
}

function rooted(compiler: Compiler, node: MemberExpression, scope: Scope | undefined): Side | undefined {
  let at: MemberExpression = node
  while (at.object.type === 'MemberExpression') at = at.object
  if (at.object.type !== 'Identifier') return undefined
  if (findName(scope, at.object.name)) return undefined
  const written = chainOf(node)
  const chain = written && withMeta(written)
  const root = chain?.root ?? at.object.name
  if (LIBRARIES.has(root)) {
    const whole = chain ? [root, ...chain.names].join('.') : root
    if (CONSTANTS.has(whole)) return compiler.constant(node, CONSTANTS.get(whole))
    if (chain && chain.names.length > 1) return undefined
    return compiler.wrong(
      node,
      `"${compiler.label(node)}" is not a value`,
      `call it, or write streamdata.${root} for data`,
    )
  }
  if (!isRoot(root)) return undefined
  if (!chain) {
    // a computed name below a value is an ordinary read; a computed name within the path would make the read dynamic
    const inner = at === node ? undefined : chainOf(node.object)
    if (at !== node && (!inner || 'path' in pathOf(root, inner.names))) return undefined
    return compiler.wrong(
      node,
      `"${compiler.label(node)}" computes what it reads`,
      'write the path literally; use ?: to choose between paths',
    )
  }
  const length = lookupLength(root, chain.names)
  if (chain.names.length > length) return undefined
  return compiler.read(node, pathOf(root, chain.names))
}
