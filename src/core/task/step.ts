/**
 * Implements the state machine of a task: one input goes in; a changed state, calls and timers come out; it reads no
 * clock and calls no plug.
 *
 * The state is changed in place, because a copy per event would cost more than the event.
 *
 * STEP-1 equal state and equal inputs lead to equal states, effects and events.
 * STEP-2 every effect has the id task/run/input/place, and no two have the same.
 * STEP-3 unknown is not false: a gate is certain only when its known parents decide it.
 * STEP-4 a destination never fires within the cool-down of the trigger that would fire it.
 * STEP-5 an execution ends exactly once: by a result, an error, a deadline, or by being superseded or stopped.
 * STEP-6 saving, restoring and continuing equals continuing.
 * STEP-7 a stopped task changes only by a start.
 * STEP-8 states, firings and properties of calls are the same as if every plug returned at once.
 * STEP-9 a task's time is that of the current input and never goes back; deadlines, back-off and fixed delays use the
 *   clock.
 */
import type { ActuatorNode, GateNode, SensorNode } from '../graph/graph.ts'
import type { Input, TimerKind } from './input.ts'
import type { CarriedOver } from './carry-over.ts'
import { afterWork, beginClocks, clocksAreDue, startClocks } from './clock.ts'
import { earliestDue, expiredBy, resultsDueBy } from './due-timer.ts'
import { advance } from './advance.ts'
import { setWakeTimer, enqueue, firstToWake } from './execution.ts'
import { beginEdges } from './fire.ts'
import { data, push, readingsData, runSensor, runTicks } from './invocation.ts'
import { changeMembers } from './members/change.ts'
import { originOfMember } from './members/counting.ts'
import { expiredCounts, loadDue, loadFor, memberActAt } from './members/load.ts'
import { markAllNew } from './news.ts'
import type { Origin } from './origin.ts'
import { decideAgain, evict } from './observe.ts'
import { beginEvaluation } from './evaluation.ts'
import { admit, admitNone, countReading, timeOfData, type Admitted } from './readings/admit.ts'
import { hasNewerValues, rememberIdle, rememberUntil } from './readings/idle.ts'
import { Readings } from './readings/readings.ts'
import { answer, cancelAll } from './result.ts'
import { failed, wake } from './retry.ts'
import type { TaskRun } from './run.ts'
import { traceStarted, traceStopped } from './trace.ts'

/** Processes one input, epoch ms. `at`: the engine's clock; `clock`: when the input could first be processed. */
export function step(run: TaskRun, now: number, input: Input, at = now, clock = now): void {
  const { state } = run
  if (at > run.at) run.at = at
  if (state.groups.length > 0 && input.kind === 'data')
    loadFor(
      run,
      input.messages.map(({ resource }) => resource),
    )
  const { readings } = state
  const admitted = state.status === 'running' ? admittedOf(run, input) : undefined
  // Messages that run no sensor are not inputs.
  if (admitted?.every(({ plan }) => plan.sensors.length === 0) === true) return rememberIdle(run, input, admitted)
  if (readings === null) {
    // Inputs that serve unfinished work do not change the time while an input is being processed.
    if (!isBeside(input) || state.isFree) run.now = Math.max(run.now, now)
  } else if (!isBeside(input)) {
    takeTime(run, readings, now, input, clock)
    rememberUntil(run, readings, input)
  }
  if (run.now > run.at) run.at = run.now
  state.time = run.now
  if (input.kind === 'start') {
    if (state.status !== 'running') start(run)
    return
  }
  if (state.status !== 'running' || !isDue(run, input)) return
  if (!isBeside(input) && !isAcceptedWhenFinished(run, input) && isOver(run)) return
  if (isCounted(run, input)) {
    state.inputs++
    state.effects = 0
  }
  take(run, input, admitted)
  if (state.status !== 'running') return
  advance(run)
  afterEvaluation(run)
}

export function afterEvaluation(run: TaskRun): void {
  if (run.state.status !== 'running') return
  afterWork(run)
  finishOnetime(run)
}

export function continueWith(run: TaskRun, { kept, edges }: Pick<CarriedOver, 'kept' | 'edges'>): void {
  const { sensors, gates, triggers } = run.model.graph
  decideAgain(
    run,
    gates.filter(({ label }) => !kept.gates.has(label)),
  )
  for (const trigger of triggers) if (!edges.has(trigger.order)) beginEdges(run, trigger)
  // A sensor without memory has processed nothing, so all data is new to it.
  for (const node of sensors) if (!kept.runnable.has(node.label)) markAllNew(run, node)
  beginClocks(
    run,
    sensors.filter(({ label }) => !kept.clocks.has(label)),
    !kept.taskClock,
    run.at,
  )
  advance(run)
  afterEvaluation(run)
}

