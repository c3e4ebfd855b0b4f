/** Explains a firing or a state back to the data; a firing from a snapshot that was taken when its trigger fired. */
import type { InputSummary, Why, WhyGate, WhyMembers, WhySensor, WhyStep, WhyTrigger } from '../engine/events.ts'
import { nodesBehind } from '../graph/behind.ts'
import { GATE_STATES, UNKNOWN, type MemberCount, type ObservableNode, type TriggerEdge } from '../graph/graph.ts'
import type { Origin } from './origin.ts'
import { observedState, sensorState, stateName, type Firing, type Holding, type Link, type Seen } from './state.ts'
import type { TaskState } from './task-state.ts'

export function snapshot(state: TaskState, trigger: TriggerEdge): readonly Seen[] {
  return trigger.behind.map((node) => see(state, node))
}

function see(state: TaskState, node: ObservableNode): Seen {
  const observed = observedState(state, node)
  // The origin of a forgotten state explains nothing.
  const isKnownSensor = node.kind === 'sensor' && observed.state !== UNKNOWN
  const origin = isKnownSensor ? sensorState(state, node).origin : null
  const members = node.kind === 'gate' && node.counts !== undefined ? membersOf(state, node.counts) : undefined
  return { node, state: observed.state, since: observed.since, origin, ...(members && { members }) }
}

const SHOWN_MEMBERS = 10

function membersOf({ groups }: TaskState, { group, place }: MemberCount): WhyMembers | undefined {
  const counter = groups[group]?.counters[place]
  if (counter === undefined) return undefined
  const first: string[] = []
  for (const { id } of counter.met) if (first.push(id) === SHOWN_MEMBERS) break
  return { count: counter.met.size, of: counter.known, first }
}

/** Builds the chain of a firing (data -> sensor states -> gate row -> trigger), with each node once. */
export function buildWhy(firing: Firing): Why {
  const why = {
    input: summary(firing.origin),
    trigger: whyTrigger(firing),
    ...(firing.also.length > 0 && { also: firing.also.map(whyTrigger) }),
    ...chainOf(firing.seen),
  }
  return firing.via === null ? why : withVia(why, firing.via)
}

/** Builds the chain of a current state (data -> sensor states -> gate row). */
export function buildStateWhy(state: TaskState, node: ObservableNode): Pick<Why, 'sensors' | 'gates' | 'via'> {
  const why = chainOf(nodesBehind(node).map((behind) => see(state, behind)))
  const via = node.kind === 'sensor' ? sensorState(state, node).via : null
  return via === null ? why : { ...why, via: stepsTo(via) }
}

function chainOf(seen: readonly Seen[]): Pick<Why, 'sensors' | 'gates'> {
  const stateOf = new Map(seen.map((one) => [one.node, one.state]))
  const sensors: WhySensor[] = []
  const gates: WhyGate[] = []
  for (const one of seen) {
    if (one.node.kind === 'sensor') sensors.push(whySensor(one))
    else {
      const parents = one.node.parents.map(
        (parent) => [parent.label, stateName(parent, stateOf.get(parent) ?? UNKNOWN)] as const,
      )
      gates.push({
        node: one.node.label,
        type: one.node.type,
        state: GATE_STATES[one.state] ?? null,
        row: Object.fromEntries(parents),
        ...(one.members && { members: one.members }),
      })
    }
  }
  return { sensors, gates }
}

/** Adds the steps of a chain of triggers, built on demand, since each firing has as many steps as its chain is long. */
function withVia(why: Why, link: Link): Why {
  return Object.defineProperty(why, 'via', { enumerable: true, get: () => stepsTo(link) })
}

function whyTrigger({ trigger: { source, destination }, matched, from, to }: Holding): WhyTrigger {
  return {
    source: source.label,
    destination: destination.label,
    matched,
    from: stateName(source, from),
    to: stateName(source, to),
  }
}

function whySensor(seen: Seen): WhySensor {
  const state = stateName(seen.node, seen.state)
  if (state === null) return { node: seen.node.label, state }
  return {
    node: seen.node.label,
    state,
    since: seen.since,
    ...(seen.origin && { input: summary(seen.origin) }),
    ...(seen.origin?.carried && { carried: carriedTimes(seen.origin.carried) }),
  }
}

function carriedTimes(carried: Readonly<Record<string, number>>): NonNullable<WhySensor['carried']> {
  return Object.fromEntries(Object.entries(carried).map(([name, time]) => [name, { time }]))
}

/** Steps are cached, since firings of one chain share them. */
const STEPS = new WeakMap<Link, WhyStep>()
const CHAINS = new WeakMap<Link, readonly WhyStep[]>()

function stepsTo(last: Link): readonly WhyStep[] {
  const known = CHAINS.get(last)
  if (known !== undefined) return known
  const steps: WhyStep[] = []
  for (let link: Link | null = last; link; link = link.earlier) steps.push(stepOf(link))
  steps.reverse()
  CHAINS.set(last, steps)
  return steps
}

function stepOf(link: Link): WhyStep {
  let step = STEPS.get(link)
  if (step === undefined) {
    const { source, destination } = link.trigger
    STEPS.set(link, (step = { source: source.label, destination: destination.label, time: link.time }))
  }
  return step
}

export function summary(origin: Origin): InputSummary {
  return {
    kind: origin.kind,
    time: origin.time,
    ...(origin.scheduledAt !== undefined && { scheduledAt: origin.scheduledAt }),
    ...(origin.node !== undefined && { node: origin.node }),
    ...(origin.resource !== undefined && { resource: origin.resource }),
    ...(origin.channel !== undefined && { channel: origin.channel }),
    ...(origin.values !== undefined && { values: origin.values }),
  }
}
