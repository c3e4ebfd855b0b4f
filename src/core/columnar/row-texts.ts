/**
 * What events of rows say that does not change from message to message: labels, names of states, and where in a row's
 * bits a state stands. Made once per graph, when somebody first listens.
 */
import type { WhyGate, WhyStep, WhyTrigger } from '../engine/events.ts'
import type { SensorState } from '../engine/firing.ts'
import { GATE_STATES, UNKNOWN, type Graph, type SensorNode, type TriggerEdge } from '../graph/graph.ts'
import { stateName } from '../task/state.ts'
import type { TaskModel } from '../task/run.ts'
import { gateStates } from './possible-firings.ts'
import type { Fires, RowStore } from './row-store.ts'

/** A sensor, by where a row has it. */
export interface SensorText {
  readonly node: string
  readonly states: readonly string[]
  readonly slot: number
  /** in calling order */
  readonly position: number
  readonly shift: number
  readonly mask: number
}

/** What whys of firings say that hangs on states alone. */
export interface StateWhy {
  readonly trigger: WhyTrigger
  readonly sensors: readonly SensorState[]
  readonly gates: readonly WhyGate[]
}

interface LastStateWhy {
  fires: Fires | undefined
  before: number
  after: number
  said: StateWhy | undefined
}

export interface TriggerText {
  readonly source: string
  readonly node: string
  /** undefined: the source is a gate */
  readonly sensor: SensorText | undefined
  /** what whys say of it, by what matched and by the states of its source */
  readonly said: (WhyTrigger | undefined)[]
  /** behind the source, as its why lists them */
  readonly sensors: readonly SensorText[]
  readonly hasGates: boolean
  /** by states: what firings share; undefined: there would be too much of it */
  readonly all: (StateWhy | undefined)[] | undefined
  /** the state bits on which that hangs, and what was said last: mostly it is said again */
  readonly bits: number
  readonly last: LastStateWhy
}

const MATCHES = 3

/** Of sources with more states than this what whys say is made anew each time. */
const SAID_STATES = 8

/** What is kept of one trigger for firings to share. */
const MAX_SAID = 4096

/** Of a trigger into a sensor. */
const WITHOUT_CONDITION = { matched: 'execution', from: -1, to: -1 } as const

export class RowTexts {
  readonly triggers: readonly TriggerText[]
  /** how many there are */
  readonly sensors: number
  /** triggers of sensors into other sensors, which fire with each message, by position */
  readonly inner: readonly Fires[]
  /** by position: how many of them there are of sensors before */
  readonly innerBefore: readonly number[]
  /** by state bits after a message, then by those before it: what whys of `inner` say */
  #innerSaid = new Map<number, Map<number, readonly StateWhy[]>>()
  #innerSaidSize = 0
  /** what was said of them last: mostly it is said again */
  #innerLast: readonly StateWhy[] | undefined
  #innerLastBefore = 0
  #innerLastAfter = 0
  readonly #paths: WhyPaths
  readonly #rows: RowStore
  readonly #model: TaskModel
  /** by trigger, then by position and state bits: gates that events share */
  readonly #gates: Map<number, readonly WhyGate[]>[]