function isBeside(input: Input): boolean {
  return input.kind === 'answer' || input.kind === 'error' || input.kind === 'timer'
}

export function isClockTimer(run: TaskRun, kind: TimerKind, key: number): boolean {
  if (kind === 'tick' || kind === 'ownTick') return true
  if (kind !== 'wake') return false
  // Timers of actuators always follow the clock, since their results begin no work in the task.
  if (key >= run.model.graph.sensors.length) return true
  const phase = firstToWake(run, key)?.phase
  return phase !== 'holding' && phase !== 'paused'
}

/** Whether an input counts; late results of actuators do not, as if the actuators had finished at once. */
function isCounted(run: TaskRun, input: Input): boolean {
  if (input.kind === 'answer' || input.kind === 'error') return input.execution.node.kind === 'sensor'
  if (input.kind !== 'timer') return true
  return input.timer === 'wake' && input.key < run.model.graph.sensors.length
}

function admittedOf(run: TaskRun, input: Input): readonly Admitted[] | undefined {
  if (input.kind !== 'data' || input.arrived === undefined) return undefined
  const { readings } = run.state
  if (readings === null) return admitNone(run, input.messages, input.arrived)
  return admit(run, readings, input.messages, input.arrived)
}

function takeTime(run: TaskRun, readings: Readings, now: number, input: Input, clock: number): void {
  const inputTime = measurementTime(run, now, input)
  if (
    inputTime !== undefined &&
    input.kind === 'data' &&
    (readings.isBehind(inputTime) || hasNewerValues(run, inputTime))
  )
    countReading(run, readings, 'skewed')
  run.now =
    inputTime === undefined || readings.isBehind(inputTime)
      ? readings.elapsed(clock, nextTime(run, readings))
      : inputTime
  readings.took(run.now, clock)
}

function nextTime(run: TaskRun, { reordering }: Readings): number {
  return Math.min(earliestDue(run), reordering.list[0]?.time ?? Number.POSITIVE_INFINITY)
}

/** Returns the measurement time of the input, epoch ms, if it has one. */
export function measurementTime(run: TaskRun, now: number, input: Input): number | undefined {
  switch (input.kind) {
    case 'data':
      return input.arrived === undefined ? now : timeOfData(run, input.messages, input.arrived)
    case 'tick':
      return Math.max(input.scheduledAt, run.state.readings?.time ?? input.scheduledAt)
    case 'timers':
      return now
    default:
      return undefined
  }
}

function take(run: TaskRun, input: Exclude<Input, { kind: 'start' }>, admitted: readonly Admitted[] | undefined): void {
  switch (input.kind) {
    case 'data':
      return admitted === undefined ? data(run, input.messages, input.sent) : readingsData(run, admitted)
    case 'answer':
      return answer(run, input.execution, input.answer)
    case 'error':
      return failed(run, input.execution, input.failure)
    case 'timers':
      return timers(run)
    case 'timer':
      return timer(run, input.timer, input.key)
    case 'push':
      return push(run, input.node, input.state, input.rawData)
    case 'run':
      return runSensor(run, input.node, { kind: 'run', time: run.now, node: input.node.label })
    case 'tick':
      return runTicks(run, input.nodes, input.scheduledAt)
    case 'resume':
      return resume(run, input.node)
    case 'members':
      return changeMembers(run, input)
    case 'stop':
      return stop(run, 'stopped')
  }
}

/** Whether an input still fits the state: timers are not cancelled when plans change, so old ones are dropped here. */
function isDue(run: TaskRun, input: Input): boolean {
  const { state } = run
  if (input.kind === 'answer' || input.kind === 'error') return state.inFlight.has(input.execution)
  if (input.kind === 'timers') return earliestDue(run) <= run.now
  return input.kind !== 'timer' || dueAt(run, input.timer, input.key) <= run.at
}

