/** Converts the `bn` form to a rule. */
import { Equal } from 'typebox/value'
import { at, type Issue, shown } from '#kernel'
import { checkShape } from '../check/check-shape.ts'
import { emptyRecord } from '../check/record.ts'
import { Report } from '../check/report.ts'
import type { Actuator, Relation, RuleGraph, Sensor, Trigger } from '../rule.ts'
import { BnGraphSchema, type BnAction, type BnGraph, type BnNode, type BnNodeTrigger, type BnPlug } from './bn-graph.ts'
import { readTables, type GateTable } from './read-tables.ts'

export interface FromBn {
  graph: RuleGraph | undefined
  issues: Issue[]
  origins: Origins
}

const PLACED = new Set(['position', 'cost', 'sensor', 'nodeTrigger', 'nodeTriggers', 'actions', 'type', 'rowOrder'])
const PLACED_IN_ACTION = new Set([
  'name',
  'version',
  'label',
  'requiredProperties',
  'triggeredStates',
  'actionPolicy',
  'invocationPolicy',
  'nodeTrigger',
  'begins',
  'ends',
  'order',
])

/** Gates may have any state names; in the rule these become TRUE and FALSE. Never throws. */
export function fromBn(bn: BnGraph): FromBn {
  const report = new Report()
  const origins = new Origins()
  const fitting = checkShape(BnGraphSchema, bn, '', 'the bn graph', report)
  // unknown fields keep their names, so warnings about them are dropped
  const issues = report.issues.filter(({ type }) => type !== 'FIELD')
  if (report.hasErrors || fitting === undefined) return { graph: undefined, issues, origins }
  const tables = new Report()
  const reader = new Reader(fitting as BnGraph, origins, tables)
  const graph = reader.read()
  return { graph: tables.hasErrors ? undefined : graph, issues: [...issues, ...tables.issues], origins }
}

interface Placed {
  readonly trigger: Trigger
  readonly order: number | undefined
  readonly path: string
}

class Reader {
  readonly #bn: BnGraph
  readonly #origins: Origins
  readonly #report: Report
  readonly #gates: ReadonlyMap<string, GateTable>
  readonly #actuators = new Map<string, Actuator>()
  readonly #triggers: Placed[] = []

  constructor(bn: BnGraph, origins: Origins, report: Report) {
    this.#bn = bn
    this.#origins = origins
    this.#report = report
    this.#gates = readTables(bn, report)
  }

