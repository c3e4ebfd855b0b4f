/** Counts the members of a group in COUNT and SHARE relations. */
import { UNKNOWN, type GateNode, type MemberCount, type ObservableNode, type SensorNode } from '../../graph/graph.ts'
import { nodesBehind } from '../../graph/behind.ts'
import type { Origin } from '../origin.ts'
import { lagOf, type TaskRun } from '../run.ts'
import { observedState, sensorState, type Evaluation, type Touch } from '../state.ts'
import { expiryOf } from './group-state.ts'

/** Updates how the loaded member counts in a relation, if one is loaded. */
export function recount(run: TaskRun, { touched }: Evaluation, counts: MemberCount): void {
  const { state, now } = run
  const group = state.groups[counts.group]
  const member = group?.loaded
  const one = member?.counted[counts.place]
  if (group === undefined || !member || one === undefined) return
  const shown = observedState(state, counts.parent).state
  if (shown !== UNKNOWN && touched.get(counts.parent)?.isObserved === true) {
    one.observedAt = now
    one.lag = lagOf(run)
    if (shown === counts.wanted) one.metAt = now
  }
  const { freshMs, withinMs } = counts
  const isKnown = shown !== UNKNOWN && now < one.observedAt + freshMs
  const isWithin = withinMs === Number.POSITIVE_INFINITY ? shown === counts.wanted : isRecent(one.metAt, withinMs, now)
  group.count(counts.place, member, isKnown, isKnown && isWithin)
  const at = expiryOf(counts, one)
  if (at !== Number.POSITIVE_INFINITY) run.sink.timer('members', at + one.lag, counts.group)
}

function isRecent(at: number, length: number, now: number): boolean {
  return at !== -1 && now < at + length
}

/** Counts all members in a relation that is new to a running task, from the states that they show. */
export function countAll({ state }: TaskRun, { group: index, place, parent, wanted }: MemberCount): void {
  const group = state.groups[index]
  if (group === undefined) return
  const { sensors, gates } = group.node
  for (const member of group.members.values()) {
    const shown =
      parent.kind === 'sensor' ? member.sensors[sensors.indexOf(parent)] : member.gates[gates.indexOf(parent)]
    const one = member.counted[place]
    if (shown === undefined || one === undefined || shown.state === UNKNOWN) continue
    const isMet = shown.state === wanted
    Object.assign(one, { observedAt: shown.since, metAt: isMet ? shown.since : -1 })
    group.count(place, member, true, isMet)
  }
}

/** Returns the state of a relation that counts members. */
export function decideMembers(run: TaskRun, gate: GateNode, counts: MemberCount): number {
  return run.state.groups[counts.group]?.decide(gate, counts, run.model.settings.gatesNeedFullObservation) ?? UNKNOWN
}

/** Returns what touched a relation that no parent touched: its loaded member was forgotten, expired, joined or left. */
export function countingTouch({ counting, invocation }: Evaluation, gate: GateNode): Touch | undefined {
  const origin = counting.get(gate)
  return origin && { invocation, origin, via: null, isObserved: true, hasSucceeded: true }
}

/** Returns the origin of the state that the loaded member shows. */
export function originOfMember(run: TaskRun, { parent, group }: MemberCount): Origin {
  const known = sensorsBehind(parent).find((node) => sensorState(run.state, node).origin !== null)
  const origin = known && sensorState(run.state, known).origin
  if (origin) return origin
  const resource = run.state.groups[group]?.loaded?.id ?? ''
  return { kind: 'leave', time: run.now, resource }
}

function sensorsBehind(node: ObservableNode): readonly SensorNode[] {
  return nodesBehind(node).filter((one) => one.kind === 'sensor')
}
