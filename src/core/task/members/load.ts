/** Puts the states of a member into the slots of its nodes, and finds the members with something due. */
import type { ActuatorNode, GateNode, SensorNode } from '../../graph/graph.ts'
import { freshActuator, freshSensor } from '../fresh-nodes.ts'
import { resultDueAt, resultLag } from '../sensor-timers.ts'
import type { TaskRun } from '../run.ts'
import {
  actuatorState,
  sensorState,
  type ActuatorState,
  type NodeStates,
  type Observed,
  type SensorState,
} from '../state.ts'
import { expiryOf, type GroupState, type Member } from './group-state.ts'

const NEVER = Number.POSITIVE_INFINITY

type Loading = Pick<TaskRun, 'state' | 'model' | 'sink'>

/** Loads a member into the slots of its nodes, with its timers; null unloads the current one. */
export function load(run: Loading, index: number, member: Member | null): void {
  const group = run.state.groups[index]
  if (group === undefined || group.loaded === member) return
  unload(run, index, group)
  const states = member ?? group.blank
  const { sensors, gates, actuators, gathering } = group.node
  const { state } = run
  // The lists are read-only for all others: only here a slot gets another object.
  const [slots, observed] = [state.sensors as SensorState[], state.observed as Observed[]]
  sensors.forEach((node, i) => {
    const one = states.sensors[i] as SensorState // made of the same list
    slots[node.slot] = one
    observed[node.index] = one
  })
  gates.forEach((node, i) => {
    const one = states.gates[i] as Observed
    ;(state.gates as Observed[])[node.slot] = one
    observed[node.index] = one
  })
  actuators.forEach((node, i) => {
    ;(state.actuators as ActuatorState[])[node.slot] = states.actuators[i] as ActuatorState
  })
  state.streams[streamAt(run, index)] = states.stream
  gathering.forEach((node, i) => {
    sensorState(state, node).taken = states.taken[i] ?? null
  })
  group.loaded = member
}

function unload(run: Loading, index: number, group: GroupState): void {
  const { loaded } = group
  if (loaded === null) return
  loaded.stream = run.state.streams[streamAt(run, index)] ?? null
  loaded.taken = takenOf(run.state, group)
  setDue(group, loaded)
  group.loaded = null
  group.due.note(loaded)
  group.act.note(loaded)
  const at = group.act.firstAt()
  if (at !== NEVER) run.sink.timer('members', at, index)
}

/** Returns what gathering sensors processed last of the loaded member. */
export function takenOf(state: NodeStates, { node: { gathering } }: GroupState): Member['taken'] {
  return gathering.length === 0 ? NOTHING : gathering.map((node) => sensorState(state, node).taken)
}

const NOTHING: readonly never[] = []

function streamAt({ model }: Loading, index: number): number {
  return model.resources.length + index
}

/** Computes when something of a member is due. */
export function setDue({ node }: Pick<GroupState, 'node'>, member: Member): void {
  member.due = NEVER
  member.act = NEVER
  for (const sensor of member.sensors) {
    const result = resultDueAt(sensor)
    member.due = Math.min(member.due, sensor.evictAt, result)
    member.act = Math.min(member.act, sensor.evictAt + sensor.evictLag, result + resultLag(sensor))
  }
  for (const { counts } of node.counts) {
    const one = counts && member.counted[counts.place]
    if (counts === undefined || one === undefined) continue
    const at = expiryOf(counts, one)
    member.due = Math.min(member.due, at)
    member.act = Math.min(member.act, at + one.lag)
  }
}

/** Returns the earliest due time of all members, epoch ms in the time of the task; Infinity without one. */
export function earliestMemberDue({ state }: Pick<TaskRun, 'state'>): number {
  let at = NEVER
  for (const group of state.groups) {
    at = Math.min(at, group.due.firstAt())
    const { loaded } = group
    if (loaded === null) continue
    setDue(group, loaded)
    at = Math.min(at, loaded.due)
  }
  return at
}

/** Returns when the clock lets a member of a group act, epoch ms; Infinity if none is to act. */
export function memberActAt({ state }: Pick<TaskRun, 'state'>, index: number): number {
  const group = state.groups[index]
  if (group === undefined) return NEVER
  const { loaded } = group
  if (loaded !== null) setDue(group, loaded)
  return Math.min(group.act.firstAt(), loaded?.act ?? NEVER)
}

/**
 * Loads in each group the member that is due first, if it is due by now. Which member was loaded before changes nothing,
 * so that a restart does not either.
 */
export function loadDue(run: TaskRun): void {
  for (const [index, group] of run.state.groups.entries()) {
    const { loaded } = group
    const first = group.due.first()
    if (first === undefined || first.due > run.now) continue
    if (loaded !== null) setDue(group, loaded)
    const isLater =
      loaded === null || first.due < loaded.due || (first.due === loaded.due && first.order < loaded.order)
    if (isLater) load(run, index, first)
  }
  // The timer that led here was the only one for all members.
  for (const [index, group] of run.state.groups.entries()) {
    const at = group.act.firstAt()
    if (at !== NEVER) run.sink.timer('members', at, index)
  }
}

/** Returns the relations in which a loaded member stops to count by now. */
export function expiredCounts({ state, now }: TaskRun): readonly GateNode[] {
  return state.groups.flatMap(({ loaded, node }) =>
    loaded === null
      ? []
      : node.counts.filter(({ counts }) => {
          const one = counts && loaded.counted[counts.place]
          return counts !== undefined && one !== undefined && expiryOf(counts, one) <= now
        }),
  )
}

/** Loads the members that messages are about. */
export function loadFor(run: Loading, resources: Iterable<string>): void {
  for (const [index, { members }] of run.state.groups.entries()) {
    for (const resource of resources) {
      const member = members.get(resource)
      if (member !== undefined) load(run, index, member)
    }
  }
}

/** Returns the state of an actuator for the member of an execution; a throwaway if the member has left. */
export function actuatorFor({ state }: Pick<TaskRun, 'state'>, node: ActuatorNode, id: string | null): ActuatorState {
  const group = state.groups[node.group]
  if (group === undefined) return actuatorState(state, node)
  const place = group.node.actuators.indexOf(node)
  return group.members.get(id ?? '')?.actuators[place] ?? freshActuator()
}

/** Returns the state of a sensor for a member; a throwaway if the member has left. */
export function sensorFor({ state }: Pick<TaskRun, 'state'>, node: SensorNode, id: string | null): SensorState {
  const group = state.groups[node.group]
  if (group === undefined) return sensorState(state, node)
  return group.members.get(id ?? '')?.sensors[group.node.sensors.indexOf(node)] ?? freshSensor()
}

/** Notes what is due of all members, after a restore. */
export function noteAll(group: GroupState): void {
  for (const member of group.members.values()) {
    setDue(group, member)
    group.due.note(member)
    group.act.note(member)
  }
}

/** Returns the member that is loaded for a node with a group. */
export function loadedFor({ state }: Pick<TaskRun, 'state'>, { group }: Pick<SensorNode, 'group'>): string | null {
  return group === -1 ? null : (state.groups[group]?.loaded?.id ?? null)
}
