/** Models the memory of sensors and gates, and how observations change it. */
import type { Rule } from '../../../src/core/rule/rule.ts'
import { gateTruth } from './gate-truth.ts'
import { gatesBelow, gatesInOrder, nodeOf, sensorsOf } from './rule-reading.ts'
import type { TestPlug } from './test-plugs.ts'
import type { SourceView } from './trigger-holds.ts'

interface NodeMemory {
  state: string | null
  memory: string | null
}

export interface SensorMemory extends NodeMemory {
  internalState: unknown
  rawData: Readonly<Record<string, unknown>> | undefined
  evictAt: number | undefined
}

export class ModelNodes {
  readonly sensors = new Map<string, SensorMemory>()
  readonly gates = new Map<string, NodeMemory>()
  readonly #rule: Rule
  readonly #plugs: Readonly<Record<string, TestPlug>>

  constructor(rule: Rule, plugs: Readonly<Record<string, TestPlug>>) {
    this.#rule = rule
    this.#plugs = plugs
    for (const { label } of sensorsOf(rule)) {
      const nothing = { internalState: undefined, rawData: undefined, evictAt: undefined }
      this.sensors.set(label, { state: null, memory: null, ...nothing })
    }
    for (const { label } of rule.relations ?? []) this.gates.set(label, { state: null, memory: null })
  }

  sensor(label: string): SensorMemory {
    const found = this.sensors.get(label)
    if (!found) throw new Error(`no sensor ${label}`)
    return found
  }

  declared(label: string): readonly string[] {
    return this.gates.has(label)
      ? ['TRUE', 'FALSE']
      : (this.#plugs[nodeOf(this.#rule, label)?.name ?? '']?.states ?? [])
  }

  /** Sets the state of a sensor. */
  observe(label: string, state: string, now: number): SourceView {
    const node = this.sensor(label)
    const eviction = sensorsOf(this.#rule).find((sensor) => sensor.label === label)?.evictionTime
    node.evictAt = eviction === undefined ? undefined : now + eviction
    return turn(node, state)
  }

  /** Evaluates a gate from the states of its parents. */
  decide(label: string): SourceView {
    return turn(this.#gate(label), this.#truth(label))
  }

  /** Makes sensors unknown, but keeps their earlier states in memory. */
  reset(labels: Iterable<string>): void {
    for (const label of labels) this.sensor(label).state = null
    for (const { label } of gatesInOrder(this.#rule)) {
      // Lost states can only make a gate unknown; becoming certain takes an observation.
      if (this.#truth(label) === null) this.#gate(label).state = null
    }
  }

  /** Forgets an observation permanently. Returns the lost state, or null when it was already unknown. */
  evict(label: string): string | null {
    const node = this.sensor(label)
    const from = node.state
    Object.assign(node, { state: null, memory: null, rawData: undefined, evictAt: undefined })
    for (const below of gatesBelow(this.#rule, label)) {
      const gate = this.#gate(below.label)
      if (this.#truth(below.label) !== null || gate.state === null) continue
      gate.state = null
      gate.memory = null
    }
    return from
  }

  #gate(label: string): NodeMemory {
    const found = this.gates.get(label)
    if (!found) throw new Error(`no gate ${label}`)
    return found
  }

  #truth(label: string) {
    const gate = this.#rule.relations?.find((relation) => relation.label === label)
    if (!gate) throw new Error(`no gate ${label}`)
    const stateOf = (parent: string): string | null => (this.sensors.get(parent) ?? this.#gate(parent)).state
    return gateTruth(
      gate,
      stateOf,
      (parent) => this.declared(parent),
      this.#rule.task?.gatesNeedFullObservation === true,
    )
  }
}

function turn(node: NodeMemory, state: string | null): SourceView {
  const previous = node.state
  const before = previous ?? node.memory
  node.state = state
  node.memory = state ?? node.memory
  return { state, previous, before }
}
