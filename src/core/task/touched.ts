/** Determines what a change of a task's rule touches; untouched nodes continue. */
import { ownValue, sameJson } from '#kernel'
import type { GateNode, Graph, SensorNode } from '../graph/graph.ts'
import type { SharedSettings } from '../rule/settings.ts'
import { resourceIndexOf, type TaskModel } from './run.ts'

type Runnable = Extract<ReturnType<Graph['byLabel']['get']>, { call: unknown }>

export interface RuleSide {
  readonly model: TaskModel
  readonly overrides: { readonly byStream: readonly string[]; readonly byData: readonly string[] }
}

export interface Untouched {
  readonly runnable: ReadonlySet<string>
  readonly gates: ReadonlySet<string>
  readonly clocks: ReadonlySet<string>
  readonly taskClock: boolean
}

const CLOCK = ['type', 'frequency', 'pollingFixedRate', 'cron', 'rrule'] as const
const ZONE = ['timeZone', 'dst'] as const
/** Fields that do not affect a node's behavior, or that are compared in resolved form. */
const APART: ReadonlySet<string> = new Set(['position', 'description', 'iconURL', 'version', 'resource'])

export function untouched(before: RuleSide, after: RuleSide): Untouched {
  const [old, next] = [before.model, after.model]
  const definitions = [definitionsOf(old), definitionsOf(next)] as const
  const runnable = new Set<string>()
  for (const node of [...next.graph.sensors, ...next.graph.actuators]) {
    const known = old.graph.byLabel.get(node.label)
    if (known === undefined || known.kind === 'gate' || known.kind !== node.kind) continue
    const [was, is] = definitions.map((all) => all.get(node.label))
    if (sameJson(was, is) && isSameCall(before, known, after, node)) runnable.add(node.label)
  }
  const isSameZone = areSame(old.settings, next.settings, ZONE)
  const clocks = next.graph.sensors.filter(({ label }) => {
    const [was, is] = [old, next].map(({ graph }) => clockOf(graph, label))
    return runnable.has(label) && isSameZone && sameJson(was, is)
  })
  return {
    runnable,
    gates: sameGates(old, next, runnable),
    clocks: new Set(clocks.map(({ label }) => label)),
    taskClock: isSameZone && areSame(old.settings, next.settings, CLOCK),
  }
}

function definitionsOf({ graph: { outline }, properties }: TaskModel): ReadonlyMap<string, unknown> {
  const nodes = [...(outline.sensors ?? []), ...(outline.actuators ?? [])]
  return new Map(nodes.map((node, i) => [node.label, [definitionOf(node), properties.properties[i]]]))
}

function definitionOf(node: object): unknown {
  return Object.fromEntries(Object.entries(node).filter(([key, value]) => !APART.has(key) && value !== undefined))
}

function isSameCall(before: RuleSide, known: Runnable, after: RuleSide, node: Runnable): boolean {
  if (known.call.plug !== node.call.plug) return false
  const [old, next] = [before.model, after.model]
  if (old.graph.groups[known.group]?.key !== next.graph.groups[node.group]?.key) return false
  if (old.resources[resourceIndexOf(old, known)] !== next.resources[resourceIndexOf(next, node)]) return false
  const isAlone = resourceIndexOf(next, node) === -1
  if (old.resource !== next.resource && (isAlone || node.call.uses.some(({ root }) => root === 'task'))) return false
  return node.call.uses.every(({ root, segments: [name] }) => {
    if (root !== 'variables') return true
    const [was, is] = [before, after].map((side) => variableOf(side, name))
    return sameJson(was, is)
  })
}

/** Returns the value of a variable, or all variables if the name is unknown. */
function variableOf({ model, overrides }: RuleSide, name: string | undefined): unknown {
  const { variables } = model.settings
  if (name === undefined) return [variables, overrides.byStream, overrides.byData]
  return [ownValue(variables, name), overrides.byStream.includes(name), overrides.byData.includes(name)]
}

function clockOf({ byLabel }: Graph, label: string): Pick<SensorNode, 'pollingPeriod' | 'schedule'> | undefined {
  const node = byLabel.get(label)
  if (node?.kind !== 'sensor' || (node.pollingPeriod ?? node.schedule) === undefined) return undefined
  const { pollingPeriod, pollingFixedRate, schedule } = node
  return { pollingPeriod, schedule, ...(pollingFixedRate && { pollingFixedRate }) }
}

function sameGates(old: TaskModel, next: TaskModel, runnable: ReadonlySet<string>): ReadonlySet<string> {
  const same = new Set<string>()
  if (old.settings.gatesNeedFullObservation !== next.settings.gatesNeedFullObservation) return same
  for (const gate of next.graph.gates) {
    const known = old.graph.byLabel.get(gate.label)
    if (known?.kind !== 'gate' || !sameJson(logicOf(known), logicOf(gate))) continue
    if (gate.parents.every(({ label }) => runnable.has(label) || same.has(label))) same.add(gate.label)
  }
  return same
}

function logicOf({ type, parents, rows, limits, counts }: GateNode): unknown {
  const memory = counts && [String(counts.withinMs), String(counts.freshMs)]
  return {
    type,
    parents: parents.map(({ label }) => label),
    rows,
    limits: limits && Object.values(limits).map(String),
    memory,
  }
}

function areSame(a: SharedSettings, b: SharedSettings, keys: readonly (keyof SharedSettings)[]): boolean {
  return keys.every((key) => sameJson(a[key], b[key]))
}
