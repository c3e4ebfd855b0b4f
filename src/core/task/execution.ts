/** The life of one execution, from its place in the queue to its end, and of the groups that wait for it. */
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import type { Origin } from './origin.ts'
import { resourcePlaceOf, type TaskRun } from './run.ts'
import { sensorState, type Execution, type Group, type Link } from './state.ts'
import { traceHeld } from './trace.ts'

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
  const execution: Execution = {
    id: ++state.executions,
    node,
    invocation,
    origin,
    via,
    input: state.inputs,
    place: state.effects++,
    group,
    phase: 'queued',
    wakeAt: Number.POSITIVE_INFINITY,
    attempt: 0,
    calls: 0,
    held: null,
    items: null,
    item: 0,
    resumed: false,
    isInFlight: false,
    earlier: null,
    later: null,
    nextInQueue: null,
  }
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

/** The next execution to call; undefined when all are called. Cascades go before the rest of a group. */
export function nextCall(run: TaskRun): Execution | undefined {
  const { work } = run.state
  for (;;) {
    const execution = work?.cascades.shift() ?? work?.roots.shift() ?? null
    if (execution === null) return undefined
    if (!execution.isInFlight) continue
    execution.phase = 'called'
    execution.calls++
    return execution
  }
}

export function wakeAt(run: TaskRun, execution: Execution, at: number): void {
  execution.wakeAt = at
  askForWake(run, execution)
}

/** Asks for the timer of an execution's wait. */
export function askForWake(run: TaskRun, execution: Execution): void {
  const { node } = execution
  const place = node.kind === 'sensor' ? node.slot : run.model.graph.sensors.length + node.slot
  run.sink.timer('wake', execution.wakeAt, execution.id, place)
}

/** Has an execution wait for a resume, but no longer than its limit. */
export function pause(run: TaskRun, execution: Execution, limit: number): void {
  execution.phase = 'paused'
  wakeAt(run, execution, run.now + limit)
}

/** The plug has not answered at once: its time limit counts from now, or from before a restart. */
export function armTimeout(run: TaskRun, execution: Execution): void {
  if (execution.wakeAt !== Number.POSITIVE_INFINITY) askForWake(run, execution)
  else wakeAt(run, execution, run.now + execution.node.call.timeoutMs)
}

/** The execution is over, whatever came of it; its group may go on. */
export function end(run: TaskRun, execution: Execution): void {
  run.state.inFlight.delete(execution)
  const { node, group } = execution
  if (node.kind === 'sensor') {
    const sensor = sensorState(run.state, node)
    if (sensor.running === execution) sensor.running = null
    if (!node.pollingFixedRate && node.pollingPeriod !== undefined && sensor.ownTickAt === Number.POSITIVE_INFINITY) {
      sensor.ownTickAt = run.now + node.pollingPeriod
      run.sink.timer('ownTick', sensor.ownTickAt, node.slot)
    }
  }
  if (group !== null) {
    group.open--
    if (group.open === 0) advance(run, group)
  }
}

/** Drops an execution: nothing of it is applied any more. */
export function cancel(run: TaskRun, execution: Execution): void {
  run.sink.cancelled(execution)
  end(run, execution)
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

/** Begins the sensors that are free; gives how many. */
function startSensors(
  run: TaskRun,
  invocation: number,
  sensors: readonly SensorNode[],
  origins: readonly Origin[],
  group: Group | null,
): number {
  let started = 0
  for (const sensor of sensors) {
    if (sensorState(run.state, sensor).running !== null) {
      traceHeld(run, invocation, sensor.label, 'overlap', {})
      continue
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
