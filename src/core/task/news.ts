/**
 * Tracks which data of the nodes that a sensor reads is new to it.
 *
 * NEWS-1 data of another node is new to a reader exactly until the reader succeeds in a call that could see the data.
 */
import { UNKNOWN, type GraphNode, type SensorNode } from '../graph/graph.ts'
import type { TaskRun } from './run.ts'
import { actuatorState, observedState, sensorState, type Execution, type NodeStates } from './state.ts'

export const NO_NEWS: readonly string[] = []

export function markNew({ state }: TaskRun, node: GraphNode): void {
  for (const reader of node.readers) {
    const sensor = sensorState(state, reader)
    if (!sensor.news.includes(node.label)) sensor.news = [...sensor.news, node.label]
  }
}

export function markRead({ state }: TaskRun, { node, news }: Execution): void {
  if (news.length === 0 || node.kind !== 'sensor') return
  const sensor = sensorState(state, node)
  sensor.news = sensor.news.filter((label) => !news.includes(label))
}

export function isNewOf({ node, news }: Execution, label: string): boolean {
  return node.kind === 'actuator' || news.includes(label) || !node.reads.some((read) => read.label === label)
}

export function markAllNew({ state }: TaskRun, node: SensorNode): void {
  const known = node.reads.filter((read) => hasData(state, read))
  if (known.length > 0) sensorState(state, node).news = known.map(({ label }) => label)
}

function hasData(state: NodeStates, node: GraphNode): boolean {
  if (node.kind === 'sensor') return sensorState(state, node).collectedTime !== -1
  if (node.kind === 'gate') return observedState(state, node).state !== UNKNOWN
  return actuatorState(state, node).answer !== null
}