  constructor(rows: RowStore, model: TaskModel) {
    const { graph } = model
    this.#rows = rows
    this.#model = model
    const order = rows.shape.sensors.map(({ slot }) => graph.sensors[slot] as SensorNode)
    this.sensors = order.length
    this.triggers = graph.triggers.map((trigger) => this.#text(trigger))
    this.#paths = new WhyPaths(order.map((sensor) => ledTo(graph, sensor)))
    this.inner = order.flatMap((sensor, position) =>
      sensor.triggers
        .filter(({ destination }) => destination.kind === 'sensor')
        .map((trigger) => ({ trigger: graph.triggers.indexOf(trigger), position, ...WITHOUT_CONDITION })),
    )
    this.innerBefore = Array.from({ length: order.length + 1 }, (_, p) => {
      return this.inner.filter(({ position }) => position < p).length
    })
    this.#gates = graph.triggers.map(() => new Map<number, readonly WhyGate[]>())
  }

  /** What whys say of a trigger: the same object for the same states. State bits before a message and after it. */
  trigger({ trigger, matched, from, to }: Fires, before: number, after: number): WhyTrigger {
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

  /** What whys say that hangs on states alone, when sensors up to the one of the firing are known: the same object for the same states. */
  said(fires: Fires, before: number, after: number): StateWhy {
    const text = this.triggers[fires.trigger] as TriggerText
    const { sensor, all } = text
    if (sensor !== undefined && all !== undefined) {
      const known = all[ownKey(sensor, fires, before, after)]
      return known ?? this.#saidOf(text, fires, before, after)
    }
    const { bits, last } = text
    const isSame = last.fires === fires && last.before === (before & bits) && last.after === (after & bits)
    if (isSame) return last.said as StateWhy // together with the others
    const said = this.#saidOf(text, fires, before, after)
    last.fires = fires
    last.before = before & bits
    last.after = after & bits
    last.said = said
    return said
  }

  /** The same of all `inner`, once their sensors are known. The same list for the same states. */
  innerSaid(before: number, after: number): readonly StateWhy[] {
    const last = this.#innerLast
    if (last !== undefined && before === this.#innerLastBefore && after === this.#innerLastAfter) return last
    this.#innerLastBefore = before
    this.#innerLastAfter = after
    return (this.#innerLast = this.#findInnerSaid(before, after))
  }

  #findInnerSaid(before: number, after: number): readonly StateWhy[] {
    const known = this.#innerSaid.get(after)?.get(before)
    if (known !== undefined) return known
    const made = this.inner.map((fires) => this.said(fires, before, after))
    if (++this.#innerSaidSize > MAX_SAID) {
      this.#innerSaid = new Map()
      this.#innerSaidSize = 1
    }
    const said = this.#innerSaid.get(after) ?? new Map<number, readonly StateWhy[]>()
    this.#innerSaid.set(after, said.set(before, made))
    return made
  }

  #saidOf(text: TriggerText, fires: Fires, before: number, after: number): StateWhy {
    const { position } = fires
    const { sensor, sensors, all } = text
    const key = sensor === undefined ? gateKey(sensors, fires, after) : ownKey(sensor, fires, before, after)
    const known = all?.[key]
    if (known !== undefined) return known
    const made = {
      trigger: this.trigger(fires, before, after),
      sensors: sensors.map((one) => ({ node: one.node, state: one.position > position ? null : stateOf(one, after) })),
      gates: this.gates(fires.trigger, after, position),
    }
    if (all !== undefined) all[key] = made
    return made
  }

  /** The triggers that led to the sensor at a position, first one first, in a message of a time, epoch ms; undefined: none did. */
  via(position: number, time: number): readonly WhyStep[] | undefined {
    return this.#paths.at(position, time)
  }

  /** The gates behind a trigger's source when the sensors up to a position are known. The same list for the same states. */
  gates(trigger: number, states: number, position: number): readonly WhyGate[] {
    const bits = states & this.#rows.keyMask
    const key = (position << this.#rows.shape.keyBits) | bits
    const known = this.#gates[trigger]?.get(key)
    if (known !== undefined) return known
    const gates = this.#whyGates(this.#model.graph.triggers[trigger] as TriggerEdge, bits, position)
    this.#gates[trigger]?.set(key, gates)
    return gates
  }

  #whyGates({ behind }: TriggerEdge, bits: number, position: number): readonly WhyGate[] {
    const { graph, settings } = this.#model
    const sensors = [...this.#rows.states(bits)]
    for (const { slot } of this.#rows.shape.sensors.slice(position + 1)) sensors[slot] = UNKNOWN
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

  #text({ source, destination, behind }: TriggerEdge): TriggerText {
    const sensors = behind.flatMap((node) => (node.kind === 'sensor' ? [this.#sensor(node)] : []))
    const own = source.kind === 'sensor' ? this.#sensor(source) : undefined
    const olds = own === undefined ? SAID_STATES ** 2 : own.mask + 1
    const mostSaid = sensors.reduce((product, { mask }) => product * (mask + 2), olds * MATCHES)
    return {
      source: source.label,
      node: destination.label,
      sensor: own,
      said: Array.from({ length: MATCHES * SAID_STATES ** 2 }, () => undefined),
      sensors,
      hasGates: behind.some(({ kind }) => kind === 'gate'),
      bits: sensors.reduce((bits, { shift, mask }) => bits | (mask << shift), own ? own.mask << own.shift : 0),
      last: { fires: undefined, before: 0, after: 0, said: undefined },
      all: mostSaid > MAX_SAID ? undefined : Array.from({ length: mostSaid }, () => undefined),
    }
  }

  #sensor({ label, states, slot }: SensorNode): SensorText {
    const all = this.#rows.shape.sensors
    const position = all.findIndex((sensor) => sensor.slot === slot)
    const { shift = 0, mask = 0 } = all[position] ?? {}
    return { node: label, states: [...states], slot, position, shift, mask }
  }
}

/**
 * How sensors were led to. The steps of a message are made once for each longest way; a sensor on it has the first of
 * them. Whys of one message share them.
 */
class WhyPaths {
  /** by position: how many triggers lead there, and the place of a way that goes by it */
  readonly #lengths: readonly number[]
  readonly #ways: readonly number[]
  readonly #triggers: readonly (readonly TriggerEdge[])[]
  /** by way: its steps, of messages of the time */
  #steps: (readonly WhyStep[] | undefined)[] = []
  #time = Number.NaN

  /** By position: the triggers that lead to the sensor, first one first. */
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

/** Of what is said of a sensor that fires, behind which there is nothing else. */
function ownKey({ shift, mask }: SensorText, { matched }: Fires, before: number, after: number): number {
  const old = (before >> shift) & mask
  return (old * MATCHES + placeOfMatch(matched)) * (mask + 1) + ((after >> shift) & mask)
}

/** The same of a gate, by the sensors behind it that are known. */
function gateKey(sensors: readonly SensorText[], { from, to, matched, position }: Fires, after: number): number {
  let key = ((from + 1) * SAID_STATES + to + 1) * MATCHES + placeOfMatch(matched)
  for (const { shift, mask, position: own } of sensors) {
    key = key * (mask + 2) + (own > position ? 0 : ((after >> shift) & mask) + 1)
  }
  return key
}

function placeOfMatch(matched: WhyTrigger['matched']): number {
  return matched === 'state' ? 0 : matched === 'change' ? 1 : 2
}

function stateOf({ states, shift, mask }: SensorText, bits: number): string | null {
  return states[(bits >> shift) & mask] ?? null
}

/** The triggers that run a sensor, first one first. */
function ledTo({ triggers }: Graph, sensor: SensorNode): readonly TriggerEdge[] {
  const found: TriggerEdge[] = []
  const at = (node: SensorNode) => triggers.find(({ destination }) => destination === node)
  for (let trigger = at(sensor); trigger !== undefined;) {
    found.unshift(trigger)
    trigger = trigger.source.kind === 'sensor' ? at(trigger.source) : undefined
  }
  return found
}
