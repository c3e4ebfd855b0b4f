/**
 * Stores the parts of row events that never change: labels, state names, and where states are in a row's bits. Created
 * once per graph, with the first subscriber.
 */
import type { WhyGate, WhyStep, WhyTrigger } from '../engine/events.ts'
import type { SensorState } from '../engine/firing.ts'
import { GATE_STATES, type GraphNode, type ObservableNode, type SensorNode, type TriggerEdge } from '../graph/graph.ts'
import { stateName } from '../task/state.ts'
import type { TaskModel } from '../task/run.ts'
import { evaluationOf, gateStates } from './possible-firings.ts'
import type { Fires, HoldingTrigger } from './followings.ts'
import type { RowStore } from './row-store.ts'

/** Texts of a sensor, and where a row stores its state. */
export interface SensorText {
  readonly node: string
  readonly states: readonly string[]
  readonly slot: number
  readonly shift: number
  readonly mask: number
}

/** The part of a firing's why that depends only on states. */
export interface StateWhy {
  readonly trigger: WhyTrigger
  /** undefined when no other trigger holds */
  readonly also: readonly WhyTrigger[] | undefined
  readonly sensors: readonly SensorState[]
  readonly gates: readonly WhyGate[]
}

export interface TriggerText {
  readonly source: string
  readonly node: string
  /** undefined when the source is a gate */
  readonly sensor: SensorText | undefined
  /** position of the last evaluated sensor among those behind the source */
  readonly leading: number
  /** descriptions of the trigger, by what matched and by the states of its source */
  readonly said: (WhyTrigger | undefined)[]
  /** sensors behind the source, in the order of the why */
  readonly sensors: readonly SensorText[]
  readonly hasGates: boolean
  /** by states: shared parts of whys; undefined: too many to share */
  readonly all: (StateWhy | undefined)[] | undefined
}

const ALL_MATCHES: readonly WhyTrigger['matched'][] = ['state', 'change', 'begins', 'ends', 'execution']
const MATCHES = ALL_MATCHES.length

const SAID_STATES = 8

const MAX_SAID = 4096
/** true, false and unknown */
const GATE_VALUES = 3

const WITHOUT_CONDITION = { matched: 'execution', from: -1, to: -1, also: [] } as const

export class RowTexts {
  readonly triggers: readonly TriggerText[]
  readonly sensors: number
  /** triggers from sensors to other sensors, which fire with each message, in order */
  readonly inner: readonly Fires[]
  /** by position: how many of these triggers fire after earlier sensors */
  readonly innerBefore: readonly number[]
  readonly #paths: WhyPaths
  readonly #rows: RowStore
  readonly #model: TaskModel
  /** by trigger, then by state bits: gates shared by events */
  readonly #gates: Map<number, readonly WhyGate[]>[]

  constructor(rows: RowStore, model: TaskModel) {
    const { graph } = model
    this.#rows = rows
    this.#model = model
    const order = rows.shape.sensors.map(({ slot }) => graph.sensors[slot] as SensorNode)
    this.sensors = order.length
    this.triggers = graph.triggers.map((trigger) => this.#text(trigger, order))
    this.#paths = new WhyPaths(order.map((sensor) => triggersTo(sensor)))
    this.inner = order.flatMap(({ incoming: [trigger] }, position) =>
      trigger === undefined ? [] : [{ trigger: trigger.order, position: position - 1, ...WITHOUT_CONDITION }],
    )
    this.innerBefore = Array.from({ length: order.length + 1 }, (_, p) => {
      return this.inner.filter(({ position }) => position < p).length
    })
    this.#gates = graph.triggers.map(() => new Map<number, readonly WhyGate[]>())
  }

  /**
   * Returns a trigger's description for a why, the same object for the same states. State bits are those before and
   * after the message.
   */
  trigger({ trigger, matched, from, to }: HoldingTrigger, before: number, after: number): WhyTrigger {
    const text = this.triggers[trigger] as TriggerText
    const { sensor, said, source, node } = text
    const old = sensor === undefined ? from : (before >> sensor.shift) & sensor.mask
    const now = sensor === undefined ? to : (after >> sensor.shift) & sensor.mask
    const states: readonly string[] = sensor === undefined ? GATE_STATES : sensor.states
    const place = ((old + 1) * SAID_STATES + now + 1) * MATCHES + placeOfMatch(matched)
    const isKept = old < SAID_STATES - 1 && now < SAID_STATES - 1
    const known = isKept ? said[place] : undefined
    if (known !== undefined) return known
    const made = { source, destination: node, matched, from: states[old] ?? null, to: states[now] ?? null }
    if (isKept) said[place] = made
    return made
  }

  /** Returns the descriptions of the other triggers that hold; undefined when none does. */
  also({ also }: Fires, before: number, after: number): readonly WhyTrigger[] | undefined {
    return also.length === 0 ? undefined : also.map((one) => this.trigger(one, before, after))
  }

  /** Returns the part of a why that depends only on states, the same object for the same states. */
  said(fires: Fires, before: number, after: number): StateWhy {
    const text = this.triggers[fires.trigger] as TriggerText
    const { sensor, sensors } = text
    // Only the list of `also` knows the states of the other triggers' sources.
    const all = fires.also.length === 0 ? text.all : undefined
    const key = sensor === undefined ? gateKey(sensors, fires, after) : ownKey(sensor, fires, before, after)
    const known = all?.[key]
    if (known !== undefined) return known
    const made = {
      trigger: this.trigger(fires, before, after),
      also: this.also(fires, before, after),
      sensors: sensors.map((one) => ({ node: one.node, state: stateOf(one, after) })),
      gates: this.gates(fires.trigger, after),
    }
    if (all !== undefined) all[key] = made
    return made
  }

  /**
   * Returns the triggers that led to a trigger's source, first one first, for a message at `time` (epoch ms);
   * undefined: none did.
   */
  via(trigger: number, time: number): readonly WhyStep[] | undefined {
    return this.#paths.at((this.triggers[trigger] as TriggerText).leading, time)
  }

  /** Returns the gates behind a trigger's source, the same list for the same states. */
  gates(trigger: number, states: number): readonly WhyGate[] {
    const { keyMask, shape } = this.#rows
    const bits = states & keyMask & ~shape.edgeMask
    const known = this.#gates[trigger]?.get(bits)
    if (known !== undefined) return known
    const gates = this.#whyGates(this.#model.graph.triggers[trigger] as TriggerEdge, bits)
    this.#gates[trigger]?.set(bits, gates)
    return gates
  }

  #whyGates({ behind }: TriggerEdge, bits: number): readonly WhyGate[] {
    const { graph, settings } = this.#model
    const sensors = this.#rows.states(bits)
    const gates = gateStates(graph, sensors, settings.gatesNeedFullObservation)
    return behind.flatMap((gate): WhyGate[] => {
      if (gate.kind === 'sensor') return []
      const row = gate.parents.map((parent) => {
        const state = parent.kind === 'sensor' ? sensors[parent.slot] : gates[parent.slot]
        return [parent.label, stateName(parent, state ?? -1)] as const
      })
      const state = GATE_STATES[gates[gate.slot] ?? -1] ?? null
      return [{ node: gate.label, type: gate.type, state, row: Object.fromEntries(row) }]
    })
  }

