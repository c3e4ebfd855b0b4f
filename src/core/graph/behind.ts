/** Finds the sensors and gates that the state of a node depends on. */
import type { ObservableNode } from './graph.ts'

export function nodesBehind(top: ObservableNode): readonly ObservableNode[] {
  if (top.kind === 'sensor') return [top]
  const found = new Set<ObservableNode>([top])
  for (const node of found) if (node.kind === 'gate') for (const parent of node.parents) found.add(parent)
  return [...found].toSorted((a, b) => a.index - b.index)
}
