/** Explains why a destination last fired, and what keeps each trigger into it from firing now. */
import { AppError } from '#kernel'
import type { Why } from '../engine/events.ts'
import {
  ANY,
  type DestinationNode,
  type ObservableNode,
  type SensorNode,
  type TriggerEdge,
  UNKNOWN,
} from '../graph/graph.ts'
import { edgeBits, isUnconditional, match } from './fire.ts'
import { smallestChange } from './needs.ts'
import type { ReadingCounts } from './readings/readings.ts'
import type { TaskModel, TaskRun } from './run.ts'
import { type Destination, destinationState, type Observed, observedState, sensorState, stateName } from './state.ts'
import { buildWhy } from './why.ts'

export interface Explanation {
  node: string
  time: number
  /** while an earlier input is processed: the explanation is as of its time `since` */
  behind?: { since: number; inputs: number }
  fired: { time: number; why: Why } | null
  triggers: TriggerExplanation[]
  /** sensors of the task that nothing runs and for which no state was pushed; absent when none */
  neverRun?: { node: string; message: string }[]
  /** counts of readings of this run that arrived out of order; absent when none */
  readings?: ReadingCounts
}

export interface TriggerExplanation {
  source: string
  condition: string
  /** reasons why it does not fire; empty: it fired when its source was last evaluated */
  blocked: Obstacle[]
  /**
   * Fewest sensor states that would have fired it. Empty: something else prevents it. Null: no states can fire it at
   * once.
   */
  needs: { node: string; state: string }[] | null
}

export interface Obstacle {
  reason: 'state' | 'unknown' | 'unchanged' | 'cool-down' | 'never executed' | 'error' | 'overlap' | 'stopped'
  node: string
  message: string
  since?: number
  until?: number
}

/** Explains an actuator, or a sensor with triggers. `NOT_FOUND` for anything else. */
export function explain(run: TaskRun, label: string, now: number): Explanation {
  const node = destinationOf(run, label)
  const { firing } = destinationState(run.state, node)
  const triggers = run.model.graph.triggers.filter((trigger) => trigger.destination === node)
  const neverRun = sensorsWithoutHope(run)
  return {
    node: label,
    time: now,
    ...(!run.state.isFree && { behind: { since: run.state.time, inputs: run.state.waiting.length } }),
    fired: firing && { time: firing.time, why: buildWhy(firing) },
    triggers: triggers.map((trigger) => ({
      source: trigger.source.label,
      condition: conditionText(trigger),
      // While inputs are waiting: as of the input being processed.
      blocked: obstacles(run, trigger, run.state.isFree ? now : run.state.time),
      needs: needsOf(run, trigger),
    })),
    ...(neverRun.length > 0 && { neverRun }),
    ...readingsOf(run),
  }
}

function readingsOf({ state: { readings } }: TaskRun): Pick<Explanation, 'readings'> {
  if (readings === null || Object.values(readings.counts).every((count) => count === 0)) return {}
  return { readings: { ...readings.counts } }
}

function sensorsWithoutHope(run: TaskRun): { node: string; message: string }[] {
  return run.model.graph.sensors.flatMap((sensor) => {
    if (sensorState(run.state, sensor).collectedTime !== -1) return []
    const why = whyNeverRun(sensor, run.model)
    return why === undefined ? [] : [{ node: sensor.label, message: `${sensor.label} never runs: ${why}` }]
  })
}

function destinationOf(run: TaskRun, label: string): DestinationNode {
  const { byLabel, triggers } = run.model.graph
  const node = byLabel.get(label)
  if (node !== undefined && node.kind !== 'gate') return node
  const destinations = [...new Set(triggers.map((trigger) => trigger.destination.label))].join(', ')
  const what = node === undefined ? `no node ${label}` : `${label} is a relation, which is never fired`
  throw new AppError('NOT_FOUND', `task ${run.model.id}: ${what}; triggers lead to ${destinations || 'nothing'}`)
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
    const message = `${label} fired and may not fire again within ${trigger.policyMs / 1000} s`
    found.push({ reason: 'cool-down', node: label, message, since: destination.firedAt, until: coolUntil })
  }
  const { held } = destination
  if (held?.trigger === trigger && held.reason === 'overlap') {
    const message = `${label} was still at work`
    found.push({ reason: 'overlap', node: label, message, since: held.time })
  }
  if (run.state.status !== 'running') {
    found.push({
      reason: 'stopped',
      node: label,
      message: `the task is ${run.state.status}`,
      ...since(run.state.finishedTime),
    })
  }
  return found
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
    const message = `${source.label} is ${state} since the last firing; it has to leave ${namesOf(source, begins)} first`
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
    if (node.kind === 'gate') return []
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

function needsOf(run: TaskRun, trigger: TriggerEdge): { node: string; state: string }[] | null {
  const { source } = trigger
  const observed = observedState(run.state, source)
  if (observed.state !== UNKNOWN && match(trigger, observed, edgeBits(run.state, trigger)) !== undefined) return []
  const wanted = wantedStates(run, trigger, observed)
  if (wanted.length === 0) return null
  const needs = smallestChange(source, wanted, run.state.observed, run.model.settings.gatesNeedFullObservation)
  return needs && needs.map(({ sensor, state }) => ({ node: sensor.label, state: stateName(sensor, state) ?? '' }))
}

/** Returns the states of the source that would fire the trigger at the next evaluation. */
function wantedStates(run: TaskRun, trigger: TriggerEdge, observed: Observed): number[] {
  const before = observed.state === UNKNOWN ? observed.memory : observed.state
  return trigger.source.states.flatMap((_, state) => {
    const next: Observed = { ...observed, state, previous: observed.state, before }
    return match(trigger, next, edgeBits(run.state, trigger)) === undefined ? [] : [state]
  })
}

/** Returns text that completes "t never runs: ..."; undefined if something runs it, or states are pushed to it. */
function whyNeverRun(sensor: SensorNode, { schedule }: Pick<TaskModel, 'schedule'>): string | undefined {
  if (sensor.conditional || sensor.pollingPeriod !== undefined || sensor.schedule !== undefined) return undefined
  const hasClock = schedule !== undefined
  if (sensor.onData || (sensor.onTick && hasClock)) return undefined
  const isBound = sensor.resource !== -1
  if (isBound && !sensor.onTick) return undefined
  const data = isBound ? 'its dataTrigger is false' : 'it has no resource'
  const bind = isBound ? 'leave dataTrigger out' : 'write "resource": "$" for the resource of the task'
  if (sensor.channel !== undefined) return `${data} and runs on the channel ${sensor.channel} of one; ${bind}`
  return hasClock
    ? `${data}, no trigger leads to it, and its tickTrigger is false; ${bind}, or leave tickTrigger out`
    : `${data}, no trigger leads to it, and neither it nor the task has a clock; ${bind}, or give it a pollingPeriod or a trigger`
}