  #text({ source, destination, behind }: TriggerEdge, order: readonly SensorNode[]): TriggerText {
    const sensors = behind.flatMap((node) => (node.kind === 'sensor' ? [this.#sensor(node)] : []))
    const own = source.kind === 'sensor' ? this.#sensor(source) : undefined
    const olds = own === undefined ? GATE_VALUES ** 2 : own.mask + 1
    const mostSaid = sensors.reduce((product, { mask }) => product * (mask + 1), olds * MATCHES)
    return {
      source: source.label,
      node: destination.label,
      sensor: own,
      leading: order.indexOf(leadingTo(source, evaluationOf(this.#model).nodes)),
      said: Array.from({ length: MATCHES * SAID_STATES ** 2 }, () => undefined),
      sensors,
      hasGates: behind.some(({ kind }) => kind === 'gate'),
      all: mostSaid > MAX_SAID ? undefined : Array.from({ length: mostSaid }, () => undefined),
    }
  }

  #sensor({ label, states, slot }: SensorNode): SensorText {
    const { shift = 0, mask = 0 } = this.#rows.shape.sensors.find((sensor) => sensor.slot === slot) ?? {}
    return { node: label, states: [...states], slot, shift, mask }
  }
}

/**
 * Creates the steps that led to a sensor. The steps of each longest path are created once per message and shared by its
 * whys; a sensor on the path uses the first of them.
 */
class WhyPaths {
  /** by position: number of triggers that lead to the sensor, and index of a path through it */
  readonly #lengths: readonly number[]
  readonly #ways: readonly number[]
  readonly #triggers: readonly (readonly TriggerEdge[])[]
  /** by path: the steps for messages at `#time` */
  #steps: (readonly WhyStep[] | undefined)[] = []
  #time = Number.NaN

  constructor(paths: readonly (readonly TriggerEdge[])[]) {
    this.#lengths = paths.map(({ length }) => length)
    const goesBy = (path: readonly TriggerEdge[], by: readonly TriggerEdge[]) => by.every((step, i) => step === path[i])
    this.#triggers = paths.filter((path) => !paths.some((other) => other !== path && goesBy(other, path)))
    this.#ways = paths.map((path) => this.#triggers.findIndex((way) => goesBy(way, path)))
  }

  at(position: number, time: number): readonly WhyStep[] | undefined {
    const length = this.#lengths[position] as number
    return length === 0 ? undefined : this.#stepsOf(this.#ways[position] as number, time).slice(0, length)
  }

  #stepsOf(way: number, time: number): readonly WhyStep[] {
    if (time !== this.#time) {
      this.#time = time
      this.#steps = []
    }
    return (this.#steps[way] ??= (this.#triggers[way] ?? []).map(({ source, destination }) => {
      return { source: source.label, destination: destination.label, time }
    }))
  }
}

function ownKey({ shift, mask }: SensorText, { matched }: Fires, before: number, after: number): number {
  const old = (before >> shift) & mask
  return (old * MATCHES + placeOfMatch(matched)) * (mask + 1) + ((after >> shift) & mask)
}

function gateKey(sensors: readonly SensorText[], { from, to, matched }: Fires, after: number): number {
  let key = ((from + 1) * GATE_VALUES + to + 1) * MATCHES + placeOfMatch(matched)
  for (const { shift, mask } of sensors) key = key * (mask + 1) + ((after >> shift) & mask)
  return key
}

function placeOfMatch(matched: WhyTrigger['matched']): number {
  return ALL_MATCHES.indexOf(matched)
}

function stateOf({ states, shift, mask }: SensorText, bits: number): string | null {
  return states[(bits >> shift) & mask] ?? null
}

function triggersTo({ incoming: [trigger] }: SensorNode): readonly TriggerEdge[] {
  if (trigger === undefined) return []
  return trigger.source.kind === 'sensor' ? [...triggersTo(trigger.source), trigger] : [trigger]
}

function leadingTo(source: ObservableNode, nodes: readonly GraphNode[]): SensorNode {
  if (source.kind === 'sensor') return source
  const last = source.parents.reduce((one, other) => (nodes.indexOf(other) > nodes.indexOf(one) ? other : one))
  return leadingTo(last, nodes)
}
