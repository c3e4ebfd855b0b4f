/** Indexes the nodes of a rule by label, for the checks. */
import { plugOfNode } from '../../plug/plug-of-node.ts'
import type { Plug, PlugKind, PlugRegistry, ResolvedPlug } from '../../plug/plug.ts'
import { compareVersions } from '../../plug/version-range.ts'
import type { Actuator, Relation, RuleGraph, Sensor, TaskSettings, Trigger } from '../rule.ts'
import type { Report } from './report.ts'
import { at, FORBIDDEN_KEYS, replacing, shown } from '#kernel'

/** A rule after the check of its shape: any field may be missing, all present fields have the right type. */
export interface PartialRule {
  sensors?: Partial<Sensor>[]
  actuators?: Partial<Actuator>[]
  relations?: Partial<Relation>[]
  triggers?: Partial<Trigger>[]
  notes?: RuleGraph['notes']
  task?: TaskSettings
}

/** States of every gate, in the order of its truth table. */
export const GATE_STATES: readonly string[] = ['TRUE', 'FALSE']

const LISTED_VERSIONS = 20

interface EntryBase {
  readonly label: string
  readonly path: string
}

export interface PlugEntry extends EntryBase {
  readonly kind: PlugKind
  readonly node: Partial<Sensor>
  readonly plug: Plug | undefined
}

export interface RelationEntry extends EntryBase {
  readonly kind: 'relation'
  readonly node: Partial<Relation>
}

export type NodeEntry = PlugEntry | RelationEntry

export interface RuleIndex {
  readonly nodes: ReadonlyMap<string, NodeEntry>
  /** all sensors and actuators, including those without a usable label */
  readonly plugNodes: readonly PlugEntry[]
  readonly relations: readonly RelationEntry[]
  /** labels of trigger destinations that are sensors */
  readonly conditional: ReadonlySet<string>
}

/** Looks up all labels and plugs; reports repeated labels and unknown plugs. */
export function indexRule(rule: PartialRule, plugs: PlugRegistry, report: Report): RuleIndex {
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

export function statesOf(entry: NodeEntry): readonly string[] | undefined {
  return entry.kind === 'relation' ? GATE_STATES : entry.plug?.states
}

export function naming({ kind, label }: NodeEntry): string {
  return `${kind} ${shown(label)}`
}

/** Reports an impossible state. `subject`: the part of the rule that contains the state. */
export function checkState(state: string, node: NodeEntry, path: string, subject: string, report: Report): boolean {
  const states = statesOf(node)
  if (states === undefined || states.includes(state)) return true
  const owner = shown(node.label)
  const hint = states.length === 0 ? `${owner} has no states` : report.instead(state, states, `states of ${owner}`)
  report.error('STATE', path, `${subject}: ${owner} has no state ${shown(state)}`, hint)
  return false
}

export function nodeNamed(
  label: string,
  unlike: NodeEntry['kind'],
  location: { readonly index: RuleIndex; readonly path: string; readonly subject: string },
  report: Report,
): NodeEntry | undefined {
  const { index, path, subject } = location
  const found = index.nodes.get(label)
  if (found === undefined) {
    const others = [...index.nodes.values()].flatMap((one) => (one.kind === unlike ? [] : [one.label]))
    const plural = unlike === 'actuator' ? 'sensors and relations' : 'sensors and actuators'
    report.error('LABEL', path, `${subject}: unknown node ${shown(label)}`, report.instead(label, others, plural))
  }
  return found
}

function enter(nodes: Map<string, NodeEntry>, entry: NodeEntry, report: Report): void {
  const { label } = entry
  if (label === '') return
  const path = at(entry.path, 'label')
  if (label === 'GLOBAL') {
    report.error('LABEL', path, 'the label "GLOBAL" is reserved for the message', 'choose another label')
  }
  if (FORBIDDEN_KEYS.has(label)) {
    const hint = 'choose another label; this one is the name of a prototype property'
    return report.error('LABEL', path, `the ${entry.kind} label ${shown(label)} is not allowed`, hint)
  }
  const earlier = nodes.get(label)
  if (earlier === undefined) nodes.set(label, entry)
  else {
    const message = `the ${entry.kind} label ${shown(label)} is taken by ${earlier.path}`
    report.error('LABEL', path, message, 'use a unique label for every sensor, actuator and relation')
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
  const found = plugs.resolve(kind, name, version)
  if (found === undefined) reportUnknownPlug(kind, node, path, plugs, report)
  else if (version !== undefined) noteVersion(kind, node, found, path, report)
  return found && plugOfNode(found.plug, node.properties)
}

function noteVersion(
  kind: PlugKind,
  { label = '', name, version }: Partial<Sensor>,
  { plug, by }: ResolvedPlug,
  path: string,
  report: Report,
): void {
  const versionPath = at(path, 'version')
  const naming = `${kind} ${shown(label)}`
  const details = { nodeId: label, plugin: { name, version }, runs: plug.version }
  if (by === 'compatible') {
    const message = `${naming}: ${name} ${plug.version} runs instead of ${version}, with which it is compatible`
    report.note('VERSION', versionPath, message, undefined, details)
  } else if (by === 'major') {
    const message = `${naming}: unknown version ${name} ${version}; ${plug.version} runs instead, the newest of that major version`
    const hint = { text: `write "version": "${plug.version}"`, fix: replacing(plug.version) }
    report.warning('VERSION', versionPath, message, hint, details)
  }
}

function reportUnknownPlug(
  kind: PlugKind,
  { label = '', name = '', version }: Partial<Sensor>,
  path: string,
  plugs: PlugRegistry,
  report: Report,
): void {
  const shownPlug = version === undefined ? name : `${name}:${version}`
  const message = `${kind} ${shown(label)}: unknown ${kind} plug ${shown(shownPlug)}`
  const details = { nodeId: label, plugin: { name, version: version ?? 'latest' } }
  const other = kind === 'sensor' ? 'actuator' : 'sensor'
  const ofKind = plugs.list().filter((plug) => plug.kind === kind)
  const versions = ofKind.filter((plug) => plug.name === name).map((plug) => plug.version)
  if (versions.length > 0) {
    const hint = `the versions of ${name} are ${versions.toSorted(compareVersions).slice(-LISTED_VERSIONS).join(', ')}`
    report.error('PLUG', at(path, 'version'), message, hint, details)
  } else if (plugs.find(other, name) !== undefined) {
    const hint = `${shown(name)} is ${other === 'sensor' ? 'a sensor' : 'an actuator'}: move the node to "${other}s"`
    report.error('PLUG', at(path, 'name'), message, hint, details)
  } else {
    const names = new Set(ofKind.map((plug) => plug.name))
    report.error('PLUG', at(path, 'name'), message, report.instead(name, names, `${kind} plugs`), details)
  }
}
