/** Explains why a node last fired or has its state, and what keeps each trigger into it from firing now. */
import type { Why } from '../engine/events.ts'
import { ANY, type GateNode, type GraphNode, type ObservableNode, type TriggerEdge, UNKNOWN } from '../graph/graph.ts'
import { edgeBits, isUnconditional, match } from './fire.ts'
import { whyNeverRun } from './never-runs.ts'
import type { ReadingCounts } from './readings/readings.ts'
import type { TaskRun } from './run.ts'
import { type Destination, destinationState, type Observed, observedState, sensorState, stateName } from './state.ts'
import { type NodeState, type Ways, waysInto, waysToFire } from './ways.ts'
import { buildStateWhy, buildWhy } from './why.ts'

export interface Explanation {
  node: string
  kind: GraphNode['kind']
  time: number
  /** while an earlier input is processed: the explanation is as of its time `since` */
  behind?: { since: number; inputs: number }
  /** of a sensor or gate: its state, and what led to it */
  state?: StateExplanation
  fired: { time: number; why: Why } | null
  /** the triggers into the node; empty for a gate and for a sensor that no trigger runs */
  triggers: TriggerExplanation[]
  /** sensors of the task that nothing runs and for which no state was pushed; absent when none */
  neverRun?: { node: string; message: string }[]
  /** counts of readings of this run that arrived out of order; absent when none */
  readings?: ReadingCounts
}

/** The chain from the data to the state: sensors with their inputs, then gates, parents before children. */
export interface StateExplanation extends Pick<Why, 'sensors' | 'gates' | 'via'> {
  /** null: unknown */
  value: string | null
  /** when it reached that state; if unknown, when it lost the last one */
  since?: number
  /** why it is unknown, or does not follow the data */
  blocked: Obstacle[]
  /** of a gate: what would bring it into each state that it does not have */
  others?: OtherState[]
}

export interface OtherState extends Ways {
  state: string
}

export interface TriggerExplanation extends Ways {
  source: string
  condition: string
  /** reasons why it does not fire; empty: it fired when its source was last evaluated */
  blocked: Obstacle[]
  /**
   * The first of `ways`. Empty: something else prevents it. Null: no states can fire it at once; `ways` may have two
   * steps
   */
  needs: NodeState[] | null
}

export interface Obstacle {
  reason: 'state' | 'unknown' | 'unchanged' | 'cool-down' | 'never executed' | 'error' | 'overlap' | 'stopped'
  node: string
  message: string
  since?: number
  until?: number
}

export function explain(run: TaskRun, node: GraphNode, now: number): Explanation {
  const firing = node.kind === 'gate' ? null : destinationState(run.state, node).firing
  const triggers = run.model.graph.triggers.filter((trigger) => trigger.destination === node)
  const neverRun = sensorsThatNeverRun(run)
  return {
    node: node.label,
    kind: node.kind,
    time: now,
    ...(!run.state.isFree && { behind: { since: run.state.time, inputs: run.state.waiting.length } }),
    ...(node.kind !== 'actuator' && { state: stateOf(run, node) }),
    fired: firing && { time: firing.time, why: buildWhy(firing) },
    // While inputs are waiting: as of the input being processed.
    triggers: triggers.map((trigger) => triggerOf(run, trigger, run.state.isFree ? now : run.state.time)),
    ...(neverRun.length > 0 && { neverRun }),
    ...readingsOf(run),
  }
}

function triggerOf(run: TaskRun, trigger: TriggerEdge, now: number): TriggerExplanation {
  const found = waysToFire(run, trigger)
  const [first] = found.ways
  const isMatched = match(trigger, observedState(run.state, trigger.source), edgeBits(run.state, trigger)) !== undefined
  return {
    source: trigger.source.label,
    condition: conditionText(trigger),
    blocked: obstacles(run, trigger, now),
    needs: isMatched ? [] : first === undefined || first.then !== undefined ? null : first.states,
    ...found,
  }
}

function stateOf(run: TaskRun, node: ObservableNode): StateExplanation {
  const observed = observedState(run.state, node)
  const value = stateName(node, observed.state)
  return {
    value,
    ...since(value === null ? observed.lost : observed.since),
    ...buildStateWhy(run.state, node),
    blocked: [...(value === null ? unknownSources(run, node) : errorOf(run, node)), ...stoppedTask(run, node.label)],
    ...(node.kind === 'gate' && {
      others: node.states.flatMap((state, i) => (i === observed.state ? [] : [{ state, ...waysInto(run, node, i) }])),
    }),
  }
}

function readingsOf({ state: { readings } }: TaskRun): Pick<Explanation, 'readings'> {
  if (readings === null || Object.values(readings.counts).every((count) => count === 0)) return {}
  return { readings: { ...readings.counts } }
}

function sensorsThatNeverRun(run: TaskRun): { node: string; message: string }[] {
  return run.model.graph.sensors.flatMap((sensor) => {
    if (sensorState(run.state, sensor).collectedTime !== -1) return []
    const why = whyNeverRun(sensor, run.model)
    return why === undefined ? [] : [{ node: sensor.label, message: `${sensor.label} never runs: ${why}` }]
  })
}

export function conditionText(trigger: TriggerEdge): string {
  const { source, states, change, begins, ends } = trigger
  const parts: string[] = []
  if (states) parts.push(`${source.label} is ${namesOf(source, states)}`)
  if (change)
    parts.push(`${source.label} changes from ${endText(source, change.from)} to ${endText(source, change.to)}`)
  if (begins) parts.push(`${source.label} enters ${namesOf(source, begins)}`)
  if (ends) parts.push(`${source.label} leaves ${namesOf(source, ends)}`)
  return parts.length > 0 ? parts.join(', or ') : `${source.label} ran`
}

