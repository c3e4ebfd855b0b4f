/**
 * Evaluates an input in one pass over the nodes of a rule, in an order fixed at compile time.
 *
 * EVAL-1 an input runs a sensor, decides a gate and fires a destination at most once.
 * EVAL-2 a gate is decided after all its parents, from their states at that moment.
 * EVAL-3 each further item of a loop is evaluated separately, after the evaluation of the input.
 */
import { UNKNOWN, type GateNode, type GraphNode, type SensorNode } from '../graph/graph.ts'
import { begin, enqueue, supersede } from './execution.ts'
import { fireDestination } from './fire.ts'
import { countingTouch, recount } from './members/counting.ts'
import { evaluate, settle } from './observe.ts'
import type { Origin } from './origin.ts'
import { beginEvaluation, nodeAt, positionOf, touchNode } from './evaluation.ts'
import { markNew } from './news.ts'
import { applyFollow } from './result.ts'
import { wake } from './retry.ts'
import type { TaskRun } from './run.ts'
import { observedState, sensorState, type Evaluation, type Execution, type Touch } from './state.ts'
import { traceGate } from './trace.ts'

export function nextCall(run: TaskRun): Execution | undefined {
  const { state } = run
  if (state.work === null && state.evaluation === null) return undefined
  for (;;) {
    const execution = state.ready.shift() ?? (state.holder === null ? nextInEvaluation(run) : null)
    if (execution === null) return undefined
    if (!execution.isInFlight) continue
    execution.phase = 'called'
    execution.calls++
    if (execution.node.kind === 'sensor') {
      state.holder = execution
      const sensor = sensorState(state, execution.node)
      execution.news = sensor.news
      execution.late = sensor.late.length
    }
    return execution
  }
}

function nextInEvaluation(run: TaskRun): Execution | null {
  advance(run)
  return run.state.calls.shift()
}

export function advance(run: TaskRun): void {
  const { state } = run
  while (state.evaluation !== null && state.holder === null && state.calls.isEmpty) {
    const position = state.evaluation.agenda.shift()
    if (position !== undefined) visit(run, state.evaluation, nodeAt(run, position))
    else beginNextItem(run)
  }
}

/** Ends the evaluation, and begins the evaluation of the next item of the first sensor with an unfinished loop. */
function beginNextItem(run: TaskRun): void {
  const { state } = run
  state.evaluation = null
  const looping = firstLooping(run)
  if (looping !== undefined) beginEvaluation(run, { invocation: looping.invocation, due: [looping.node] })
}

interface Looping {
  readonly node: SensorNode
  readonly invocation: number
}

function firstLooping(run: TaskRun): Looping | undefined {
  let first: Looping | undefined
  for (const { node, phase, invocation } of run.state.open) {
    if (phase !== 'looping' || node.kind !== 'sensor') continue
    if (first === undefined || positionOf(run, node) < positionOf(run, first.node)) first = { node, invocation }
  }
  return first
}

function visit(run: TaskRun, evaluation: Evaluation, node: GraphNode): void {
  if (node.kind === 'gate') return decideGate(run, evaluation, node)
  const hasFired = fireDestination(run, evaluation, node)
  if (hasFired || node.kind === 'actuator') return
  const origin = evaluation.selected.get(node)
  if (origin !== undefined) runRoot(run, evaluation, node, origin)
  else if (evaluation.due.has(node)) takeDue(run, evaluation, node)
}

function runRoot(run: TaskRun, { invocation }: Evaluation, node: SensorNode, origin: Origin): void {
  const { running } = sensorState(run.state, node)
  if (running !== null) supersede(run, running)
  begin(run, node, invocation, origin, null)
}

function takeDue(run: TaskRun, evaluation: Evaluation, node: SensorNode): void {
  const { follow, running } = sensorState(run.state, node)
  if (running === null) {
    if (follow?.answer.again === true) {
      const origin: Origin = { kind: 'ownTick', time: run.now, node: node.label, scheduledAt: follow.at }
      begin(run, node, evaluation.invocation, origin, null)
    } else if (follow !== null) applyFollow(run, node, follow)
  } else if (running.phase === 'looping' || (running.phase === 'paused' && running.resumed)) enqueue(run, running)
  else if (running.phase === 'holding' || running.phase === 'paused') wake(run, running)
}

function decideGate(run: TaskRun, evaluation: Evaluation, gate: GateNode): void {
  const touch = lastTouch(run, evaluation, gate) ?? countingTouch(evaluation, gate)
  if (touch === undefined) return
  const observed = observedState(run.state, gate)
  if (gate.counts !== undefined) recount(run, evaluation, gate.counts)
  settle(observed, evaluate(run, gate), run.now)
  if (observed.previous !== observed.state) {
    traceGate(run, touch.invocation, gate, observed.previous, observed.state)
  }
  if (observed.state !== UNKNOWN) markNew(run, gate)
  touchNode(run, gate, touch)
}

function lastTouch(run: TaskRun, { touched }: Evaluation, gate: GateNode): Touch | undefined {
  let last: Touch | undefined
  let lastPosition = -1
  for (const parent of gate.parents) {
    const touch = touched.get(parent)
    const position = positionOf(run, parent)
    if (touch === undefined || !touch.isObserved || position < lastPosition) continue
    last = touch
    lastPosition = position
  }
  return last === undefined ? undefined : { ...last, hasSucceeded: true }
}
