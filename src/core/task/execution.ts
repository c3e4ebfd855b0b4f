/** Manages the life of one execution, from the queue to its end. */
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import { NO_NEWS } from './news.ts'
import type { Origin } from './origin.ts'
import { loadedFor } from './members/load.ts'
import { lagOf, type TaskRun } from './run.ts'
import { NOT_PLACED, sensorState, type Execution, type Link, type SensorState } from './state.ts'
import { withCarried } from './stream.ts'

export function newExecution(
  node: SensorNode | ActuatorNode,
  origin: Origin,
  id = 0,
  invocation = 0,
  via: Link | null = null,
  input = 0,
  index = 0,
  member: string | null = null,
): Execution {
  return {
    id,
    node,
    invocation,
    origin,
    via,
    member,
    input,
    indexInInput: index,
    phase: 'queued',
    wakeAt: Number.POSITIVE_INFINITY,
    wakeLag: 0,
    attempt: 0,
    calls: 0,
    held: null,
    items: null,
    item: 0,
    resumed: false,
    news: NO_NEWS,
    late: 0,
    isOpen: false,
    rendered: null,
    touches: null,
    placedAt: NOT_PLACED,
    seen: null,
    isInFlight: false,
    earlier: null,
    later: null,
    nextInQueue: null,
  }
}

export function begin(
  run: TaskRun,
  node: SensorNode | ActuatorNode,
  invocation: number,
  origin: Origin,
  via: Link | null,
): Execution {
  const { state } = run
  // A gathering sensor runs for the member that its input is about, even if that has left; for none on its own time.
  const gathers = node.group === -1 && node.observes !== -1
  const member = gathers ? (origin.resource ?? null) : loadedFor(run, node)
  const seen = withCarried(run, { node, origin, via, member })
  const execution = newExecution(node, seen, ++state.executions, invocation, via, state.inputs, state.effects++, member)
  state.inFlight.add(execution)
  if (node.kind === 'sensor') {
    const sensor = sensorState(state, node)
    sensor.running = execution
    sensor.follow = null
  }
  if (node.call.pauseMs === undefined) enqueue(run, execution)
  else pause(run, execution, node.call.pauseMs)
  return execution
}

export function enqueue(run: TaskRun, execution: Execution): void {
  execution.phase = 'queued'
  execution.wakeAt = Number.POSITIVE_INFINITY
  run.state.calls.push(execution)
}

/** Whether an execution keeps its task from taking the next input; waits do not. */
export function isWork({ node, phase }: Execution): boolean {
  return node.kind === 'sensor' && phase !== 'holding' && phase !== 'paused'
}

export function letGo(run: TaskRun, execution: Execution): void {
  if (run.state.holder === execution) run.state.holder = null
}

/** Queues an acting call. Returns true if it may begin, or its plug is already at work. */
export function enqueueEffect(
  run: TaskRun,
  execution: Execution,
  rendered: Execution['rendered'],
  touches: readonly string[],
): boolean {
  const { state } = run
  const { effectQueues, ready } = state
  execution.rendered = rendered
  execution.placedAt = run.now
  const mayBegin = effectQueues.enqueue(execution, touches, run.model.maxWaiting)
  if (execution.node.kind === 'actuator') letGo(run, execution)
  else state.holder = execution
  if (mayBegin && execution.phase === 'called') return true
  execution.phase = mayBegin ? 'queued' : 'behind'
  if (mayBegin) ready.push(execution)
  return mayBegin
}

/** Queues a retry or the next item of a call that keeps its place among the effects. */
export function callAgain(run: TaskRun, execution: Execution): void {
  execution.phase = 'queued'
  execution.wakeAt = Number.POSITIVE_INFINITY
  run.state.ready.push(execution)
}

export function enqueueFirst(run: TaskRun, execution: Execution): void {
  letGo(run, execution)
  execution.phase = 'queued'
  execution.wakeAt = Number.POSITIVE_INFINITY
  run.state.calls.unshift(execution)
}