  read(): RuleGraph {
    const sensors: Sensor[] = []
    const relations: Relation[] = []
    this.#bn.nodes.forEach((node, i) => {
      const path = at('', 'nodes', i)
      const plug = node.properties?.sensor
      const gate = this.#gates.get(node.name)
      if (plug) {
        this.#origins.sensor(sensors.length, path, plug)
        sensors.push(sensorOf(node, plug))
      } else if (gate) {
        this.#origins.relation(relations.length, path, gate.path)
        relations.push(this.#relationOf(node, gate))
      }
      this.#readIncoming(node, path)
      node.properties?.actions?.forEach((action, j) => {
        this.#readAction(action, node, at(path, 'properties', 'actions', j))
      })
    })
    this.#bn.metadata?.actions?.forEach((action, i) => {
      this.#readAction(action, undefined, at('', 'metadata', 'actions', i))
    })
    const graph: RuleGraph = { sensors }
    if (this.#actuators.size > 0) graph.actuators = [...this.#actuators.values()]
    if (relations.length > 0) graph.relations = relations
    const triggers = this.#triggersInOrder()
    if (triggers.length > 0) graph.triggers = triggers
    const boxes = this.#bn.metadata?.infoBoxes
    if (boxes)
      graph.notes = boxes.map(({ x, y, text }) =>
        x === undefined || y === undefined ? { text } : { position: [x, y], text },
      )
    return graph
  }

  #relationOf(node: BnNode, gate: GateTable): Relation {
    const { shape, parents } = gate
    const combinations = shape.combinations.map((row) =>
      row.map((state, i) => this.#stateOf(parents[i], parents[i]?.states[state] ?? '')),
    )
    const position = node.properties?.position
    return {
      ...otherFields(node.properties ?? {}, PLACED),
      label: node.name,
      type: shape.type,
      parentLabels: parents.map(({ name }) => name),
      combinations,
      ...(position === undefined ? {} : { position }),
    }
  }

  #stateOf(node: BnNode | undefined, state: string): string {
    const gate = node && this.#gates.get(node.name)
    if (gate === undefined || !node?.states.includes(state)) return state
    return node.states.indexOf(state) === gate.trueAt ? 'TRUE' : 'FALSE'
  }

  #readIncoming(node: BnNode, path: string): void {
    const { nodeTrigger, nodeTriggers = [] } = node.properties ?? {}
    const properties = at(path, 'properties')
    const entries = [
      ...(nodeTrigger ? [{ entry: nodeTrigger, place: at(properties, 'nodeTrigger') }] : []),
      ...nodeTriggers.map((entry, i) => ({ entry, place: at(properties, 'nodeTriggers', i) })),
    ]
    for (const { entry, place } of entries) {
      const source = this.#nodeNamed(entry.nodeName)
      const trigger = this.#trigger(source, entry.nodeName, node.name, entry, entry, entry.invocationPolicy)
      this.#triggers.push({ trigger, order: entry.order, path: place })
    }
  }

  #readAction(action: BnAction, source: BnNode | undefined, path: string): void {
    const label = this.#enterActuator(action, path)
    if (source === undefined) return
    const trigger = this.#trigger(
      source,
      source.name,
      label,
      { ...action, states: action.triggeredStates ?? [] },
      action.nodeTrigger ?? {},
      // in the form, 0 may also mean that the trigger has no value
      action.invocationPolicy ?? (action.actionPolicy || undefined),
    )
    this.#triggers.push({ trigger, order: action.order, path })
  }

  #trigger(
    source: BnNode | undefined,
    sourceLabel: string,
    destinationLabel: string,
    lists: Pick<BnNodeTrigger, 'states' | 'begins' | 'ends'>,
    change: { stateFrom?: string; stateTo?: string },
    policy: number | undefined,
  ): Trigger {
    const trigger: Trigger = { sourceLabel, destinationLabel }
    if (policy !== undefined) trigger.invocationPolicy = policy
    const named = (states: readonly string[]): string[] => states.map((state) => this.#stateOf(source, state))
    const { states = [], begins = [], ends = [] } = lists
    if (states.length > 0) trigger.statesTrigger = named(states)
    if (begins.length > 0) trigger.begins = named(begins)
    if (ends.length > 0) trigger.ends = named(ends)
    const { stateFrom = '', stateTo = '' } = change
    if (stateFrom !== '' || stateTo !== '') {
      trigger.stateChangeTrigger = {
        stateFrom: this.#stateOf(source, stateFrom),
        stateTo: this.#stateOf(source, stateTo),
      }
    }
    return trigger
  }

  /** Returns the label of an actuator; actions with equal content in several nodes become one actuator. */
  #enterActuator(action: BnAction, path: string): string {
    const wanted = action.label === undefined || action.label === '' ? action.name : action.label
    for (let number = 1; ; number++) {
      const label = number === 1 ? wanted : `${wanted}_${number}`
      const actuator = actuatorOf(action, label)
      const known = this.#actuators.get(label)
      if (known === undefined && this.#nodeNamed(label) === undefined) {
        if (number > 1) {
          this.#report.warning(
            'LABEL',
            at(path, 'label'),
            `the actuator label ${shown(wanted)} is taken by another node; it is now ${shown(label)}`,
            'choose a unique label',
          )
        }
        this.#origins.actuator(this.#actuators.size, path, action)
        this.#actuators.set(label, actuator)
        return label
      }
      if (known !== undefined && Equal(known, actuator)) return label
    }
  }

  #nodeNamed(name: string): BnNode | undefined {
    return this.#byName.get(name)
  }

  get #byName(): ReadonlyMap<string, BnNode> {
    this.#nodes ??= new Map(this.#bn.nodes.map((node) => [node.name, node]))
    return this.#nodes
  }

  #nodes: ReadonlyMap<string, BnNode> | undefined

  #triggersInOrder(): Trigger[] {
    const ordered = this.#triggers.toSorted((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || 0)
    ordered.forEach(({ path }, i) => {
      this.#origins.trigger(i, path)
    })
    return ordered.map(({ trigger }) => trigger)
  }
}

