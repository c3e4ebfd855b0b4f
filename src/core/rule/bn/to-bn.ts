/** Converts a rule to its `bn` form. */
import { at, type Issue, shown } from '#kernel'
import { plugOfNode } from '../../plug/plug-of-node.ts'
import type { PlugRegistry } from '../../plug/plug.ts'
import { Report } from '../check/report.ts'
import { GATE_STATES } from '../check/rule-index.ts'
import type { Actuator, Relation, RuleGraph, Sensor, Trigger } from '../rule.ts'
import {
  MAX_CELLS,
  type BnAction,
  type BnGraph,
  type BnMetadata,
  type BnNode,
  type BnNodeTrigger,
  type BnTable,
} from './bn-graph.ts'
import { rowAt, rowCount, rowsOf, type Shape, shapeOf } from './truth-table.ts'

export interface ToBn {
  bn: BnGraph | undefined
  issues: Issue[]
}

/** Fields of a sensor or actuator that have their own place in the form. All others keep their names. */
const PLACED = new Set(['label', 'name', 'version', 'properties', 'sequence'])
/** Names that have another meaning in `properties` of the form. */
const TAKEN = new Set(['cost', 'sensor', 'nodeTrigger', 'nodeTriggers', 'actions', 'rowOrder'])

/**
 * `fromBn` returns the same rule, except for empty conditions, orders and a GENERAL with another type's table. Never
 * throws.
 */
export function toBn(rule: RuleGraph, plugs: PlugRegistry): ToBn {
  const report = new Report()
  const states = statesByLabel(rule, plugs, report)
  const incoming = new Map<string, Indexed<BnNodeTrigger>[]>()
  const outgoing = new Map<string, Indexed<BnAction>[]>()
  collectTriggers(rule, states, incoming, outgoing, report)
  const posterior = tablesOf(rule, states, report)
  if (report.hasErrors) return { bn: undefined, issues: report.issues }

  const labels = [...(rule.sensors ?? []), ...(rule.relations ?? [])].map(({ label }) => label)
  const reading = labels.flatMap((label) => [...(incoming.get(label) ?? []), ...(outgoing.get(label) ?? [])])
  const keepOrder = reading.some(({ index }, i) => index !== i)
  const links: Links = {
    incoming: (label) => (incoming.get(label) ?? []).map((item) => ordered(item, keepOrder)),
    outgoing: (label) => (outgoing.get(label) ?? []).map((item) => ordered(item, keepOrder)),
  }
  const nodes = [
    ...(rule.sensors ?? []).map((sensor) => sensorNode(sensor, states.get(sensor.label) ?? [], links)),
    ...(rule.relations ?? []).map((relation) => relationNode(relation, states, links)),
  ]
  const bn: BnGraph = { nodes, posterior }
  const metadata = metadataOf(rule)
  if (metadata) bn.metadata = metadata
  return { bn, issues: report.issues }
}

type States = ReadonlyMap<string, readonly string[]>

interface Indexed<T> {
  readonly entry: T
  readonly index: number
}

interface Links {
  incoming(label: string): BnNodeTrigger[]
  outgoing(label: string): BnAction[]
}

function statesByLabel(rule: RuleGraph, plugs: PlugRegistry, report: Report): States {
  const states = new Map<string, readonly string[]>()
  rule.sensors?.forEach(({ label, name, version, properties }, i) => {
    const plug = plugs.find('sensor', name, version)
    if (plug) states.set(label, plugOfNode(plug, properties).states)
    else
      report.error(
        'PLUG',
        at('', 'sensors', i, 'name'),
        `sensor ${shown(label)}: unknown sensor plug ${shown(name)}, so its states are unknown`,
      )
  })
  for (const { label } of rule.relations ?? []) states.set(label, GATE_STATES)
  return states
}

