/** Traverses syntax trees. */
import type { Node } from 'acorn'

export function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = []
  for (const value of Object.values(node) as readonly unknown[]) {
    if (isNode(value)) children.push(value)
    else if (Array.isArray(value)) for (const item of value as readonly unknown[]) if (isNode(item)) children.push(item)
  }
  return children.sort((a, b) => a.start - b.start)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}