/** Sets when an execution wakes. `lag`: ms by which the clock is ahead of `at`, if `at` is in the task's own time. */
export function wakeAt(run: TaskRun, execution: Execution, at: number, lag = 0): void {
  execution.wakeAt = at
  execution.wakeLag = lag
  setWakeTimer(run, execution)
}

export function setWakeTimer(run: TaskRun, execution: Execution): void {
  run.sink.timer('wake', execution.wakeAt + execution.wakeLag, wakeKey(run, execution.node))
}

function wakeKey(run: TaskRun, node: SensorNode | ActuatorNode): number {
  return node.kind === 'sensor' ? node.slot : run.model.graph.sensors.length + node.slot
}

/** Returns the execution that wakes first, for the node at that position. */
export function firstToWake(run: TaskRun, at: number): Execution | undefined {
  const { work } = run.state
  const sensor = work?.sensors[at]
  if (sensor !== undefined)
    return sensor.running !== null && isAwake(sensor.running) ? undefined : (sensor.running ?? undefined)
  let first: Execution | undefined
  for (const execution of work?.inFlight ?? []) {
    if (execution.node.kind !== 'actuator' || wakeKey(run, execution.node) !== at || isAwake(execution)) continue
    if (first === undefined || execution.wakeAt + execution.wakeLag < first.wakeAt + first.wakeLag) first = execution
  }
  return first
}

function isAwake({ wakeAt: at }: Execution): boolean {
  return at === Number.POSITIVE_INFINITY
}

export function pause(run: TaskRun, execution: Execution, limit: number): void {
  letGo(run, execution)
  execution.phase = 'paused'
  wakeAt(run, execution, run.now + limit, lagOf(run))
}

export function armTimeout(run: TaskRun, execution: Execution, since = run.at): void {
  if (execution.wakeAt !== Number.POSITIVE_INFINITY) setWakeTimer(run, execution)
  else wakeAt(run, execution, since + execution.node.call.timeoutMs)
}

/** Returns the deadline after an absence, epoch ms: the remaining time counts from `until`, unless it had expired. */
export function limitAfter(wakeAt: number, from: number, until: number): number {
  return wakeAt > from ? wakeAt + (until - from) : wakeAt
}

/** Returns the deadline without the time from `from` to `until`; at most the full timeout from `until`. */
export function limitWithout(limit: number, timeoutMs: number, from: number, until: number): number {
  return limit + Math.max(0, until - Math.max(from, limit - timeoutMs))
}

/** Ends the execution; effects that waited for it may then begin. */
export function end(run: TaskRun, execution: Execution, isSuperseded = false): void {
  const { state } = run
  state.inFlight.delete(execution)
  letGo(run, execution)
  execution.wakeAt = Number.POSITIVE_INFINITY
  const { node } = execution
  releaseEffects(run, execution)
  if (node.kind === 'sensor') {
    const sensor = sensorState(state, node)
    if (sensor.running === execution) sensor.running = null
    // After a replacement, the new run plans the next tick.
    if (!isSuperseded) planFromEnd(run, node, sensor)
  }
}

function planFromEnd(run: TaskRun, { pollingFixedRate, pollingPeriod, slot }: SensorNode, sensor: SensorState): void {
  if (pollingFixedRate || pollingPeriod === undefined || sensor.ownTickAt !== Number.POSITIVE_INFINITY) return
  const { reorderMs } = run.model.settings
  sensor.ownTickAt = run.at - reorderMs + pollingPeriod
  run.sink.timer('ownTick', sensor.ownTickAt + reorderMs, slot)
}

export function releaseEffects(run: TaskRun, execution: Execution): void {
  if (execution.touches === null) return
  for (const next of run.state.effectQueues.release(execution, run.model.maxWaiting)) {
    next.phase = 'queued'
    run.state.ready.push(next)
  }
}

export function cancel(run: TaskRun, execution: Execution): void {
  run.sink.cancelled(execution)
  end(run, execution)
}

export function supersede(run: TaskRun, execution: Execution): void {
  run.sink.cancelled(execution)
  end(run, execution, true)
}