/** Returns the real due time of a timer; Infinity when the task no longer waits for it. */
export function dueAt(run: TaskRun, kind: TimerKind, key: number): number {
  const { state } = run
  const { reorderMs } = run.model.settings
  if (kind === 'release') return state.readings?.reordering.earliest ?? Number.POSITIVE_INFINITY
  if (kind === 'tick') return state.nextTickAt + reorderMs
  if (kind === 'members') return memberActAt(run, key)
  if (kind === 'wake') {
    const first = firstToWake(run, key)
    return first === undefined ? Number.POSITIVE_INFINITY : first.wakeAt + first.wakeLag
  }
  const sensor = state.work?.sensors[key]
  if (sensor === undefined) return Number.POSITIVE_INFINITY
  if (kind === 'evict') return sensor.evictAt + sensor.evictLag
  if (kind === 'ownTick') return sensor.ownTickAt + reorderMs
  return sensor.follow === null ? Number.POSITIVE_INFINITY : sensor.follow.at + sensor.follow.lag
}

function timers(run: TaskRun): void {
  loadDue(run)
  const counting = new Map<GateNode, Origin>()
  const note = (gates: readonly GateNode[]): void => {
    for (const gate of gates) if (gate.counts !== undefined) counting.set(gate, originOfMember(run, gate.counts))
  }
  note(expiredCounts(run))
  for (const node of expiredBy(run, run.now)) {
    note(node.gates)
    evict(run, node)
  }
  const due = resultsDueBy(run, run.now)
  if (due.length > 0 || counting.size > 0) beginEvaluation(run, { invocation: run.state.invocations, due, counting })
}

function timer(run: TaskRun, kind: TimerKind, key: number): void {
  if (kind !== 'wake') return clocksAreDue(run)
  const execution = firstToWake(run, key)
  if (execution) wake(run, execution)
  const next = firstToWake(run, key)
  if (next) setWakeTimer(run, next)
}

function resume(run: TaskRun, node: SensorNode | ActuatorNode): void {
  const paused = [...run.state.inFlight].filter((one) => one.node === node && one.phase === 'paused')
  for (const execution of paused) {
    execution.resumed = true
    if (node.kind === 'actuator') enqueue(run, execution)
    else beginEvaluation(run, { invocation: execution.invocation, due: [node] })
  }
}

function start(run: TaskRun): void {
  const { state, now } = run
  state.forgetNodes()
  state.status = 'running'
  state.run++
  state.inputs = 0
  state.effects = 0
  state.startTime = now
  state.finishedTime = -1
  const { reorderMs } = run.model.settings
  if (reorderMs > 0) state.readings = new Readings(-1, reorderMs)
  traceStarted(run)
  startClocks(run)
  finishOnetime(run)
}

function stop(run: TaskRun, reason: 'finished' | 'stopped'): void {
  const { state } = run
  cancelAll(run, () => true)
  state.evaluation = null
  state.work?.calls.clear()
  state.work?.ready.clear()
  state.dropped += state.waiting.length
  state.waiting = []
  state.dropped += state.readings?.reordering.list.length ?? 0
  state.readings?.reordering.clear()
  state.holder = null
  stopClocks(run)
  state.status = 'stopped'
  state.finishedTime = run.now
  traceStopped(run, reason)
}

function stopClocks({ state }: TaskRun): void {
  state.nextTickAt = Number.POSITIVE_INFINITY
  for (const sensor of state.work?.sensors ?? []) {
    sensor.ownTickAt = Number.POSITIVE_INFINITY
    sensor.evictAt = Number.POSITIVE_INFINITY
    sensor.follow = null
  }
  for (const group of state.groups) group.stopTimers()
}

function finishOnetime(run: TaskRun): void {
  if (!isOver(run)) return
  if ((run.state.work?.inFlight.size ?? 0) === 0) stop(run, 'finished')
  else stopClocks(run)
}

/** Whether a onetime task accepts no more inputs: it has ticked, and no sensor is at work or waits. */
export function isOver({ state, model }: TaskRun): boolean {
  if (model.settings.type !== 'onetime' || state.status !== 'running') return false
  if (state.nextTickAt !== Number.POSITIVE_INFINITY || state.waiting.some(({ input }) => isOwnTick(input))) return false
  if (state.evaluation !== null) return false
  return state.work?.sensors.some(({ running, follow }) => running !== null || follow !== null) !== true
}

/** Whether a finished onetime task accepts the input: actuator calls may be delayed, or wait for a resume. */
function isAcceptedWhenFinished({ model }: TaskRun, input: Input): boolean {
  if (input.kind === 'timer') return input.timer === 'wake' && input.key >= model.graph.sensors.length
  return input.kind === 'stop' || input.kind === 'resume' || isOwnTick(input)
}

function isOwnTick(input: Input): boolean {
  return input.kind === 'tick' && input.nodes.includes(null)
}
