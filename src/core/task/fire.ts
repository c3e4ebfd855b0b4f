/** When a trigger holds, and what firing it does. */
import { ANY, UNKNOWN, type TriggerEdge } from '../graph/graph.ts'
import { begin, isWork, supersede } from './execution.ts'
import type { Origin } from './origin.ts'
import type { FiringCounts, TaskRun } from './run.ts'
import { destinationState, observedState, sensorState, type Held, type Link, type Observed } from './state.ts'
import { traceFired, traceHeld } from './trace.ts'
import { snapshot } from './why.ts'

export type Match = 'state' | 'change' | 'execution'

/** Evaluates a trigger after its source was evaluated, and fires it when it holds. */
export function fireTrigger(
  run: TaskRun,
  trigger: TriggerEdge,
  invocation: number,
  origin: Origin,
  via: Link | null,
): void {
  const matched = match(trigger, observedState(run.state, trigger.source))
  if (matched !== undefined) fire(run, trigger, matched, invocation, origin, via)
}

/** Which part of a trigger holds for its source's last evaluation; undefined when none does. */
export function match(trigger: TriggerEdge, source: Observed): Match | undefined {
  const { states, change } = trigger
  const state = source.state
  if (state === UNKNOWN) return undefined
  if (states === undefined && change === undefined) return 'execution'
  if (states?.[state] === true) return 'state'
  if (change === undefined) return undefined
  if (change.from === ANY)
    return state !== source.previous && (change.to === ANY || change.to === state) ? 'change' : undefined
  if (source.before !== change.from) return undefined
  return (change.to === ANY ? state !== change.from : state === change.to) ? 'change' : undefined
}

/** Fires a trigger that holds, unless something holds it back. */
export function fire(
  run: TaskRun,
  trigger: TriggerEdge,
  matched: Match,
  invocation: number,
  origin: Origin,
  via: Link | null,
): void {
  const destination = destinationState(run.state, trigger.destination)
  const coolUntil = destination.firedAt + trigger.policyMs
  if (run.now < coolUntil) return hold(run, trigger, invocation, 'invocationPolicy', coolUntil)
  const atWork = trigger.destination.kind === 'sensor' ? sensorState(run.state, trigger.destination).running : null
  if (atWork !== null) {
    if (isWork(atWork)) return hold(run, trigger, invocation, 'overlap')
    supersede(run, atWork, invocation)
  }
  const source = observedState(run.state, trigger.source)
  const execution = begin(run, trigger.destination, invocation, origin, { trigger, time: run.now, earlier: via }, null)
  destination.firedAt = run.now
  destination.held = null
  destination.firing = {
    trigger,
    time: run.now,
    invocation,
    input: execution.input,
    place: execution.place,
    matched,
    from: source.before,
    to: source.state,
    origin,
    via,
    seen: snapshot(run.state, trigger),
  }
  if (run.sink.counts !== null) count(run.sink.counts, trigger)
  traceFired(run, destination.firing)
}

function count(counts: FiringCounts, { destination }: TriggerEdge): void {
  counts.firings++
  if (destination.kind === 'actuator') counts.calls++
}

function hold(run: TaskRun, trigger: TriggerEdge, invocation: number, reason: Held['reason'], until?: number): void {
  destinationState(run.state, trigger.destination).held = { reason, time: run.now, until, trigger }
  if (run.sink.counts !== null) run.sink.counts.held++
  const more = until === undefined ? {} : { until }
  traceHeld(run, invocation, trigger.destination.label, reason, { source: trigger.source.label, ...more })
}