function sensorOf(node: BnNode, plug: BnPlug): Sensor {
  const { position, cost } = node.properties ?? {}
  return {
    ...otherFields(node.properties ?? {}, PLACED),
    ...plugFields(plug),
    label: node.name,
    ...(position === undefined ? {} : { position }),
    ...(cost === undefined ? {} : { sequence: cost }),
  }
}

function actuatorOf(action: BnAction, label: string): Actuator {
  return { ...otherFields(action, PLACED_IN_ACTION), ...plugFields(action), label }
}

function plugFields({ name, version, requiredProperties }: BnPlug): { name: string } & Partial<Actuator> {
  const properties = emptyRecord()
  for (const item of requiredProperties ?? []) Object.assign(properties, item)
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(requiredProperties === undefined ? {} : { properties }),
  }
}

function otherFields(fields: object, mapped: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !mapped.has(key)))
}

class Origins {
  /** rule path -> path in the `bn` form; `deep` if paths below it are the same in both forms */
  readonly #paths = new Map<string, { readonly path: string; readonly deep: boolean }>()

  sensor(index: number, path: string, plug: BnPlug): void {
    const node = at('', 'sensors', index)
    this.#put(node, path)
    this.#put(at(node, 'label'), at(path, 'name'))
    this.#put(at(node, 'sequence'), at(path, 'properties', 'cost'))
    this.#put(`${node}/`, at(path, 'properties'), true)
    this.#plug(node, at(path, 'properties', 'sensor'), plug)
  }

  actuator(index: number, path: string, plug: BnPlug): void {
    const node = at('', 'actuators', index)
    this.#put(node, path)
    this.#put(`${node}/`, path, true)
    this.#plug(node, path, plug)
  }

  relation(index: number, path: string, table: string): void {
    const node = at('', 'relations', index)
    this.#put(node, path)
    this.#put(at(node, 'parentLabels'), at(table, 'nodes'))
    this.#put(at(node, 'combinations'), at(table, 'function'))
  }

  trigger(index: number, path: string): void {
    this.#put(at('', 'triggers', index), path)
  }

  /** Returns the path in the `bn` form for a path in the rule; paths outside the graph stay the same. */
  of(path: string): string {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const head = path.slice(0, end)
      const exact = this.#paths.get(head)
      const below = end < path.length ? this.#paths.get(`${head}/`) : undefined
      const origin = below ?? exact
      if (origin) return origin.deep ? origin.path + path.slice(end) : origin.path
    }
    return path
  }

  #plug(node: string, path: string, plug: BnPlug): void {
    this.#put(at(node, 'name'), at(path, 'name'))
    this.#put(at(node, 'version'), at(path, 'version'))
    this.#put(at(node, 'properties'), at(path, 'requiredProperties'))
    plug.requiredProperties?.forEach((item, i) => {
      for (const key of Object.keys(item)) {
        this.#put(at(node, 'properties', key), at(path, 'requiredProperties', i, key), true)
      }
    })
  }

  #put(node: string, path: string, deep = false): void {
    this.#paths.set(node, { path, deep })
  }
}
