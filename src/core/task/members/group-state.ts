/**
 * Holds the members of one group: the states of the nodes that each member has, and which members are counted.
 *
 * MEMBER-1 at most one member is loaded: the slots of the member's nodes contain its states, so that a step treats
 *   these nodes like all others.
 * MEMBER-2 a member that leaves takes its states, timers and counts with it.
 */
import type { GateNode, GroupNode, MemberCount } from '../../graph/graph.ts'
import { decideCount } from '../../graph/relations.ts'
import { FALSE, UNKNOWN } from '../../graph/graph.ts'
import { freshActuator, freshGate, freshSensor } from '../fresh-nodes.ts'
import type { LastProcessed } from '../readings/reading.ts'
import type { ActuatorState, GateState, SensorState, Stream } from '../state.ts'
import { DueHeap } from './due-heap.ts'

const NEVER = Number.POSITIVE_INFINITY

/** Maximum number of members of a group. */
export const MAX_MEMBERS = 1_000_000

const NONE_TAKEN: readonly never[] = []

/** How a member counts in one relation. */
export interface Contribution {
  /** epoch ms of the last observation, and of the last one of the wanted state; -1: none */
  observedAt: number
  metAt: number
  /** ms by which the clock was ahead at the last observation */
  lag: number
  isKnown: boolean
  isMet: boolean
}

export class Member {
  readonly id: string
  /** position among all members that ever joined */
  readonly order: number
  readonly sensors: readonly SensorState[]
  readonly gates: readonly GateState[]
  readonly actuators: readonly ActuatorState[]
  readonly counted: readonly Contribution[]
  stream: Stream | null = null
  /** what gathering sensors processed last of the member; in their states while it is loaded */
  taken: readonly (LastProcessed | null)[] = NONE_TAKEN
  /** epoch ms in the time of the task, and of the clock, at which something is due; Infinity while it is loaded */
  due = NEVER
  act = NEVER

  constructor(id: string, order: number, { sensors, gates, actuators, counts }: GroupNode) {
    this.id = id
    this.order = order
    this.sensors = sensors.map(() => freshSensor())
    this.gates = gates.map(() => freshGate())
    this.actuators = actuators.map(() => freshActuator())
    this.counted = counts.map(() => ({ observedAt: -1, metAt: -1, lag: 0, isKnown: false, isMet: false }))
  }
}

interface Counter {
  known: number
  readonly met: Set<Member>
}

export class GroupState {
  readonly node: GroupNode
  readonly members = new Map<string, Member>()
  readonly counters: readonly Counter[]
  /** stands in the slots while no member is loaded */
  readonly blank: Member
  loaded: Member | null = null
  readonly due = new DueHeap<Member>((member) => (member === this.loaded ? NEVER : member.due))
  readonly act = new DueHeap<Member>((member) => (member === this.loaded ? NEVER : member.act))
  #joined = 0

  constructor(node: GroupNode) {
    this.node = node
    this.blank = new Member('', -1, node)
    this.counters = node.counts.map(() => ({ known: 0, met: new Set<Member>() }))
  }

  /** Returns the new member; undefined if it is a member already, or the group is full. */
  join(id: string): Member | undefined {
    if (this.members.has(id) || this.members.size >= MAX_MEMBERS) return undefined
    const member = new Member(id, this.#joined++, this.node)
    this.members.set(id, member)
    return member
  }

  /** Removes a member, which must not be loaded. Returns whether a relation counted it, or knew its state. */
  leave(member: Member): boolean {
    this.members.delete(member.id)
    member.due = NEVER
    member.act = NEVER
    let wasKnown = false
    for (const [place, one] of member.counted.entries()) {
      wasKnown ||= one.isKnown
      this.count(place, member, false, false)
    }
    return wasKnown
  }

  count(place: number, member: Member, isKnown: boolean, isMet: boolean): void {
    const counter = this.counters[place]
    const one = member.counted[place]
    if (counter === undefined || one === undefined) return
    if (one.isKnown !== isKnown) counter.known += isKnown ? 1 : -1
    if (isMet) counter.met.add(member)
    else if (one.isMet) counter.met.delete(member)
    one.isKnown = isKnown
    one.isMet = isMet
  }

  /** Decides a relation from the members that count. A share of no member is unknown, a number is then 0. */
  decide(gate: GateNode, { place }: MemberCount, needsAll: boolean): number {
    const { known = 0, met } = this.counters[place] ?? {}
    if (needsAll && known < this.members.size) return UNKNOWN
    if (gate.type === 'SHARE' && known === 0) return UNKNOWN
    const count = met?.size ?? 0
    const state = decideCount(gate, count, count, known)
    return state === UNKNOWN ? FALSE : state
  }

  stopTimers(): void {
    for (const member of this.members.values()) {
      member.due = NEVER
      member.act = NEVER
    }
  }
}

/** Returns when a member stops to count, or to be known, without a further observation; Infinity: never. */
export function expiryOf({ withinMs, freshMs }: MemberCount, one: Contribution): number {
  const known = one.isKnown && freshMs !== NEVER ? one.observedAt + freshMs : NEVER
  return one.isMet && withinMs !== NEVER ? Math.min(known, one.metAt + withinMs) : known
}
