/** Emits the events of a task. Without subscribers, each function costs one comparison. */
import type { HeldReason } from '../engine/events.ts'
import { GATE_STATES, type GateNode, type GraphNode, type SensorNode } from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import type { Origin } from './origin.ts'
import { effectId, timeOf, type TaskRun } from './run.ts'
import { stateName, type Execution, type Firing } from './state.ts'
import { buildWhy } from './why.ts'

/** Returns the member that an event of a node is about; for a node with a group, the one that is loaded. */
function about(run: TaskRun, { label, group }: GraphNode): { node: string; member?: string } {
  const member = group === -1 ? undefined : run.state.groups[group]?.loaded?.id
  return { node: label, ...(member !== undefined && { member }) }
}

function memberOf({ member }: Execution): { member?: string } {
  return member === null ? {} : { member }
}

function moment({ now, at, model }: TaskRun, time = now): { time: number; at?: number; task: string } {
  return at === time ? { time, task: model.id } : { time, at, task: model.id }
}

export function traceStarted(run: TaskRun): void {
  run.sink.lifecycle?.({
    ...moment(run),
    invocation: run.state.invocations,
    type: 'started',
    run: run.state.run,
  })
}

export function traceStopped(run: TaskRun, reason: 'finished' | 'stopped'): void {
  run.sink.lifecycle?.({ ...moment(run), invocation: run.state.invocations, type: 'stopped', reason })
}

export function traceOrigin(run: TaskRun, origin: Origin): void {
  if (!run.sink.detail) return
  const base = { ...moment(run), invocation: run.state.invocations }
  if (origin.kind === 'data') {
    const { resource = '', values = {}, channel } = origin
    run.sink.detail({ ...base, type: 'data', resource, ...(channel !== undefined && { channel }), values })
  } else if (origin.scheduledAt !== undefined) {
    const node = origin.node === undefined ? {} : { node: origin.node }
    run.sink.detail({ ...base, type: 'tick', ...node, scheduledAt: origin.scheduledAt })
  }
}

export function traceState(run: TaskRun, invocation: number, node: SensorNode, from: number, to: number): void {
  run.sink.detail?.({
    ...moment(run),
    invocation,
    type: 'state',
    ...about(run, node),
    from: stateName(node, from),
    to: stateName(node, to),
  })
}

export function traceGate(run: TaskRun, invocation: number, gate: GateNode, from: number, to: number): void {
  run.sink.detail?.({
    ...moment(run),
    invocation,
    type: 'gate',
    ...about(run, gate),
    from: GATE_STATES[from] ?? null,
    to: GATE_STATES[to] ?? null,
  })
}

export function traceFired(run: TaskRun, firing: Firing): void {
  if (!run.sink.event) return
  const why = run.sink.why ? { why: buildWhy(firing) } : {}
  run.sink.event({
    ...moment(run),
    invocation: firing.invocation,
    type: 'fired',
    ...about(run, firing.trigger.destination),
    source: firing.trigger.source.label,
    effect: effectId(run, firing),
    ...why,
  })
}

export function traceHeld(
  run: TaskRun,
  invocation: number,
  node: string,
  reason: HeldReason,
  more: { source?: string; until?: number; member?: string },
): void {
  run.sink.event?.({ ...moment(run), invocation, type: 'held', node, ...more, reason })
}

export function traceResult(run: TaskRun, execution: Execution, answer: Answer): void {
  if (!run.sink.detail) return
  const node = execution.node
  run.sink.detail({
    ...moment(run, timeOf(run, execution)),
    invocation: execution.invocation,
    type: 'result',
    node: node.label,
    ...memberOf(execution),
    ok: true,
    ...(answer.state >= 0 && { state: node.call.plug.states[answer.state] ?? '' }),
    ...(answer.rawData && { rawData: answer.rawData }),
    ...(answer.message !== undefined && { message: answer.message }),
  })
}

export function traceError(run: TaskRun, execution: Execution, error: string): void {
  run.sink.lifecycle?.({
    ...moment(run, timeOf(run, execution)),
    invocation: execution.invocation,
    type: 'result',
    node: execution.node.label,
    ...memberOf(execution),
    ok: false,
    error,
  })
}

export function traceEvicted(run: TaskRun, node: SensorNode, from: number): void {
  run.sink.event?.({
    ...moment(run),
    invocation: run.state.invocations,
    type: 'evicted',
    ...about(run, node),
    from: stateName(node, from) ?? '',
  })
}

export function traceLog(
  run: TaskRun,
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR',
  message: string,
  node?: string,
): void {
  run.sink.lifecycle?.({
    ...moment(run),
    invocation: run.sink.newest(run.state.invocations),
    type: 'log',
    ...(node !== undefined && { node }),
    level,
    message,
  })
}
