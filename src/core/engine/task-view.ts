/** Builds the view of a task: its record, and the states and data of each node. */
import { nodesBehind } from '../graph/behind.ts'
import { UNKNOWN, type GraphNode, type ObservableNode } from '../graph/graph.ts'
import { posterior } from '../graph/posterior.ts'
import { health } from '../task/result.ts'
import type { GroupState } from '../task/members/group-state.ts'
import { actuatorState, sensorState, type NodeStates, type TaskStatus } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import type { NodeView, TaskInfo } from './api.ts'
import type { Prepared } from './prepared.ts'

interface Shown {
  readonly id: string
  readonly status: TaskStatus
  readonly createTime: number
  readonly prepared: Prepared
  readonly resolved: readonly string[]
  readonly error: string | undefined
}

export function taskInfo(task: Shown, state: TaskState | undefined): TaskInfo {
  const { name, settings, template, warnings, resource } = task.prepared
  return {
    id: task.id,
    name,
    status: task.status,
    type: settings.type,
    ...(template !== undefined && { template }),
    ...(resource !== undefined && { resource }),
    resourceIds: [...new Set(task.resolved)],
    createTime: task.createTime,
    ...time('startTime', state?.startTime),
    ...time('lastExecutionTime', state?.lastExecutionTime),
    ...time('finishedTime', state?.finishedTime),
    ...time('nextTick', state?.nextTickAt),
    skippedTicks: state?.skippedTicks ?? 0,
    invocationCount: state?.invocations ?? 0,
    health: state
      ? { ...health(state), dropped: state.dropped, ...state.readings?.counts }
      : { errorsCount: 0, errorsRate: 0, dropped: 0 },
    ...(state && waitingOf(state)),
    ...(task.error !== undefined && { error: task.error }),
    warnings: warnings.map((issue) => `${issue.path}: ${issue.message}`),
  }
}

function waitingOf(state: TaskState): Pick<TaskInfo, 'waiting'> {
  const effects = state.work?.effectQueues.behind ?? 0
  if (state.isFree && effects === 0) return {}
  return { waiting: { inputs: state.waiting.length, effects, ...(!state.isFree && { since: state.time }) } }
}

/** `groups`: the groups of the task; a node with one state per member shows the shares of the members. */
export function nodeView(
  node: GraphNode,
  state: NodeStates | undefined,
  groups: readonly GroupState[] = NO_GROUPS,
): NodeView {
  const group = groups[node.group]
  if (group !== undefined && node.kind !== 'actuator') return memberView(node, group)
  if (node.kind === 'actuator') {
    const actuator = state && actuatorState(state, node)
    const answer = actuator?.answer
    return {
      node: node.label,
      kind: node.kind,
      states: {},
      mostLikelyState: null,
      ...(answer && { rawData: answer, collectedTime: answer.collectedTime }),
      ...(actuator && errorOf(actuator)),
    }
  }
  const shares = posterior(node, state?.observed ?? [])
  const best = isObserved(node, state) ? shares.indexOf(Math.max(...shares)) : -1
  const view = {
    node: node.label,
    kind: node.kind,
    states: Object.fromEntries(node.states.map((name, i) => [name, shares[i] ?? 0])),
    mostLikelyState: best === -1 ? null : { state: node.states[best] ?? '', probability: shares[best] ?? 0 },
  }
  if (node.kind === 'gate' || state === undefined) return view
  const sensor = sensorState(state, node)
  return {
    ...view,
    ...(sensor.rawData && { rawData: sensor.rawData }),
    ...(sensor.collectedTime !== -1 && { collectedTime: sensor.collectedTime }),
    ...errorOf(sensor),
  }
}

const NO_GROUPS: readonly GroupState[] = []

function memberView(node: ObservableNode, { members, node: { sensors, gates } }: GroupState): NodeView {
  const counts = node.states.map(() => 0)
  for (const member of members.values()) {
    const observed = node.kind === 'sensor' ? member.sensors[sensors.indexOf(node)] : member.gates[gates.indexOf(node)]
    if (observed !== undefined && observed.state !== UNKNOWN) counts[observed.state] = (counts[observed.state] ?? 0) + 1
  }
  const known = counts.reduce((sum, count) => sum + count, 0)
  const shares = counts.map((count) => (known === 0 ? 1 / counts.length : count / known))
  const best = shares.indexOf(Math.max(...shares))
  return {
    node: node.label,
    kind: node.kind,
    states: Object.fromEntries(node.states.map((name, i) => [name, shares[i] ?? 0])),
    mostLikelyState: known === 0 ? null : { state: node.states[best] ?? '', probability: shares[best] ?? 0 },
    members: { count: members.size, known },
  }
}

/** Whether the node was observed; a gate counts as observed when a sensor behind it is. */
function isObserved(node: ObservableNode, state: NodeStates | undefined): boolean {
  const isKnown = ({ index }: ObservableNode): boolean => (state?.observed[index]?.state ?? UNKNOWN) !== UNKNOWN
  if (isKnown(node)) return true
  return node.kind === 'gate' && [...nodesBehind(node)].some((behind) => behind.kind === 'sensor' && isKnown(behind))
}

function errorOf(node: { error: { time: number; message: string } | null }): Pick<NodeView, 'error'> {
  return node.error ? { error: node.error } : {}
}

function time<K extends string>(key: K, value: number | undefined): { [P in K]?: number } {
  return value === undefined || value < 0 || !Number.isFinite(value) ? {} : ({ [key]: value } as { [P in K]?: number })
}
