/** Maps names and chains of names in code to paths. */
import type { Expression, MemberExpression, Super } from 'acorn'
import type { LogicPath } from '../logic/run.ts'
import { withParts } from '../logic/variable.ts'
import { FORBIDDEN_KEYS } from '#kernel'
import { toPath, type Fault } from '../placeholders/path.ts'
import type { Root } from '../placeholders/scope.ts'
import { isMarked } from './source.ts'

/** A chain such as `nodes.a.rawData`, with its first name and the member expressions that follow. */
export interface Chain {
  readonly root: string
  readonly names: readonly string[]
}

export function memberName({ computed, property }: MemberExpression): string | undefined {
  if (!computed) return property.type === 'Identifier' ? property.name : undefined
  if (property.type !== 'Literal') return undefined
  const { value } = property
  if (typeof value === 'string' && isMarked(value)) return undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

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

/** Converts `META.$.<key>` to metadata of the node's resource. */
export function withMeta(chain: Chain): Chain {
  const { root, names } = chain
  return root === 'META' && names[0] === '$' ? { root: 'node', names: ['resource', 'meta', ...names.slice(1)] } : chain
}

/** Further names are read from the resulting value. 0 for a chain longer than the root allows. */
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

/** Returns the path of a root and its names. Secrets are rejected, since the value of an expression is visible. */
export function pathOf(root: Root, names: readonly string[]): { readonly path: LogicPath } | { readonly fault: Fault } {
  if (root === 'vault') {
    return {
      fault: {
        message: 'reads a secret, but the value of an expression is visible',
        suggestion: 'use ${vault.<KEY>} in a property that is sent, such as the headers of callURL',
      },
    }
  }
  const parsed = toPath([root, ...names])
  return 'fault' in parsed ? parsed : { path: withParts(parsed.path) }
}

export function messagePath(name: string): { readonly path: LogicPath } | { readonly fault: Fault } {
  if (FORBIDDEN_KEYS.has(name) || name in Object.prototype) {
    return { fault: { message: `"${name}" is not data`, suggestion: 'name a value of the message' } }
  }
  const parsed = toPath(['streamdata', name])
  return 'fault' in parsed ? parsed : { path: withParts(parsed.path) }
}
