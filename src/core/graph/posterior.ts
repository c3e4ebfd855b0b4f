/** Computes the exact probability of a gate whose sensors are partly unobserved, for display only. */
import { AppError } from '#kernel'
import { TRUE, UNKNOWN, type GateNode, type ObservableNode, type SensorNode } from './graph.ts'
import { nodesBehind } from './behind.ts'
import { decideCount, type HasState } from './relations.ts'

const MAX_ASSIGNMENTS = 1 << 20

/** Returns probabilities in the order of the node's states. Throws `TOO_LARGE` beyond a million cases. */
export function posterior(node: ObservableNode, nodes: readonly HasState[]): readonly number[] {
  if (isLeaf(node)) return distribution(node, stateOf(node, nodes))
  const shared = sharedSensors(node, nodes)
  const cases = shared.reduce((product, sensor) => product * sensor.states.length, 1)
  if (cases > MAX_ASSIGNMENTS) {
    throw new AppError(
      'TOO_LARGE',
      `the probability of ${node.label} depends on ${shared.length} unobserved sensors that several gates share: ${cases} cases, more than the limit of ${MAX_ASSIGNMENTS}`,
    )
  }
  let sum = 0
  for (let number = 0; number < cases; number++) {
    const known = new Map<ObservableNode, readonly number[]>()
    let rest = number
    for (const sensor of shared) {
      known.set(sensor, distribution(sensor, rest % sensor.states.length))
      rest = Math.floor(rest / sensor.states.length)
    }
    sum += probabilityOfTrue(node, nodes, known)
  }
  const probability = sum / cases
  return [probability, 1 - probability]
}

/** Returns whether a state is independent of other nodes; a relation over a group depends on its members instead. */
function isLeaf(node: ObservableNode): node is SensorNode | (GateNode & { readonly counts: object }) {
  return node.kind === 'sensor' || node.counts !== undefined
}

function distribution(sensor: ObservableNode, state: number): readonly number[] {
  if (state === UNKNOWN) return sensor.states.map(() => 1 / sensor.states.length)
  return sensor.states.map((_, index) => (index === state ? 1 : 0))
}

function stateOf(node: ObservableNode, nodes: readonly HasState[]): number {
  return nodes[node.index]?.state ?? UNKNOWN
}

/** Returns the unobserved sensors on which some gate depends through more than one of its parents. */
function sharedSensors(top: GateNode, nodes: readonly HasState[]): readonly SensorNode[] {
  const open = new Map<ObservableNode, ReadonlySet<SensorNode>>()
  const shared = new Set<SensorNode>()
  for (const node of nodesBehind(top)) {
    if (node.kind === 'sensor') {
      open.set(node, stateOf(node, nodes) === UNKNOWN ? new Set([node]) : new Set())
      continue
    }
    if (isLeaf(node)) {
      open.set(node, new Set())
      continue
    }
    const all = new Set<SensorNode>()
    for (const parent of node.parents) {
      for (const sensor of open.get(parent) ?? []) {
        if (all.has(sensor)) shared.add(sensor)
        all.add(sensor)
      }
    }
    open.set(node, all)
  }
  return [...shared]
}

function probabilityOfTrue(
  top: GateNode,
  nodes: readonly HasState[],
  known: Map<ObservableNode, readonly number[]>,
): number {
  for (const node of nodesBehind(top)) {
    if (known.has(node)) continue
    if (isLeaf(node)) known.set(node, distribution(node, stateOf(node, nodes)))
    else {
      const probability = ofGate(node, known)
      known.set(node, [probability, 1 - probability])
    }
  }
  return known.get(top)?.[TRUE] ?? 0
}

function ofGate(gate: GateNode, known: ReadonlyMap<ObservableNode, readonly number[]>): number {
  const ofRow = (row: readonly number[]) => row.map((state, i) => ofParent(gate, i, state, known))
  const all = (row: readonly number[]) => ofRow(row).reduce((product, one) => product * one, 1)
  const first = gate.rows[0] ?? []
  if (gate.type === 'AND') return all(first)
  if (gate.type === 'NAND') return 1 - all(first)
  if (gate.type === 'OR') return 1 - ofRow(first).reduce((product, one) => product * (1 - one), 1)
  if (gate.limits !== undefined) return ofCount(gate, ofRow(first))
  return gate.rows.reduce((sum, row) => sum + all(row), 0)
}

/** Sums the probabilities of the numbers of parents that the limits allow. */
function ofCount(gate: GateNode, probabilities: readonly number[]): number {
  let byCount = [1]
  for (const one of probabilities)
    byCount = [...byCount, 0].map((rest, n) => rest * (1 - one) + (byCount[n - 1] ?? 0) * one)
  const all = probabilities.length
  return byCount.reduce((sum, one, n) => (decideCount(gate, n, n, all) === TRUE ? sum + one : sum), 0)
}

function ofParent(
  gate: GateNode,
  index: number,
  state: number,
  known: ReadonlyMap<ObservableNode, readonly number[]>,
): number {
  const parent = gate.parents[index]
  return parent === undefined ? 0 : (known.get(parent)?.[state] ?? 0)
}
