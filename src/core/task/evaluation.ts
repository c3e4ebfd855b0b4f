/** Maintains the agenda of an evaluation: nodes that the input still has to visit, and nodes that it touched. */
import { idOf } from '../graph/evaluation-order.ts'
import type { EvaluationOrder, GateNode, GraphNode, ObservableNode, SensorNode } from '../graph/graph.ts'
import type { Origin } from './origin.ts'
import type { TaskRun } from './run.ts'
import type { Evaluation, Touch } from './state.ts'

/** Lists what an input runs: root sensors with their origins, and sensors with something due. */
export interface EvaluationContents {
  readonly selected?: ReadonlyMap<SensorNode, Origin>
  readonly due?: Iterable<SensorNode>
  /** relations that count members, with the origins of their decisions */
  readonly counting?: ReadonlyMap<GateNode, Origin>
  readonly invocation: number
}

export function beginEvaluation(
  run: TaskRun,
  { selected, due = [], counting, invocation }: EvaluationContents,
): Evaluation {
  const evaluation: Evaluation = {
    invocation,
    selected: new Map(selected),
    due: new Set(due),
    agenda: [],
    touched: new Map(),
    counting: new Map(counting),
  }
  for (const node of evaluation.selected.keys()) schedule(run, evaluation, node)
  for (const node of evaluation.due) schedule(run, evaluation, node)
  for (const gate of evaluation.counting.keys()) schedule(run, evaluation, gate)
  run.state.evaluation = evaluation
  return evaluation
}

/** Records that the input observed, evaluated or ran a node, and schedules the node's followers. */
export function touchNode(run: TaskRun, node: ObservableNode, touch: Touch): void {
  const { evaluation } = run.state
  if (evaluation === null) return
  evaluation.touched.set(node, touch)
  for (const follower of node.followers) {
    if (touch.isObserved || follower.kind !== 'gate') schedule(run, evaluation, follower)
  }
}

function schedule(run: TaskRun, { agenda }: Evaluation, node: GraphNode): void {
  const position = positionOf(run, node)
  let at = agenda.length
  while (at > 0 && (agenda[at - 1] ?? 0) > position) at--
  if (agenda[at - 1] !== position) agenda.splice(at, 0, position)
}

export function positionOf({ model }: TaskRun, node: GraphNode): number {
  return orderOf(model).positions[idOf(model.graph, node)] ?? -1
}

export function nodeAt({ model }: Pick<TaskRun, 'model'>, position: number): GraphNode {
  return orderOf(model).nodes[position] as GraphNode // positions come from the same order
}

function orderOf({ graph: { orders }, settings }: TaskRun['model']): EvaluationOrder {
  return settings.parallel ? orders.parallel : orders.serial
}

export function leaveOut({ state: { evaluation } }: TaskRun, which: (origin: Origin) => boolean): void {
  for (const [node, origin] of evaluation?.selected ?? []) if (which(origin)) evaluation?.selected.delete(node)
}
