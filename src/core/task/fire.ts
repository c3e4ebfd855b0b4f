/** Decides which triggers to a destination hold in an input, and fires the destination. */
import { ANY, UNKNOWN, type DestinationNode, type TriggerEdge } from '../graph/graph.ts'
import { begin, isWork, supersede } from './execution.ts'
import { loadedFor } from './members/load.ts'
import type { FiringCounts, TaskRun } from './run.ts'
import {
  destinationState,
  HAS_BEGUN,
  MAY_END,
  observedState,
  sensorState,
  type Destination,
  type Evaluation,
  type Held,
  type Holding,
  type Match,
  type NodeStates,
  type Observed,
  type Touch,
} from './state.ts'
import { traceFired, traceHeld } from './trace.ts'
import { snapshot } from './why.ts'

const NOTHING_ELSE: readonly Holding[] = []

/** Fires through the first trigger that holds and whose cool-down has passed. Returns true when an execution began. */
export function fireDestination(run: TaskRun, { touched }: Evaluation, node: DestinationNode): boolean {
  const destination = destinationState(run.state, node)
  let holding: Holding[] | undefined
  for (const [index, trigger] of node.incoming.entries()) {
    const touch = touched.get(trigger.source)
    if (touch === undefined) continue
    const one = holds(run, destination, index, trigger, touch)
    if (one !== undefined) (holding ??= []).push(one)
  }
  if (holding === undefined) return false
  const first =
    holding.find(({ trigger }) => run.now >= coolUntil(destination, trigger)) ?? earliest(destination, holding)
  const { trigger } = first
  const touch = touched.get(trigger.source) as Touch // the trigger holds
  const until = coolUntil(destination, trigger)
  if (run.now < until) return hold(run, trigger, touch, 'invocationPolicy', until)
  const atWork = node.kind === 'sensor' ? sensorState(run.state, node).running : null
  if (atWork !== null) {
    if (isWork(atWork)) return hold(run, trigger, touch, 'overlap')
    supersede(run, atWork)
  }
  for (const one of holding) noteFired(run, destination, one)
  const also = holding.length === 1 ? NOTHING_ELSE : holding.filter((one) => one !== first)
  beginFiring(run, destination, first, also, touch)
  return true
}

function beginFiring(
  run: TaskRun,
  destination: Destination,
  first: Holding,
  also: readonly Holding[],
  touch: Touch,
): void {
  const { trigger } = first
  const { invocation, origin, via } = touch
  const execution = begin(run, trigger.destination, invocation, origin, { trigger, time: run.now, earlier: via })
  const { input, indexInInput } = execution
  destination.firedAt = run.now
  destination.held = null
  const seen = snapshot(run.state, trigger)
  destination.firing = { ...first, time: run.now, invocation, input, indexInInput, also, origin, via, seen }
  if (run.sink.counts !== null) count(run.sink.counts, trigger)
  traceFired(run, destination.firing)
}

function coolUntil({ firedAt }: Destination, { policyMs }: TriggerEdge): number {
  return firedAt + policyMs
}

function earliest(destination: Destination, holding: readonly Holding[]): Holding {
  return holding.reduce((a, b) => (coolUntil(destination, b.trigger) < coolUntil(destination, a.trigger) ? b : a))
}

/** Whether a trigger holds; also updates its `begins` and `ends` bits. */
function holds(
  run: TaskRun,
  destination: Destination,
  index: number,
  trigger: TriggerEdge,
  { isObserved, hasSucceeded }: Touch,
): Holding | undefined {
  const source = observedState(run.state, trigger.source)
  if (isUnconditional(trigger)) {
    const isKnownGate = trigger.source.kind !== 'gate' || source.state !== UNKNOWN
    return hasSucceeded && isKnownGate ? holdingOf(trigger, 'execution', source) : undefined
  }
  if (!isObserved || source.state === UNKNOWN) return undefined
  const bits = destination.edges[index] ?? 0
  const matched = match(trigger, source, bits)
  if (hasEdges(trigger)) setBits(destination, index, seenBits(trigger, source.state, bits))
  return matched && holdingOf(trigger, matched, source)
}

