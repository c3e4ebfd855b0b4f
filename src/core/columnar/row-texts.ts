/**
 * What events of rows say that does not change from message to message: labels, names of states, and where in a row's
 * bits a state stands. Made once per graph, when somebody first listens.
 */
import type { Why, WhyGate, WhyStep } from '../engine/events.ts'
import { GATE_STATES, type Graph, type SensorNode, type TriggerEdge } from '../graph/graph.ts'
import { stateName } from '../task/state.ts'
import type { TaskModel } from '../task/run.ts'
import { gateStates } from './possible-firings.ts'
import type { RowStore } from './row-store.ts'

/** A sensor, by where a row has it. */
export interface SensorText {
  readonly node: string
  readonly states: readonly string[]
  readonly slot: number
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
  /** the triggers that led to the sensor whose answer fires it: texts of each, first one first */
  readonly via: readonly Pick<WhyStep, 'source' | 'destination'>[]
}

export class RowTexts {
  readonly triggers: readonly TriggerText[]
  /** by position: the triggers of that sensor into other sensors, which fire with each message */
  readonly inner: readonly (readonly number[])[]
  readonly #rows: RowStore
  readonly #model: TaskModel
  /** by trigger, then by state bits: gates that events share */
  readonly #gates: Map<number, readonly WhyGate[]>[]

  constructor(rows: RowStore, model: TaskModel) {
    const { graph } = model
    this.#rows = rows
    this.#model = model
    const order = rows.shape.sensors.map(({ slot }) => graph.sensors[slot] as SensorNode)
    const last = order.at(-1)
    this.triggers = graph.triggers.map((trigger) => this.#text(graph, trigger, last))
    this.inner = order.map((sensor) =>
      sensor.triggers
        .filter(({ destination }) => destination.kind === 'sensor')
        .map((trigger) => graph.triggers.indexOf(trigger)),
    )
    this.#gates = graph.triggers.map(() => new Map<number, readonly WhyGate[]>())
  }

  /** The gates behind a trigger's source when all sensors are known. The same list for the same states. */
  gates(trigger: number, bits: number): readonly WhyGate[] {
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

  #text(graph: Graph, trigger: TriggerEdge, last: SensorNode | undefined): TriggerText {
    const { source, destination, behind } = trigger
    // Triggers into actuators fire with the last answer, those into sensors with that of their source.
    const answered = destination.kind === 'sensor' && source.kind === 'sensor' ? source : last
    return {
      source: source.label,
      node: destination.label,
      sensor: source.kind === 'sensor' ? this.#sensor(source) : undefined,
      sensors: behind.flatMap((node) => (node.kind === 'sensor' ? [this.#sensor(node)] : [])),
      hasGates: behind.some(({ kind }) => kind === 'gate'),
      via: answered === undefined ? [] : ledTo(graph, answered),
    }
  }

  #sensor({ label, states, slot }: SensorNode): SensorText {
    const { shift = 0, mask = 0 } = this.#rows.shape.sensors.find((sensor) => sensor.slot === slot) ?? {}
    return { node: label, states: [...states], slot, shift, mask }
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
