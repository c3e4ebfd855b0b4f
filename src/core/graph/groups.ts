/** Finds the groups of a rule, and the nodes that have one state per member. */
import { durationMs } from '#kernel'
import type { Group, Relation, RuleGraph, Sensor } from '../rule/rule.ts'
import { makeDataPlan } from './data-plan.ts'
import type { ActuatorNode, GateNode, GroupNode, MemberCount, ObservableNode, SensorNode } from './graph.ts'

interface Nodes {
  readonly sensors: readonly SensorNode[]
  readonly gates: readonly GateNode[]
  readonly actuators: readonly ActuatorNode[]
}

/** Returns a text that is equal for equal groups. */
export function groupKey(group: Group): string {
  const { type, parent, tag, query, resources } = group
  return JSON.stringify({ type, parent, tag, query, resources })
}

export class GroupTable {
  readonly #specs: { readonly key: string; readonly spec: Group }[] = []
  readonly #byLabel = new Map<string, number>()
  readonly #counted: number[] = []

  /** `gathers`: whether a sensor with a group has one state for all members. */
  constructor({ sensors = [], relations = [], triggers = [] }: RuleGraph, gathers: (sensor: Sensor) => boolean) {
    for (const sensor of sensors) {
      const index = sensor.group === undefined ? -1 : this.#index(sensor.group)
      if (index !== -1 && !gathers(sensor)) this.#byLabel.set(sensor.label, index)
    }
    if (this.#specs.length === 0) return
    const own = relations.filter(({ type }) => !isCount(type))
    for (let before = -1; before !== this.#byLabel.size;) {
      before = this.#byLabel.size
      for (const { label, parentLabels } of own) this.#follow(label, parentLabels)
    }
    for (const { sourceLabel, destinationLabel, each } of triggers)
      if (each === true) this.#follow(destinationLabel, [sourceLabel])
  }

  get size(): number {
    return this.#specs.length
  }

  of(label: string): number {
    return this.#byLabel.get(label) ?? -1
  }

  /** Returns the group whose members' messages a sensor gets; -1: none. */
  observedBy({ group }: Sensor): number {
    return group === undefined ? -1 : this.#index(group)
  }

  count(
    { type, within, fresh }: Relation,
    parent: ObservableNode | undefined,
    wanted: number,
  ): MemberCount | undefined {
    if (!isCount(type) || parent === undefined || parent.group === -1) return undefined
    const { group } = parent
    const place = this.#counted[group] ?? 0
    this.#counted[group] = place + 1
    return { group, place, parent, wanted, withinMs: lengthOf(within), freshMs: lengthOf(fresh) }
  }

  nodes({ sensors, gates, actuators }: Nodes): readonly GroupNode[] {
    return this.#specs.map(({ key, spec }, index): GroupNode => {
      const own = sensors.filter(({ group }) => group === index)
      return {
        key,
        spec,
        sensors: own,
        gates: gates.filter(({ group }) => group === index),
        actuators: actuators.filter(({ group }) => group === index),
        gathering: sensors.filter(({ observes, group }) => observes === index && group === -1),
        counts: gates.filter(({ counts }) => counts?.group === index),
        dataPlan: makeDataPlan(sensors.filter(({ observes, onData }) => observes === index && onData)),
        atJoin: own.filter(({ call, onData }) => onData && call.plug.tellsSilence === true),
      }
    })
  }

  #index(spec: Group): number {
    const key = groupKey(spec)
    const known = this.#specs.findIndex((one) => one.key === key)
    return known === -1 ? this.#specs.push({ key, spec }) - 1 : known
  }

  #follow(label: string, sources: readonly string[]): void {
    const group = sources.map((source) => this.#byLabel.get(source)).find((one) => one !== undefined)
    if (group !== undefined && !this.#byLabel.has(label)) this.#byLabel.set(label, group)
  }
}

function isCount(type: Relation['type']): boolean {
  return type === 'COUNT' || type === 'SHARE'
}

function lengthOf(duration: string | undefined): number {
  return duration === undefined ? Number.POSITIVE_INFINITY : durationMs(duration)
}
