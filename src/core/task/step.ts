/**
 * The fold: one input in, a changed state, calls to make and timers to set out. It reads no clock, keeps no secret
 * state and calls no plug: the driver takes `nextCall`, calls the plug, and hands the answer back as the next input.
 * The state is changed in place, because a copy per event would cost more than the event; save.ts and restore.ts give
 * it as plain JSON before and after any step.
 *
 * Invariants, which the tests cite:
 *  I1 equal state and equal inputs give equal states, effects and events.
 *  I2 every effect has the id task/run/input/place, and no two have the same.
 *  I3 unknown is not false: a gate is certain only when its known parents decide it.
 *  I4 a destination never fires within the cool-down of the trigger that would fire it.
 *  I5 an execution ends exactly once: by a result, an error, a time limit, or by being superseded or stopped.
 *  I6 saving, restoring and going on is the same as going on.
 *  I7 a stopped task changes nothing but by start.
 */
import type { Input, TimerKind } from './input.ts'
import { afterWork, clockIsDue, startClocks } from './clock.ts'
import { data, push, runSensor } from './invocation.ts'
import { evict } from './observe.ts'
import { answer, applyFollow, cancelAll, failed, resume, wake } from './result.ts'
import type { TaskRun } from './run.ts'
import { sensorState } from './state.ts'
import { traceStarted, traceStopped } from './trace.ts'

/** Takes one input at `now` (epoch ms). Inputs that came too late to matter change nothing and are not counted. */
export function step(run: TaskRun, now: number, input: Input): void {
  const { state } = run
  run.now = now
  if (input.kind === 'start') {
    if (state.status !== 'running') start(run)
    return
  }
  if (state.status !== 'running' || !isDue(run, input)) return
  state.inputs++
  state.effects = 0
  take(run, input)
  if (state.status !== 'running') return
  afterWork(run)
  finishOnetime(run)
}

function take(run: TaskRun, input: Exclude<Input, { kind: 'start' }>): void {
  switch (input.kind) {
    case 'data':
      return data(run, input.messages, input.sent)
    case 'answer':
      return answer(run, input.execution, input.answer)
    case 'error':
      return failed(run, input.execution, input.message, input.timedOut === true)
    case 'timer':
      return timer(run, input.timer, input.key)
    case 'push':
      return push(run, input.node, input.state, input.rawData)
    case 'run':
      return runSensor(run, input.node, { kind: 'run', time: run.now, node: input.node.label })
    case 'resume':
      return resume(run, input.node)
    case 'stop':
      return stop(run, 'stopped')
  }
}

/** Timers are not taken back when plans change: one that no longer fits the state is dropped here. */
function isDue(run: TaskRun, input: Input): boolean {
  const { state, now } = run
  if (input.kind === 'answer' || input.kind === 'error') return state.inFlight.has(input.execution)
  if (input.kind !== 'timer') return true
  return dueAt(run, input.timer, input.key) <= now
}

/** When the thing that a timer stands for is really due; Infinity when it is not awaited any more. */
export function dueAt(run: TaskRun, kind: TimerKind, key: number): number {
  const { state } = run
  if (kind === 'tick') return state.nextTickAt
  if (kind === 'wake') return findExecution(run, key)?.wakeAt ?? Number.POSITIVE_INFINITY
  const sensor = state.work?.sensors[key]
  if (sensor === undefined) return Number.POSITIVE_INFINITY
  if (kind === 'evict') return sensor.evictAt
  if (kind === 'ownTick') return sensor.ownTickAt
  return sensor.follow?.at ?? Number.POSITIVE_INFINITY
}

function findExecution(run: TaskRun, id: number) {
  for (const execution of run.state.inFlight) if (execution.id === id) return execution
  return undefined
}

function timer(run: TaskRun, kind: TimerKind, key: number): void {
  if (kind === 'tick') return clockIsDue(run, null)
  if (kind === 'wake') {
    const execution = findExecution(run, key)
    if (execution) wake(run, execution)
    return
  }
  const node = run.model.graph.sensors[key]
  if (node === undefined) return
  if (kind === 'evict') return evict(run, node)
  if (kind === 'ownTick') return clockIsDue(run, node)
  const { follow } = sensorState(run.state, node)
  if (follow) applyFollow(run, node, follow)
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
  traceStarted(run)
  startClocks(run)
  finishOnetime(run)
}

function stop(run: TaskRun, reason: 'finished' | 'stopped'): void {
  const { state } = run
  cancelAll(run, () => true)
  state.work?.cascades.clear()
  state.work?.roots.clear()
  state.waitingTicks = []
  state.nextTickAt = Number.POSITIVE_INFINITY
  for (const sensor of state.work?.sensors ?? []) {
    sensor.ownTickAt = Number.POSITIVE_INFINITY
    sensor.evictAt = Number.POSITIVE_INFINITY
    sensor.follow = null
  }
  state.status = 'stopped'
  state.finishedTime = run.now
  traceStopped(run, reason)
}

/** A onetime task is over when its tick came and nothing is in flight or pending. */
function finishOnetime(run: TaskRun): void {
  const { state, model } = run
  if (model.settings.type !== 'onetime' || (state.work?.inFlight.size ?? 0) > 0) return
  if (state.nextTickAt !== Number.POSITIVE_INFINITY) return
  if (state.work?.sensors.some((sensor) => sensor.follow !== null) === true) return
  stop(run, 'finished')
}
