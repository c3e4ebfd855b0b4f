/** The life of one execution, from its place in the queue to its end, and of the groups that wait for it. */
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import type { Origin } from './origin.ts'
import { resourcePlaceOf, type TaskRun } from './run.ts'
import { NOT_PLACED, sensorState, type Execution, type Group, type Link, type SensorState } from './state.ts'
import { withCarried } from './stream.ts'
import { traceHeld } from './trace.ts'

/** An execution that nothing was done about yet. */
export function newExecution(
  node: SensorNode | ActuatorNode,
  origin: Origin,
  id = 0,
  invocation = 0,
  via: Link | null = null,
  input = 0,
  place = 0,
  group: Group | null = null,
): Execution {
  return {
    id,
    node,
    invocation,
    origin,
    via,
    input,
    place,
    group,
    phase: 'queued',
    wakeAt: Number.POSITIVE_INFINITY,
    attempt: 0,
    calls: 0,
    held: null,
    items: null,
    item: 0,
    resumed: false,
    isOpen: false,
    rendered: null,
    touches: null,
    placedAt: NOT_PLACED,
    isInFlight: false,
    earlier: null,
    later: null,
    nextInQueue: null,
  }
}

/** Queues an execution: behind its trigger's cascade, or in its invocation's group. */
export function begin(
  run: TaskRun,
  node: SensorNode | ActuatorNode,
  invocation: number,
  origin: Origin,
  via: Link | null,
  group: Group | null,
): Execution {
  const { state } = run
  const seen = withCarried(run, { node, origin, via })
  const execution = newExecution(node, seen, ++state.executions, invocation, via, state.inputs, state.effects++, group)
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

/** Puts an execution where the driver takes its next call from. */
export function enqueue(run: TaskRun, execution: Execution): void {
  execution.phase = 'queued'
  execution.wakeAt = Number.POSITIVE_INFINITY
  if (execution.via === null) run.state.roots.push(execution)
  else run.state.cascades.push(execution)
}

/**
 * The next execution to call; undefined when there is none, or when the lane waits for one. Effects whose turn has come
 * go first: they wait for nothing else. Cascades go before the rest of a group.
 */
export function nextCall(run: TaskRun): Execution | undefined {
  const { state } = run
  const { work } = state
  if (work === null) return undefined
  for (;;) {
    const execution =
      work.ready.shift() ?? (state.holder === null ? (work.cascades.shift() ?? work.roots.shift()) : null)
    if (execution === null) return undefined
    if (!execution.isInFlight) continue
    execution.phase = 'called'
    execution.calls++
    if (execution.node.kind === 'sensor') state.holder = execution
    return execution
  }
}

/** Whether an execution keeps its task from the next input: it is to be called, or its plug is at work. Waits do not. */
export function isWork({ node, phase }: Execution): boolean {
  return node.kind === 'sensor' && phase !== 'holding' && phase !== 'paused'
}

/** The lane does not wait for this execution any more. */
export function letGo(run: TaskRun, execution: Execution): void {
  if (run.state.holder === execution) run.state.holder = null
}

/**
 * Gives a call that acts its place, with its properties and what it touches. It begins when it may; true when that is
 * now, or when its plug is at work already.
 */
export function place(
  run: TaskRun,
  execution: Execution,
  rendered: Execution['rendered'],
  touches: readonly string[],
): boolean {
  const { state } = run
  const { effectQueues, ready } = state
  execution.rendered = rendered
  execution.placedAt = run.now
  const mayBegin = effectQueues.place(execution, touches, run.model.maxWaiting)
  if (execution.node.kind === 'actuator') letGo(run, execution)
  else state.holder = execution
  if (mayBegin && execution.phase === 'called') return true
  execution.phase = mayBegin ? 'queued' : 'behind'
  if (mayBegin) ready.push(execution)
  return mayBegin
}

/** A retry or the next item of a call that has its place. */
export function callAgain(run: TaskRun, execution: Execution): void {
  execution.phase = 'queued'
  execution.wakeAt = Number.POSITIVE_INFINITY
  run.state.ready.push(execution)
}

/** Puts an execution before all others that wait for their call: the lane waited for it. */
export function enqueueFirst(run: TaskRun, execution: Execution): void {
  letGo(run, execution)
  execution.phase = 'queued'
  execution.wakeAt = Number.POSITIVE_INFINITY
  if (execution.via === null) run.state.roots.unshift(execution)
  else run.state.cascades.unshift(execution)
}

export function wakeAt(run: TaskRun, execution: Execution, at: number): void {
  execution.wakeAt = at
  askForWake(run, execution)
}

/** Asks for the timer of an execution's wait. */
export function askForWake(run: TaskRun, execution: Execution): void {
  run.sink.timer('wake', execution.wakeAt, wakePlace(run, execution.node))
}

function wakePlace(run: TaskRun, node: SensorNode | ActuatorNode): number {
  return node.kind === 'sensor' ? node.slot : run.model.graph.sensors.length + node.slot
}

/** The execution of the node at that place that wakes first; undefined when none waits. */
export function firstToWake(run: TaskRun, at: number): Execution | undefined {
  const { work } = run.state
  const sensor = work?.sensors[at]
  if (sensor !== undefined)
    return sensor.running !== null && isAwake(sensor.running) ? undefined : (sensor.running ?? undefined)
  let first: Execution | undefined
  for (const execution of work?.inFlight ?? []) {
    if (execution.node.kind !== 'actuator' || wakePlace(run, execution.node) !== at || isAwake(execution)) continue
    if (first === undefined || execution.wakeAt < first.wakeAt) first = execution
  }
  return first
}

function isAwake({ wakeAt: at }: Execution): boolean {
  return at === Number.POSITIVE_INFINITY
}

/** Has an execution wait for a resume, but no longer than its limit. */
export function pause(run: TaskRun, execution: Execution, limit: number): void {
  letGo(run, execution)
  execution.phase = 'paused'
  wakeAt(run, execution, run.now + limit)
}

/** The plug has not answered at once: its time limit counts from now, or from when it was asked. */
export function armTimeout(run: TaskRun, execution: Execution, since = run.at): void {
  if (execution.wakeAt !== Number.POSITIVE_INFINITY) askForWake(run, execution)
  else wakeAt(run, execution, since + execution.node.call.timeoutMs)
}

/**
 * When a call is given up, given that nobody was there from and until epoch ms: what was left of its time counts from then
 * on. It may have had none yet, and would be given up without a try.
 */
export function limitAfter(wakeAt: number, from: number, until: number): number {
  return wakeAt > from ? wakeAt + (until - from) : wakeAt
}

/**
 * When a call is given up, given that a time did not count, from and until epoch ms: as far as it was under way then. It
 * has no more than all of its time from then on.
 */
export function limitWithout(limit: number, timeoutMs: number, from: number, until: number): number {
  return limit + Math.max(0, until - Math.max(from, limit - timeoutMs))
}

/** The execution is over, whatever came of it; its group may go on, and effects that waited for it may begin. */
export function end(run: TaskRun, execution: Execution, isSuperseded = false): void {
  const { state } = run
  state.inFlight.delete(execution)
  letGo(run, execution)
  execution.wakeAt = Number.POSITIVE_INFINITY
  const { node, group } = execution
  leavePlace(run, execution)
  if (node.kind === 'sensor') {
    const sensor = sensorState(state, node)
    if (sensor.running === execution) sensor.running = null
    // The run that takes its place plans the next one when it ends.
    if (!isSuperseded) planFromEnd(run, node, sensor)
  }
  if (group !== null) {
    group.open--
    if (group.open === 0) advance(run, group)
  }
}

/** A period that counts from the end of the last run. */
function planFromEnd(run: TaskRun, { pollingFixedRate, pollingPeriod, slot }: SensorNode, sensor: SensorState): void {
  if (pollingFixedRate || pollingPeriod === undefined || sensor.ownTickAt !== Number.POSITIVE_INFINITY) return
  sensor.ownTickAt = run.at + pollingPeriod
  run.sink.timer('ownTick', sensor.ownTickAt, slot)
}

/** Nothing of what the execution touches is waited for on its account any more. */
export function leavePlace(run: TaskRun, execution: Execution): void {
  if (execution.touches === null) return
  for (const next of run.state.effectQueues.release(execution, run.model.maxWaiting)) {
    next.phase = 'queued'
    run.state.ready.push(next)
  }
}

/** Drops an execution: nothing of it is applied any more. */
export function cancel(run: TaskRun, execution: Execution): void {
  run.sink.cancelled(execution)
  end(run, execution)
}

/** Drops a wait, for a newer run of its node. What was to follow it in an older invocation is dropped with it. */
export function supersede(run: TaskRun, execution: Execution, invocation: number): void {
  if (execution.group !== null && execution.invocation !== invocation)
    execution.group.position = execution.group.groups.length
  run.sink.cancelled(execution)
  end(run, execution, true)
}

/** Starts the groups of an invocation. A group's end starts the next; with one group there is nothing to remember. */
export function startGroups(
  run: TaskRun,
  invocation: number,
  groups: readonly (readonly SensorNode[])[],
  origins: readonly Origin[],
): void {
  const [only] = groups
  if (groups.length === 1 && only !== undefined) {
    startSensors(run, invocation, only, origins, null)
    return
  }
  const group: Group = { id: invocation, invocation, groups, position: -1, open: 0, origins }
  run.state.groups = [...run.state.groups, group]
  advance(run, group)
}

/** Groups whose work at hand was dropped go on. */
export function advanceGroups(run: TaskRun): void {
  for (const group of run.state.groups) if (group.open === 0) advance(run, group)
}

function advance(run: TaskRun, group: Group): void {
  while (group.open === 0) {
    group.position++
    const sensors = group.groups[group.position]
    if (sensors === undefined) {
      run.state.groups = run.state.groups.filter((one) => one !== group)
      return
    }
    group.open = startSensors(run, group.invocation, sensors, group.origins, group)
  }
}

/** Begins the sensors, in the place of earlier executions of theirs that only wait; gives how many. */
function startSensors(
  run: TaskRun,
  invocation: number,
  sensors: readonly SensorNode[],
  origins: readonly Origin[],
  group: Group | null,
): number {
  let started = 0
  for (const sensor of sensors) {
    const { running } = sensorState(run.state, sensor)
    if (running !== null) {
      // Something of this very input runs it already.
      if (isWork(running)) {
        traceHeld(run, invocation, sensor.label, 'overlap', {})
        continue
      }
      supersede(run, running, invocation)
    }
    begin(run, sensor, invocation, originFor(run, sensor, origins), null, group)
    started++
  }
  return started
}

/** A data array brings one origin per resource; each sensor belongs to the message of its own. */
function originFor(run: TaskRun, sensor: SensorNode, origins: readonly Origin[]): Origin {
  const first = origins[0] as Origin // an invocation always has an origin
  if (origins.length === 1) return first
  const resource = run.model.resources[resourcePlaceOf(run.model, sensor)]
  return origins.find((origin) => origin.resource === resource) ?? first
}