function holdingOf(trigger: TriggerEdge, matched: Match, { before, state }: Observed): Holding {
  return { trigger, matched, from: before, to: state }
}

export function isUnconditional({ states, change, begins: entered, ends }: TriggerEdge): boolean {
  return states === undefined && change === undefined && entered === undefined && ends === undefined
}

export function hasEdges({ begins: entered, ends }: TriggerEdge): boolean {
  return entered !== undefined || ends !== undefined
}

/** Returns which part of a trigger holds, if any. `bits`: its `begins` and `ends` bits. */
export function match(trigger: TriggerEdge, source: Observed, bits: number): Match | undefined {
  const { states, change, begins: entered, ends } = trigger
  const state = source.state
  if (state === UNKNOWN) return undefined
  if (states?.[state] === true) return 'state'
  if (change !== undefined && hasChanged(change, source)) return 'change'
  if (entered?.[state] === true && (bits & HAS_BEGUN) === 0) return 'begins'
  if (ends !== undefined && ends[state] !== true && (bits & MAY_END) !== 0) return 'ends'
  return isUnconditional(trigger) ? 'execution' : undefined
}

function hasChanged({ from, to }: NonNullable<TriggerEdge['change']>, { state, previous, before }: Observed): boolean {
  if (from === ANY) return state !== previous && (to === ANY || to === state)
  return before === from && (to === ANY ? state !== from : state === to)
}

/** Returns the `begins` and `ends` bits of a trigger after its source was observed in a known state. */
export function seenBits({ begins: entered, ends }: TriggerEdge, state: number, bits: number): number {
  const begun = entered !== undefined && entered[state] !== true ? bits & ~HAS_BEGUN : bits
  return ends?.[state] === true ? begun | MAY_END : begun
}

/** Returns the `begins` and `ends` bits of a trigger after it fired its destination. */
export function firedBits({ begins: entered, ends }: TriggerEdge, state: number, bits: number): number {
  const begun = entered?.[state] === true ? bits | HAS_BEGUN : bits
  return ends !== undefined && ends[state] !== true ? begun & ~MAY_END : begun
}

function noteFired(run: TaskRun, destination: Destination, { trigger }: Holding): void {
  if (!hasEdges(trigger)) return
  const { state } = observedState(run.state, trigger.source)
  setBits(destination, incomingIndex(trigger), firedBits(trigger, state, edgeBits(run.state, trigger)))
}

function incomingIndex(trigger: TriggerEdge): number {
  return trigger.destination.incoming.indexOf(trigger)
}

export function edgeBits(state: NodeStates, trigger: TriggerEdge): number {
  return destinationState(state, trigger.destination).edges[incomingIndex(trigger)] ?? 0
}

/** Initializes a trigger that is new to a running task: `ends` may fire if its source was last in that set. */
export function beginEdges(run: TaskRun, trigger: TriggerEdge): void {
  if (!hasEdges(trigger)) return
  const { memory } = observedState(run.state, trigger.source)
  setBits(destinationState(run.state, trigger.destination), incomingIndex(trigger), seenBits(trigger, memory, 0))
}

/** Replaces the list instead of changing it, so that copies of a state may share it. */
export function setBits(destination: Destination, index: number, bits: number): void {
  if ((destination.edges[index] ?? 0) === bits) return
  destination.edges = Array.from({ length: Math.max(destination.edges.length, index + 1) }, (_, i) =>
    i === index ? bits : (destination.edges[i] ?? 0),
  )
}

function count(counts: FiringCounts, { destination }: TriggerEdge): void {
  counts.firings++
  if (destination.kind === 'actuator') counts.calls++
}

function hold(run: TaskRun, trigger: TriggerEdge, touch: Touch, reason: Held['reason'], until?: number): false {
  destinationState(run.state, trigger.destination).held = { reason, time: run.now, until, trigger }
  if (run.sink.counts !== null) run.sink.counts.held++
  const member = loadedFor(run, trigger.destination)
  const more = { ...(until !== undefined && { until }), ...(member !== null && { member }) }
  traceHeld(run, touch.invocation, trigger.destination.label, reason, { source: trigger.source.label, ...more })
  return false
}
