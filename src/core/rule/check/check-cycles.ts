/** Checks that no node depends on itself. */
import type { Report } from './report.ts'
import type { PartialRule, RuleIndex } from './rule-index.ts'
import { at } from '#kernel'

interface Edge {
  readonly to: string
  readonly path: string
}

/**
 * Over parents and triggers together; a whole cycle for each edge that closes one. Returns the labels on the cycles.
 */
export function checkCycles(rule: PartialRule, index: RuleIndex, report: Report): ReadonlySet<string> {
  const edges = edgesOf(rule, index)
  const done = new Set<string>()
  const onCycle = new Set<string>()
  for (const label of index.nodes.keys()) {
    if (!done.has(label)) walk(label, edges, done, onCycle, report)
  }
  return onCycle
}

/** Searches depth first without recursion, since a chain may be as long as the document. */
function walk(
  start: string,
  edges: ReadonlyMap<string, readonly Edge[]>,
  done: Set<string>,
  onCycle: Set<string>,
  report: Report,
): void {
  const stack: { label: string; next: number }[] = [{ label: start, next: 0 }]
  const depthOf = new Map<string, number>([[start, 0]])
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const edge = edges.get(top.label)?.[top.next++]
    if (edge === undefined) {
      done.add(top.label)
      depthOf.delete(top.label)
      stack.pop()
      continue
    }
    const depth = depthOf.get(edge.to)
    if (depth !== undefined) {
      const cycle = stack.slice(depth).map(({ label }) => label)
      for (const label of cycle) onCycle.add(label)
      reportCycle([...cycle, edge.to], edge.path, report)
    } else if (!done.has(edge.to)) {
      depthOf.set(edge.to, stack.length)
      stack.push({ label: edge.to, next: 0 })
    }
  }
}

function reportCycle(labels: readonly string[], path: string, report: Report): void {
  const shownLabels = labels.length > 20 ? [...labels.slice(0, 10), '...', ...labels.slice(-9)] : labels
  report.error(
    'CYCLE',
    path,
    `the nodes trigger each other endlessly: ${shownLabels.join(' -> ')}`,
    'remove one of these triggers or parents',
  )
}

function edgesOf(rule: PartialRule, index: RuleIndex): ReadonlyMap<string, readonly Edge[]> {
  const edges = new Map<string, Edge[]>()
  const add = (from: string, edge: Edge): void => {
    const list = edges.get(from)
    if (list) list.push(edge)
    else edges.set(from, [edge])
  }
  for (const { label, path, node } of index.relations) {
    // of several nodes with the same label only the first is considered; the others were already reported
    if (index.nodes.get(label)?.path !== path) continue
    for (const parent of new Set(node.parentLabels)) {
      if (index.nodes.has(parent)) add(parent, { to: label, path: at(path, 'parentLabels') })
    }
  }
  rule.triggers?.forEach(({ sourceLabel = '', destinationLabel = '' }, i) => {
    const destination = index.nodes.get(destinationLabel)
    if (index.nodes.has(sourceLabel) && destination?.kind === 'sensor')
      add(sourceLabel, { to: destinationLabel, path: at('', 'triggers', i) })
  })
  return edges
}