function collectTriggers(
  rule: RuleGraph,
  states: States,
  incoming: Map<string, Indexed<BnNodeTrigger>[]>,
  outgoing: Map<string, Indexed<BnAction>[]>,
  report: Report,
): void {
  const sensors = new Set(rule.sensors?.map(({ label }) => label))
  const actuators = new Map(rule.actuators?.map((actuator) => [actuator.label, actuator]))
  rule.triggers?.forEach((trigger, i) => {
    const { sourceLabel, destinationLabel } = trigger
    const actuator = actuators.get(destinationLabel)
    if (!states.has(sourceLabel) && !sensors.has(sourceLabel))
      report.error('LABEL', at('', 'triggers', i, 'sourceLabel'), `unknown node ${shown(sourceLabel)}`)
    else if (actuator) push(outgoing, sourceLabel, { entry: { ...actionOf(actuator), ...firingOf(trigger) }, index: i })
    else if (sensors.has(destinationLabel))
      push(incoming, destinationLabel, { entry: nodeTriggerOf(trigger), index: i })
    else
      report.error(
        'LABEL',
        at('', 'triggers', i, 'destinationLabel'),
        `unknown sensor or actuator ${shown(destinationLabel)}`,
      )
  })
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key)
  if (list) list.push(item)
  else lists.set(key, [item])
}

function ordered<T extends BnNodeTrigger | BnAction>({ entry, index }: Indexed<T>, keepOrder: boolean): T {
  return keepOrder ? { ...entry, order: index } : entry
}

function nodeTriggerOf(trigger: Trigger): BnNodeTrigger {
  const { stateFrom = '', stateTo = '' } = trigger.stateChangeTrigger ?? {}
  const entry: BnNodeTrigger = {
    nodeName: trigger.sourceLabel,
    stateFrom,
    stateTo,
    states: trigger.statesTrigger ?? [],
  }
  if (trigger.invocationPolicy !== undefined) entry.invocationPolicy = trigger.invocationPolicy
  return { ...entry, ...edgesOf(trigger) }
}

/** Returns `begins` and `ends` of a trigger, for which the form has no place; they keep their names. */
function edgesOf({ begins = [], ends = [] }: Trigger): Pick<Trigger, 'begins' | 'ends'> {
  return { ...(begins.length > 0 && { begins }), ...(ends.length > 0 && { ends }) }
}

function firingOf(
  trigger: Trigger,
): Pick<BnAction, 'triggeredStates' | 'actionPolicy' | 'invocationPolicy' | 'nodeTrigger' | 'begins' | 'ends'> {
  const firing = {
    triggeredStates: trigger.statesTrigger ?? [],
    actionPolicy: trigger.invocationPolicy ?? 0,
    ...(trigger.invocationPolicy === 0 && { invocationPolicy: 0 }),
    ...edgesOf(trigger),
  }
  const { stateFrom = '', stateTo = '' } = trigger.stateChangeTrigger ?? {}
  return stateFrom === '' && stateTo === '' ? firing : { ...firing, nodeTrigger: { stateFrom, stateTo } }
}

function actionOf(actuator: Actuator): BnAction {
  return { ...otherFields(actuator), ...plugOf(actuator) }
}

function plugOf({ label, name, version, properties }: Actuator): BnAction {
  const plug: BnAction = { name, label }
  if (version !== undefined) plug.version = version
  if (properties !== undefined)
    plug.requiredProperties = Object.entries(properties).map(([key, value]) => ({ [key]: value }))
  return plug
}

function otherFields(node: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(node).filter(([key]) => !PLACED.has(key) && !TAKEN.has(key)))
}

function sensorNode(sensor: Sensor, states: readonly string[], links: Links): BnNode {
  const [first, ...others] = links.incoming(sensor.label)
  const actions = links.outgoing(sensor.label)
  const priors = states.map(() => 1 / states.length)
  const properties = {
    ...otherFields(sensor),
    ...(sensor.sequence === undefined ? {} : { cost: sensor.sequence }),
    sensor: plugOf(sensor),
    ...(first === undefined ? {} : { nodeTrigger: first }),
    ...(others.length === 0 ? {} : { nodeTriggers: others }),
    ...(actions.length === 0 ? {} : { actions }),
  }
  return { name: sensor.label, states, type: 'discrete', mode: 'nature', priors, properties }
}

