/**
 * What events of rows say that does not change from message to message: labels, names of states, and where in a row's
 * bits a state stands. Made once per graph, when somebody first listens.
 */
import type { Why, WhyGate, WhyStep } from '../engine/events.ts'
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

export interface TriggerText {
  readonly source: string
  readonly node: string
  /** undefined: the source is a gate */
  readonly sensor: SensorText | undefined
  /** behind the source, as its why lists them */
  readonly sensors: readonly SensorText[]
  readonly hasGates: boolean
}

/** Of a trigger into a sensor. */
const WITHOUT_CONDITION = { matched: 'execution', from: -1, to: -1 } as const

export class RowTexts {
  readonly triggers: readonly TriggerText[]
  /** triggers of sensors into other sensors, which fire with each message, by position */
  readonly inner: readonly Fires[]
  /** by position: how many of them there are of sensors before */
  readonly innerBefore: readonly number[]
  /** by position: the triggers that lead to that sensor, texts of each, first one first */
  readonly via: readonly (readonly Pick<WhyStep, 'source' | 'destination'>[])[]
  readonly #rows: RowStore
  readonly #model: TaskModel
  /** by trigger, then by position and state bits: gates that events share */
  readonly #gates: Map<number, readonly WhyGate[]>[]

  constructor(rows: RowStore, model: TaskModel) {
    const { graph } = model
    this.#rows = rows
    this.#model = model
    const order = rows.shape.sensors.map(({ slot }) => graph.sensors[slot] as SensorNode)
    this.triggers = graph.triggers.map((trigger) => this.#text(trigger))
    this.via = order.map((sensor) => ledTo(graph, sensor))
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
    return {
      source: source.label,
      node: destination.label,
      sensor: source.kind === 'sensor' ? this.#sensor(source) : undefined,
      sensors: behind.flatMap((node) => (node.kind === 'sensor' ? [this.#sensor(node)] : [])),
      hasGates: behind.some(({ kind }) => kind === 'gate'),
    }
  }

  #sensor({ label, states, slot }: SensorNode): SensorText {
    const all = this.#rows.shape.sensors
    const position = all.findIndex((sensor) => sensor.slot === slot)
    const { shift = 0, mask = 0 } = all[position] ?? {}
    return { node: label, states: [...states], slot, position, shift, mask }
  }
}

/** The triggers that run a sensor, first one first. */
function ledTo({ triggers }: Graph, sensor: SensorNode): Why['via'] & object {
  const found: WhyStep[] = []
  const at = (node: SensorNode) => triggers.find(({ destination }) => destination === node)
  for (let trigger = at(sensor); trigger !== undefined;) {
    found.unshift({ source: trigger.source.label, destination: trigger.destination.label, time: 0 })
    trigger = trigger.source.kind === 'sensor' ? at(trigger.source) : undefined
  }
  return found
}
