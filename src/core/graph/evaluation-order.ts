/**
 * Determines the fixed order in which an input evaluates the nodes of a rule.
 *
 * The stage of a root sensor is its `sequence`; any other node has the highest stage of the nodes that lead to it.
 *
 * ORDER-1 parents and sources of triggers come before what they lead to.
 * ORDER-2 a node that reads another of its stage follows it, unless that would close a cycle.
 * ORDER-3 without `parallel` each root sensor is its own stage, in the order of `sequence`, reads, declaration.
 */
import type {
  ActuatorNode,
  EvaluationOrder,
  EvaluationOrders,
  GateNode,
  GraphNode,
  SensorNode,
  TriggerEdge,
} from './graph.ts'

interface Nodes {
  readonly sensors: readonly SensorNode[]
  readonly gates: readonly GateNode[]
  readonly actuators: readonly ActuatorNode[]
}

export function idOf({ sensors, gates }: Nodes, node: GraphNode): number {
  return node.kind === 'actuator' ? sensors.length + gates.length + node.slot : node.index
}

export function evaluationOrders(graph: Nodes, triggers: readonly TriggerEdge[]): EvaluationOrders {
  const nodes: readonly GraphNode[] = [...graph.sensors, ...graph.gates, ...graph.actuators]
  const ids = new Map(nodes.map((node, id) => [node, id]))
  const idsOf = (list: readonly GraphNode[]): number[] => list.map((node) => ids.get(node) ?? 0)
  const leading = nodes.map((node) => (node.kind === 'gate' ? idsOf(node.parents) : []))
  for (const { source, destination } of triggers) leading[ids.get(destination) ?? 0]?.push(ids.get(source) ?? 0)
  const reads = readsOf(nodes, ids)
  const topological = linearized(nodes.length, leading)
  const orderWith = (stageOfRoot: (id: number) => number): EvaluationOrder => {
    const stages = highestOf(topological, leading, (id) => (isRoot(nodes[id]) ? stageOfRoot(id) : 1))
    const sameStage = (id: number, other: number): boolean => stages[id] === stages[other]
    const inStage = leading.map((before, id) => before.filter((other) => sameStage(id, other)))
    const readers = reads.map((read, id) => read.filter((other) => sameStage(id, other)))
    addReads(inStage, readers)
    const levels = nodes.map(() => 0)
    for (const id of linearized(nodes.length, inStage)) {
      for (const other of inStage[id] ?? []) levels[id] = Math.max(levels[id] ?? 0, (levels[other] ?? 0) + 1)
    }
    const sorted = [...ids.values()].sort((a, b) => by(stages, a, b) || by(levels, a, b) || a - b)
    const positions = new Int32Array(nodes.length)
    sorted.forEach((id, position) => (positions[id] = position))
    return { nodes: sorted.map((id) => nodes[id] as GraphNode), positions }
  }
  const sequenceOf = (id: number): number => (nodes[id] as SensorNode).sequence
  const parallel = orderWith(sequenceOf)
  const roots = parallel.nodes.filter((node) => isRoot(node))
  if (roots.length < 2) return { parallel, serial: parallel }
  const ranks = new Map(roots.map((root, rank) => [ids.get(root) ?? 0, rank + 1]))
  return { parallel, serial: orderWith((id) => ranks.get(id) ?? 1) }
}

function isRoot(node: GraphNode | undefined): boolean {
  return node?.kind === 'sensor' && !node.conditional
}

function by(numbers: readonly number[], a: number, b: number): number {
  return (numbers[a] ?? 0) - (numbers[b] ?? 0)
}

function readsOf(nodes: readonly GraphNode[], ids: ReadonlyMap<GraphNode, number>): number[][] {
  const byLabel = new Map(nodes.map((node) => [node.label, ids.get(node) ?? 0]))
  return nodes.map((node, id) => {
    if (node.kind === 'gate') return []
    const read = new Set<number>()
    for (const { root, segments } of node.call.uses) {
      const other = root === 'nodes' ? byLabel.get(segments[0] ?? '') : undefined
      if (other !== undefined && other !== id && nodes[other]?.kind !== 'actuator') read.add(other)
    }
    return [...read]
  })
}

/** Returns a topological order; cycles were rejected before. */
function linearized(count: number, before: readonly (readonly number[])[]): readonly number[] {
  const missing = new Int32Array(count)
  const after: number[][] = Array.from({ length: count }, () => [])
  before.forEach((list, id) => {
    missing[id] = list.length
    for (const other of list) after[other]?.push(id)
  })
  const done: number[] = []
  for (let id = 0; id < count; id++) if (missing[id] === 0) done.push(id)
  for (const id of done) {
    for (const next of after[id] ?? []) {
      missing[next] = (missing[next] ?? 0) - 1
      if (missing[next] === 0) done.push(next)
    }
  }
  return done
}

function highestOf(
  topological: readonly number[],
  leading: readonly (readonly number[])[],
  declared: (id: number) => number,
): readonly number[] {
  const highest = leading.map(() => 1)
  for (const id of topological) {
    const before = leading[id] ?? []
    highest[id] = before.length === 0 ? declared(id) : Math.max(...before.map((other) => highest[other] ?? 1))
  }
  return highest
}

/** Adds reads to the order one by one in order of declaration, skipping reads that would close a cycle. */
function addReads(before: number[][], reads: readonly (readonly number[])[]): void {
  reads.forEach((list, reader) => {
    for (const read of list) if (!isReachable(before, read, reader)) before[reader]?.push(read)
  })
}

function isReachable(before: readonly (readonly number[])[], node: number, other: number): boolean {
  const seen = new Set([node])
  for (const one of seen) {
    if (one === other) return true
    for (const earlier of before[one] ?? []) seen.add(earlier)
  }
  return false
}
