/** Finds the smallest ways to fire a trigger or to bring a node into a state; in two steps if one cannot. */
import { nodesBehind } from '../graph/behind.ts'
import { UNKNOWN, type ObservableNode, type TriggerEdge } from '../graph/graph.ts'
import { edgeBits, match, seenBits } from './fire.ts'
import { type Need, smallestChanges, statesAfter } from './needs.ts'
import { whyNeverRun } from './never-runs.ts'
import type { TaskRun } from './run.ts'
import { observedState, type Observed, stateName } from './state.ts'

const MAX_WAYS = 20
/** bounds the size of an explanation of a rule with hundreds of sensors */
const MAX_STATES = 200

export interface NodeState {
  node: string
  state: string
}

export interface Way {
  /** sensor states that have to hold together */
  states: NodeState[]
  /** sensor states that have to hold together afterwards, if one input cannot do it */
  then?: NodeState[]
}

export interface Ways {
  /** all smallest ways, at most 20 with 200 states in total; empty: nothing is missing, or states cannot do it */
  ways: Way[]
  /** number of equally small ways that are not listed; absent when none */
  waysLeftOut?: number
}

interface Steps {
  readonly first: readonly Need[]
  readonly second: readonly Need[]
}

const NOTHING: readonly Need[] = []

/** Returns the sensor states that would bring a node into a state, everything else being equal. */
export function waysInto(run: TaskRun, node: ObservableNode, state: number): Ways {
  return listed(oneStep(run, node, [state]))
}

/** Returns the sensor states that would fire a trigger if no cool-down, overlap or stop held it back. */
export function waysToFire(run: TaskRun, trigger: TriggerEdge): Ways {
  const observed = observedState(run.state, trigger.source)
  const bits = edgeBits(run.state, trigger)
  if (match(trigger, observed, bits) !== undefined) return { ways: [] }
  const again = runsAgain(run, trigger, observed, bits)
  if (again.length > 0) return listed(again)
  const wanted = firingStates(trigger, observed, bits)
  return listed(wanted.length > 0 ? oneStep(run, trigger.source, wanted) : twoSteps(run, trigger, observed, bits))
}

/** Returns the sensors that fire a change by showing the same state again, since their run forgets it first. */
function runsAgain(run: TaskRun, trigger: TriggerEdge, observed: Observed, bits: number): Steps[] {
  const { source } = trigger
  const { resetObservations, resetScope, gatesNeedFullObservation } = run.model.settings
  const sensors = nodesBehind(source).filter((node) => node.kind === 'sensor')
  if (!resetObservations || (resetScope === 'task' && sensors.length > 1)) return []
  if (match(trigger, { ...observed, previous: UNKNOWN }, bits) === undefined) return []
  return sensors.flatMap((sensor) => {
    const forgotten = statesAfter(source, [{ sensor, state: UNKNOWN }], run.state.observed, gatesNeedFullObservation)
    if (forgotten[source.index]?.state !== UNKNOWN || whyNeverRun(sensor, run.model) !== undefined) return []
    return [{ first: [{ sensor, state: observedState(run.state, sensor).state }], second: NOTHING }]
  })
}

/** Returns the states of the source that would fire the trigger at the next evaluation. */
function firingStates(trigger: TriggerEdge, observed: Observed, bits: number): number[] {
  return trigger.source.states.flatMap((_, state) =>
    match(trigger, next(observed, state), bits) === undefined ? [] : [state],
  )
}

function next(observed: Observed, state: number): Observed {
  const before = observed.state === UNKNOWN ? observed.memory : observed.state
  return { ...observed, state, memory: state, previous: observed.state, before }
}

function oneStep({ state, model }: TaskRun, source: ObservableNode, wanted: readonly number[]): Steps[] {
  const changes = smallestChanges(source, wanted, state.observed, model.settings.gatesNeedFullObservation)
  return changes.map((first) => ({ first, second: NOTHING }))
}

function twoSteps({ state, model }: TaskRun, trigger: TriggerEdge, observed: Observed, bits: number): Steps[] {
  const { source } = trigger
  const needsAll = model.settings.gatesNeedFullObservation
  const all = source.states.flatMap((_, between) => {
    if (between === observed.state) return []
    const wanted = firingStates(trigger, next(observed, between), seenBits(trigger, between, bits))
    if (wanted.length === 0) return []
    return smallestChanges(source, [between], state.observed, needsAll)
      .slice(0, MAX_WAYS)
      .flatMap((first) => {
        const after = statesAfter(source, first, state.observed, needsAll)
        return smallestChanges(source, wanted, after, needsAll).map((second) => ({ first, second }))
      })
  })
  const smallest = Math.min(...all.map(sizeOf))
  return all.filter((steps) => sizeOf(steps) === smallest)
}

function sizeOf({ first, second }: Steps): number {
  return first.length + second.length
}

function listed(all: readonly Steps[]): Ways {
  const size = Math.max(1, ...all.slice(0, 1).map(sizeOf))
  const most = Math.max(1, Math.min(MAX_WAYS, Math.floor(MAX_STATES / size)))
  const ways = all.slice(0, most).map(({ first, second }): Way => ({
    states: first.map(named),
    ...(second.length > 0 && { then: second.map(named) }),
  }))
  return { ways, ...(all.length > most && { waysLeftOut: all.length - most }) }
}

function named({ sensor, state }: Need): NodeState {
  return { node: sensor.label, state: stateName(sensor, state) ?? '' }
}