function relationNode(relation: Relation, states: States, links: Links): BnNode {
  const actions = links.outgoing(relation.label)
  const { type, parentLabels: _parents, combinations: _rows, atLeast: _least, atMost: _most, ...others } = relation
  const sizes = sizesOf(relation, states)
  const shape = numbered(relation, states)
  const read = shapeOf(rowsOf(shape, sizes), sizes).type
  const order = shape.combinations.map((row) => rowAt(row, sizes))
  const isOwnOrder = type === 'GENERAL' && order.some((row, i) => row < (order[i - 1] ?? 0))
  const properties = {
    ...otherFields(others),
    ...(read === type || type === 'COUNT' || type === 'SHARE' ? {} : { type }),
    ...(isOwnOrder && { rowOrder: order }),
    ...(actions.length === 0 ? {} : { actions }),
  }
  return { name: relation.label, states: GATE_STATES, type: 'discrete', mode: 'nature', properties }
}

function tablesOf(rule: RuleGraph, states: States, report: Report): BnTable[] {
  let left = MAX_CELLS
  const tables: BnTable[] = []
  rule.relations?.forEach((relation, i) => {
    const path = at('', 'relations', i)
    const unknown = relation.parentLabels.find((label) => !states.has(label))
    if (unknown !== undefined) {
      report.error(
        'LABEL',
        at(path, 'parentLabels'),
        `relation ${shown(relation.label)}: the states of ${shown(unknown)} are not known`,
      )
      return
    }
    const sizes = sizesOf(relation, states)
    const cells = 2 * rowCount(sizes)
    left -= cells
    if (left < 0) {
      report.error(
        'TOO_LARGE',
        path,
        `the table of relation ${shown(relation.label)} needs ${cells} numbers; all tables together may have ${MAX_CELLS}`,
        'use the simplified form, or split the relation into several',
      )
      left = Number.NEGATIVE_INFINITY
      return
    }
    const shape = numbered(relation, states)
    const odd = shape.combinations.findIndex((row) => row.length !== sizes.length || row.includes(-1))
    if (odd >= 0) {
      report.error(
        'STATE',
        at(path, 'combinations', odd),
        `relation ${shown(relation.label)}: ${shown(relation.combinations[odd])} does not fit its parents`,
      )
      return
    }
    const rows = rowsOf(shape, sizes)
    tables.push({
      nodes: [relation.label, ...relation.parentLabels],
      function: [...rows, ...rows.map((isTrue) => 1 - isTrue)],
    })
  })
  return tables
}

function sizesOf(relation: Relation, states: States): number[] {
  return relation.parentLabels.map((label) => states.get(label)?.length ?? 0)
}

function numbered(relation: Relation, states: States): Shape & { combinations: number[][] } {
  const combinations = relation.combinations.map((row) =>
    row.map((state, i) => states.get(relation.parentLabels[i] ?? '')?.indexOf(state) ?? -1),
  )
  return { ...relation, combinations }
}

function metadataOf(rule: RuleGraph): BnMetadata | undefined {
  const fired = new Set(rule.triggers?.map(({ destinationLabel }) => destinationLabel))
  const idle = (rule.actuators ?? []).filter(({ label }) => !fired.has(label)).map(actionOf)
  const metadata: BnMetadata = {}
  if (rule.notes) {
    metadata.infoBoxes = rule.notes.map(({ position, text }) =>
      position ? { x: position[0], y: position[1], text } : { text },
    )
  }
  if (idle.length > 0) metadata.actions = idle
  return rule.notes || idle.length > 0 ? metadata : undefined
}
