import type { Plug, PlugKind, PlugRegistry } from '../../plug/plug.ts'
import { shown } from '../../plug/problem.ts'
import type { Actuator, Relation, RuleGraph, Sensor, TaskSettings, Trigger } from '../rule.ts'
import { at, type Report } from './report.ts'

/** What is left of a rule after its shape was checked: any field may be missing, none is of the wrong type. */
export interface LooseRule {
  sensors?: Partial<Sensor>[]
  actuators?: Partial<Actuator>[]
  relations?: Partial<Relation>[]
  triggers?: Partial<Trigger>[]
  notes?: RuleGraph['notes']
  task?: TaskSettings
}

/** The states of every gate, in the order of its truth table. */
export const GATE_STATES: readonly string[] = ['TRUE', 'FALSE']

interface EntryBase {
  readonly label: string
  readonly path: string
}

export interface PlugEntry extends EntryBase {
  readonly kind: PlugKind
  readonly node: Partial<Sensor>
  /** undefined when the rule names none that exists */
  readonly plug: Plug | undefined
}

export interface RelationEntry extends EntryBase {
  readonly kind: 'relation'
  readonly node: Partial<Relation>
}

export type NodeEntry = PlugEntry | RelationEntry

/** Every node of a rule by label, the first one where a label is given twice. */
export interface RuleIndex {
  readonly nodes: ReadonlyMap<string, NodeEntry>
  /** all sensors and actuators, those without a usable label too */
  readonly plugNodes: readonly PlugEntry[]
  readonly relations: readonly RelationEntry[]
  /** labels of trigger destinations that are sensors */
  readonly conditional: ReadonlySet<string>
}

/** Looks up every label and plug; reports labels given twice and plugs that cannot be found. */
export function indexRule(rule: LooseRule, plugs: PlugRegistry, report: Report): RuleIndex {
  const nodes = new Map<string, NodeEntry>()
  const plugNodes: PlugEntry[] = []
  const relations: RelationEntry[] = []
  for (const [kind, list] of [
    ['sensor', rule.sensors ?? []],
    ['actuator', rule.actuators ?? []],
  ] as const) {
    list.forEach((node, i) => {
      const path = at('', `${kind}s`, i)
      const plug = findPlug(kind, node, path, plugs, report)
      const entry: PlugEntry = { kind, label: node.label ?? '', path, node, plug }
      plugNodes.push(entry)
      enter(nodes, entry, report)
    })
  }
  rule.relations?.forEach((node, i) => {
    const entry: RelationEntry = { kind: 'relation', label: node.label ?? '', path: at('', 'relations', i), node }
    relations.push(entry)
    enter(nodes, entry, report)
  })
  const conditional = new Set<string>()
  for (const { destinationLabel } of rule.triggers ?? []) {
    if (destinationLabel !== undefined && nodes.get(destinationLabel)?.kind === 'sensor')
      conditional.add(destinationLabel)
  }
  return { nodes, plugNodes, relations, conditional }
}

/** The states a node can have; undefined when they cannot be known because its plug is not. */
export function statesOf(entry: NodeEntry): readonly string[] | undefined {
  return entry.kind === 'relation' ? GATE_STATES : entry.plug?.states
}

function enter(nodes: Map<string, NodeEntry>, entry: NodeEntry, report: Report): void {
  const { label } = entry
  if (label === '') return
  const path = at(entry.path, 'label')
  if (label === 'GLOBAL') {
    report.error('LABEL', path, 'the label "GLOBAL" stands for the message among the raw data', 'choose another label')
  }
  const earlier = nodes.get(label)
  if (earlier === undefined) nodes.set(label, entry)
  else {
    const message = `the ${entry.kind} label ${shown(label)} is taken by ${earlier.path}`
    report.error('LABEL', path, message, 'give every sensor, actuator and relation a label of its own')
  }
}

function findPlug(
  kind: PlugKind,
  node: Partial<Sensor>,
  path: string,
  plugs: PlugRegistry,
  report: Report,
): Plug | undefined {
  const { name, version } = node
  if (name === undefined) return undefined
  const found = plugs.find(kind, name, version)
  if (found) return found
  const shownPlug = version === undefined ? name : `${name}:${version}`
  const message = `${kind} ${shown(node.label ?? '')}: there is no ${kind} plug ${shown(shownPlug)}`
  const details = { nodeId: node.label ?? '', plugin: { name, version: version ?? 'latest' } }
  const other = kind === 'sensor' ? 'actuator' : 'sensor'
  const sameName = plugs.list().filter((plug) => plug.kind === kind && plug.name === name)
  if (sameName.length > 0) {
    const versions = sameName.map((plug) => plug.version)
    report.error(
      'PLUG',
      at(path, 'version'),
      message,
      report.suggest(version ?? '', versions, `versions of ${name}`),
      details,
    )
  } else if (plugs.find(other, name) !== undefined) {
    report.error(
      'PLUG',
      at(path, 'name'),
      message,
      `${shown(name)} is ${other === 'sensor' ? 'a sensor' : 'an actuator'}: move the node to "${other}s"`,
      details,
    )
  } else {
    const names = new Set(plugs.list().flatMap((plug) => (plug.kind === kind ? [plug.name] : [])))
    report.error('PLUG', at(path, 'name'), message, report.suggest(name, names, `${kind} plugs`), details)
  }
  return undefined
}