function namesOf({ states }: ObservableNode, set: readonly boolean[]): string {
  return states.filter((_, i) => set[i]).join(' or ')
}

function endText(source: ObservableNode, state: number): string {
  return state === ANY ? '*' : (stateName(source, state) ?? '?')
}

function obstacles(run: TaskRun, trigger: TriggerEdge, now: number): Obstacle[] {
  const found = [...sourceObstacles(run, trigger)]
  const destination = destinationState(run.state, trigger.destination)
  const { label } = trigger.destination
  const coolUntil = destination.firedAt + trigger.policyMs
  if (now < coolUntil && !firedNow(destination, trigger, now)) {
    const message = `${label} fired and does not fire again within ${trigger.policyMs / 1000} s`
    found.push({ reason: 'cool-down', node: label, message, since: destination.firedAt, until: coolUntil })
  }
  const { held } = destination
  if (held?.trigger === trigger && held.reason === 'overlap') {
    const message = `the earlier work of ${label} was unfinished`
    found.push({ reason: 'overlap', node: label, message, since: held.time })
  }
  return [...found, ...stoppedTask(run, label)]
}

function stoppedTask({ state }: TaskRun, node: string): Obstacle[] {
  if (state.status === 'running') return []
  return [{ reason: 'stopped', node, message: `the task is ${state.status}`, ...since(state.finishedTime) }]
}

/** Whether the trigger fired at this very time, which began the cool-down; then the cool-down did not hold it back. */
function firedNow({ firing, held }: Destination, trigger: TriggerEdge, now: number): boolean {
  return firing?.time === now && firing.trigger === trigger && held?.trigger !== trigger
}

function sourceObstacles(run: TaskRun, trigger: TriggerEdge): Obstacle[] {
  const { source } = trigger
  const observed = observedState(run.state, source)
  if (isUnconditional(trigger) && source.kind === 'sensor') {
    return sensorState(run.state, source).collectedTime === -1 ? unknownSources(run, source) : errorOf(run, source)
  }
  if (observed.state === UNKNOWN) return unknownSources(run, source)
  if (match(trigger, observed, edgeBits(run.state, trigger)) !== undefined) return errorOf(run, source)
  return [...errorOf(run, source), mismatch(run, trigger, observed)]
}

function mismatch(run: TaskRun, trigger: TriggerEdge, observed: Observed): Obstacle {
  const { source, change, begins } = trigger
  const state = stateName(source, observed.state) ?? ''
  const about = { node: source.label, ...since(observed.since) }
  if (begins?.[observed.state] === true) {
    const message = `${source.label} is ${state} since the last firing; it must leave ${namesOf(source, begins)} first`
    return { reason: 'unchanged', ...about, message }
  }
  const arrived = change !== undefined && (change.to === ANY || change.to === observed.state)
  if (arrived && observed.before === observed.state) {
    return { reason: 'unchanged', ...about, message: `${source.label} is ${state} as before; it fires on a change` }
  }
  if (arrived) {
    const from = stateName(source, observed.before) ?? 'unknown'
    return {
      reason: 'state',
      ...about,
      message: `${source.label} came from ${from}, not from ${endText(source, change.from)}`,
    }
  }
  return { reason: 'state', ...about, message: `${source.label} is ${state}${rowText(run, source)}` }
}

function rowText(run: TaskRun, source: ObservableNode): string {
  if (source.kind !== 'gate') return ''
  const row = source.parents.map((parent) => {
    const state = stateName(parent, observedState(run.state, parent).state)
    return `${parent.label} ${state === null ? 'unknown' : `= ${state}`}`
  })
  return ` (${source.type} of ${row.join(', ')})`
}

function unknownSources(run: TaskRun, source: ObservableNode): Obstacle[] {
  const behind = new Set<ObservableNode>([source])
  for (const node of behind) {
    if (node.kind === 'gate') for (const parent of node.parents) if (isUnknown(run, parent)) behind.add(parent)
  }
  return [...behind].flatMap((node): Obstacle[] => {
    if (node.kind === 'gate') return emptyGroup(run, node)
    const sensor = sensorState(run.state, node)
    if (sensor.error) return errorOf(run, node)
    if (sensor.collectedTime === -1) {
      const why = whyNeverRun(node, run.model)
      return [
        {
          reason: 'never executed',
          node: node.label,
          message: why === undefined ? `${node.label} has not run yet` : `${node.label} never runs: ${why}`,
          ...since(run.state.startTime),
        },
      ]
    }
    return [{ reason: 'unknown', node: node.label, message: `${node.label} has no state`, ...since(sensor.lost) }]
  })
}

function emptyGroup({ state: { groups } }: TaskRun, { label, counts }: GateNode): Obstacle[] {
  const group = counts && groups[counts.group]
  if (group === undefined || group.members.size > 0) return []
  return [{ reason: 'unknown', node: label, message: `the group ${group.node.key} has no members` }]
}

function isUnknown(run: TaskRun, node: ObservableNode): boolean {
  return observedState(run.state, node).state === UNKNOWN
}

function errorOf(run: TaskRun, source: ObservableNode): Obstacle[] {
  if (source.kind === 'gate') return []
  const { error } = sensorState(run.state, source)
  return error
    ? [{ reason: 'error', node: source.label, message: `${source.label} failed: ${error.message}`, since: error.time }]
    : []
}

function since(time: number): { since?: number } {
  return time < 0 ? {} : { since: time }
}
