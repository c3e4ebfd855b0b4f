/** Applies the result or failure of a plug call. */
import { UNKNOWN, type SensorNode } from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import { callAgain, cancel, end, enqueue, releaseEffects, letGo, wakeAt } from './execution.ts'
import { endOfFollow } from './downtime.ts'
import type { Origin } from './origin.ts'
import { actuatorFor } from './members/load.ts'
import { markNew, markRead } from './news.ts'
import { markLateRead } from './readings/absorbed.ts'
import { observe } from './observe.ts'
import { leaveOut, touchNode } from './evaluation.ts'
import { lagOf, timeOf, type TaskRun } from './run.ts'
import { sensorState, type Destination, type Execution, type Follow, type Link, type Touch } from './state.ts'
import { traceError, traceResult } from './trace.ts'

const HEALTH_WINDOW = 64

/** Processes the result of a plug: now, or after the delay that it demands, which releases the lane. */
export function answer(run: TaskRun, execution: Execution, reply: Answer): void {
  letGo(run, execution)
  execution.wakeAt = Number.POSITIVE_INFINITY
  if (reply.after !== undefined && reply.after > 0) {
    execution.phase = 'holding'
    execution.held = reply
    // The call has acted, so its place is free, unless later items of an actuator's loop still need it.
    if (execution.node.kind === 'sensor' || !hasMoreItems(execution)) releaseEffects(run, execution)
    wakeAt(run, execution, run.now + reply.after, lagOf(run))
    return
  }
  apply(run, execution, reply)
}

export function apply(run: TaskRun, execution: Execution, reply: Answer): void {
  traceResult(run, execution, reply)
  execution.held = null
  if (execution.node.kind === 'actuator') {
    const actuator = actuatorFor(run, execution.node, execution.member)
    actuator.error = null
    actuator.answer = {
      collectedTime: timeOf(run, execution),
      ...(reply.message !== undefined && { message: reply.message }),
      ...(reply.rawData !== undefined && { rawData: reply.rawData }),
    }
    markNew(run, execution.node)
    finish(run, execution)
    return
  }
  markRead(run, execution)
  markLateRead(run, execution)
  applyToSensor(run, execution.node, reply, execution.invocation, execution.origin, execution.via)
  finish(run, execution)
}

export function applyFollow(run: TaskRun, node: SensorNode, follow: Follow): void {
  sensorState(run.state, node).follow = null
  applyToSensor(run, node, follow.answer, follow.invocation, follow.origin, follow.via)
}

function applyToSensor(
  run: TaskRun,
  node: SensorNode,
  reply: Answer,
  invocation: number,
  origin: Origin,
  via: Link | null,
): void {
  const sensor = sensorState(run.state, node)
  sensor.error = null
  sensor.collectedTime = run.now
  markNew(run, node)
  if (reply.rawData !== undefined) sensor.rawData = reply.rawData
  if (reply.internalState !== undefined) sensor.internalState = reply.internalState
  if (reply.then?.after !== undefined) {
    const at = endOfFollow(run, node, reply.then)
    sensor.follow = { at, lag: lagOf(run), answer: reply.then, invocation, origin, via }
    run.sink.timer('follow', at + sensor.follow.lag, node.slot)
  }
  const touch = { invocation, origin, via, hasSucceeded: true }
  if (reply.state !== UNKNOWN) observe(run, node, reply.state, touch)
  else executed(run, node, touch)
}

/** Handles success without a state: only triggers without a condition fire. */
export function executed(run: TaskRun, node: SensorNode, touch: Omit<Touch, 'isObserved'>): void {
  const sensor = sensorState(run.state, node)
  sensor.before = sensor.state
  touchNode(run, node, { ...touch, isObserved: false })
}

export function dropEffect(run: TaskRun, execution: Execution, message: string): void {
  destinationFor(run, execution).error = { time: timeOf(run, execution), message }
  countFailure(run, execution.invocation)
  traceError(run, execution, message)
  end(run, execution)
}

/** Returns the state of an execution's node; for a node with a group, that of the member for which it runs. */
export function destinationFor(run: TaskRun, { node, member }: Pick<Execution, 'node' | 'member'>): Destination {
  return node.kind === 'sensor' ? sensorState(run.state, node) : actuatorFor(run, node, member)
}

/** Continues with the next item of a loop, or ends the execution. A failed item does not stop the others. */
export function finish(run: TaskRun, execution: Execution): void {
  if (hasMoreItems(execution)) {
    execution.item++
    execution.attempt = 0
    if (execution.node.kind === 'sensor') waitForEvaluation(run, execution, execution.node)
    else if (execution.touches !== null) callAgain(run, execution)
    else enqueue(run, execution)
    return
  }
  end(run, execution)
}

/** Lets the next item wait until this evaluation ends; meanwhile the things that it touched are free. */
function waitForEvaluation(run: TaskRun, execution: Execution, node: SensorNode): void {
  letGo(run, execution)
  releaseEffects(run, execution)
  execution.touches = null
  execution.rendered = null
  execution.phase = 'looping'
  execution.wakeAt = Number.POSITIVE_INFINITY
  sensorState(run.state, node).follow = null
}

function hasMoreItems({ items, item }: Execution): boolean {
  return items !== null && item + 1 < items.length
}

export function cancelAll(run: TaskRun, which: (origin: Origin) => boolean): void {
  leaveOut(run, which)
  for (const execution of run.state.work?.inFlight ?? []) if (which(execution.origin)) cancel(run, execution)
}

export function countFailure({ state, sink }: TaskRun, invocation: number): void {
  state.failures = withFailure(state.failures, invocation, sink.newest(state.invocations))
}

function withFailure(failures: readonly number[], invocation: number, newest: number): readonly number[] {
  const all = failures.includes(invocation) ? failures : [...failures, invocation]
  const kept = all.findIndex((one) => one > newest - HEALTH_WINDOW)
  return kept === -1 ? [] : all.slice(kept)
}

export function withFailures(failures: readonly number[], invocations: readonly number[]): readonly number[] {
  return invocations.reduce((kept, invocation) => withFailure(kept, invocation, invocation), failures)
}

export function health(state: TaskRun['state']): { errorsCount: number; errorsRate: number } {
  const oldest = state.invocations - HEALTH_WINDOW
  const errorsCount = state.failures.filter((invocation) => invocation > oldest).length
  const window = Math.min(HEALTH_WINDOW, state.invocations)
  return { errorsCount, errorsRate: window === 0 ? 0 : errorsCount / window }
}
