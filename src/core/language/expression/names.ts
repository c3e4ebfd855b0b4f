/** Which name or chain of names in the code reads which path. */
import type { Expression, MemberExpression, Super } from 'acorn'
import type { LogicPath } from '../logic/run.ts'
import { withParts } from '../logic/variable.ts'
import { FORBIDDEN_KEYS } from '#kernel'
import { toPath, type Fault } from '../placeholders/path.ts'
import type { Root } from '../placeholders/scope.ts'
import { isMarked } from './source.ts'

/** A chain such as `nodes.a.rawData` down to its first name, and the member expressions on the way. */
export interface Chain {
  readonly root: string
  readonly names: readonly string[]
}

/** The fixed name that a member expression asks for; undefined when it is computed. */
export function memberName({ computed, property }: MemberExpression): string | undefined {
  if (!computed) return property.type === 'Identifier' ? property.name : undefined
  if (property.type !== 'Literal') return undefined
  const { value } = property
  if (typeof value === 'string' && isMarked(value)) return undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** The chain of fixed names that ends with this node; undefined when it is anything else. */
export function chainOf(node: Expression | Super): Chain | undefined {
  const names: string[] = []
  let at: Expression | Super = node
  while (at.type === 'MemberExpression') {
    const name = memberName(at)
    if (name === undefined) return undefined
    names.push(name)
    at = at.object
  }
  return at.type === 'Identifier' ? { root: at.name, names: names.reverse() } : undefined
}

/** `META.$.<key>` is metadata of the node's resource here as in every property; any other chain is as it is written. */
export function withMeta(chain: Chain): Chain {
  const { root, names } = chain
  return root === 'META' && names[0] === '$' ? { root: 'node', names: ['resource', 'meta', ...names.slice(1)] } : chain
}

/**
 * How many names after the root the engine reads by itself; everything further is read from that value. 0 when the
 * chain is longer than what it asks for.
 */
export function lookupLength(root: Root, names: readonly string[]): number {
  switch (root) {
    case 'nodes':
      return names[1] === 'rawData' ? 3 : 2
    case 'task':
    case 'node':
      return names[0] === 'resource' ? 3 : 1
    case 'streamdata':
    case 'variables':
    case 'loop':
    case 'vault':
      return 1
  }
}

/** The path that a root and its names read. Secrets are refused: what an expression gives is shown to everybody. */
export function pathOf(root: Root, names: readonly string[]): { readonly path: LogicPath } | { readonly fault: Fault } {
  if (root === 'vault') {
    return {
      fault: {
        message: 'reads a secret, and what an expression gives is not secret',
        suggestion: 'use ${vault.<KEY>} in a property that is sent, such as the headers of callURL',
      },
    }
  }
  const parsed = toPath([root, ...names])
  return 'fault' in parsed ? parsed : { path: withParts(parsed.path) }
}

/** The path that a bare name reads: a value of the message. */
export function messagePath(name: string): { readonly path: LogicPath } | { readonly fault: Fault } {
  if (FORBIDDEN_KEYS.has(name) || name in Object.prototype) {
    return { fault: { message: `"${name}" is no data`, suggestion: 'name a value of the message' } }
  }
  const parsed = toPath(['streamdata', name])
  return 'fault' in parsed ? parsed : { path: withParts(parsed.path) }
}
