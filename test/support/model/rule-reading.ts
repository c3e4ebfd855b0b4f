/** Answers simple questions about a rule by searching the whole rule each time. */
import type { Actuator, Relation, Rule, Sensor } from '../../../src/core/rule/rule.ts'

export const sensorsOf = (rule: Rule): readonly Sensor[] => rule.sensors ?? []

export function nodeOf(rule: Rule, label: string): Sensor | Actuator | undefined {
  return [...sensorsOf(rule), ...(rule.actuators ?? [])].find((node) => node.label === label)
}

export function isSensor(rule: Rule, label: string): boolean {
  return sensorsOf(rule).some((sensor) => sensor.label === label)
}

/** Returns whether a trigger leads to the sensor. */
export function isConditional(rule: Rule, label: string): boolean {
  return (rule.triggers ?? []).some((trigger) => trigger.destinationLabel === label)
}

export function hasOwnClock(rule: Rule, sensor: Sensor): boolean {
  return sensor.pollingPeriod !== undefined && !isConditional(rule, sensor.label)
}

export function resourceOf(rule: Rule, label: string): string | undefined {
  const resource = nodeOf(rule, label)?.resource
  return resource === '$' ? rule.task?.resource : resource
}

/** Returns whether any node of the rule uses that resource. */
export function usesResource(rule: Rule, resource: string): boolean {
  const nodes = [...sensorsOf(rule), ...(rule.actuators ?? [])]
  return nodes.some((node) => resourceOf(rule, node.label) === resource)
}

export function runsOnTick(rule: Rule): Sensor[] {
  return sensorsOf(rule).filter(
    (sensor) => !isConditional(rule, sensor.label) && sensor.tickTrigger !== false && !hasOwnClock(rule, sensor),
  )
}

export function runsOnData(rule: Rule, resource: string): Sensor[] {
  return sensorsOf(rule).filter((sensor) => {
    if (resourceOf(rule, sensor.label) !== resource) return false
    return isConditional(rule, sensor.label) ? sensor.dataTrigger === true : sensor.dataTrigger !== false
  })
}

/** Returns how often a run of a node calls its plug: once per item of its loop. */
export function itemsOf(rule: Rule, label: string): number {
  const { loopDef } = nodeOf(rule, label) ?? {}
  return loopDef === undefined ? 1 : (JSON.parse(loopDef) as unknown[]).length
}

/** Returns the node whose raw data another node reads. */
export function readBy(rule: Rule, label: string): string | undefined {
  const from = nodeOf(rule, label)?.properties?.['from']
  return typeof from === 'string' ? /nodes\.(\w+)\./.exec(from)?.[1] : undefined
}

/** Returns all gates as declared, but each after its parent gates. */
export function gatesInOrder(rule: Rule): Relation[] {
  const ordered = new Set<Relation>()
  const add = (gate: Relation): void => {
    for (const label of gate.parentLabels) rule.relations?.filter((parent) => parent.label === label).forEach(add)
    ordered.add(gate)
  }
  rule.relations?.forEach(add)
  return [...ordered]
}

/** Returns the gates that a sensor reaches, directly or through other gates. */
export function gatesBelow(rule: Rule, sensor: string): Relation[] {
  const reached = new Set([sensor])
  return gatesInOrder(rule).filter((gate) => {
    const below = gate.parentLabels.some((label) => reached.has(label))
    if (below) reached.add(gate.label)
    return below
  })
}

/** Returns the sensors that can run because one of `roots` ran, along triggers and gates. */
export function sensorsDownstream(rule: Rule, roots: readonly string[]): Set<string> {
  const found = new Set<string>()
  const open = [...roots]
  for (let label = open.pop(); label !== undefined; label = open.pop()) {
    const sources = new Set([label, ...gatesBelow(rule, label).map((gate) => gate.label)])
    for (const trigger of rule.triggers ?? []) {
      const to = trigger.destinationLabel
      if (!sources.has(trigger.sourceLabel) || !isSensor(rule, to) || found.has(to)) continue
      found.add(to)
      open.push(to)
    }
  }
  return found
}

const parentsOf = (rule: Rule, label: string): readonly string[] =>
  rule.relations?.find((relation) => relation.label === label)?.parentLabels ?? []

/** Returns the direct predecessors of a node: parents of a gate, sources of triggers. */
function before(rule: Rule, label: string): string[] {
  const triggers = (rule.triggers ?? []).filter((trigger) => trigger.destinationLabel === label)
  return [...parentsOf(rule, label), ...triggers.map((trigger) => trigger.sourceLabel)]
}

/** Returns the root sensors in order: by sequence, after the nodes that they read, then as declared. */
function rootsInOrder(rule: Rule): string[] {
  const isRoot = (label: string): boolean => isSensor(rule, label) && !isConditional(rule, label)
  return nodesInOrder({ ...rule, task: { ...rule.task, parallel: true } }).filter(isRoot)
}

/** Returns the nodes that a node reads. */
function readsOf(rule: Rule, label: string): string[] {
  const source = nodeOf(rule, label)?.properties?.['source']
  const nodes = [...sensorsOf(rule), ...(rule.relations ?? [])]
  const sources = nodes.some((node) => node.label === source) ? [String(source)] : []
  return [readBy(rule, label) ?? [], sources].flat()
}

/**
 * Returns the order in which an input passes the nodes: by stage, within it by the longest path, then as declared. A
 * node comes after a node of its stage that it reads, unless that node already comes after it.
 */
export function nodesInOrder(rule: Rule): string[] {
  const serial = rule.task?.parallel === false ? rootsInOrder(rule) : undefined
  const all = [...sensorsOf(rule), ...gatesInOrder(rule), ...(rule.actuators ?? [])].map(({ label }) => label)
  const ahead = new Map(all.map((label) => [label, before(rule, label)]))
  const ownStage = (label: string): number => {
    if (!isSensor(rule, label)) return 1
    return serial ? serial.indexOf(label) : (sensorsOf(rule).find((one) => one.label === label)?.sequence ?? 1)
  }
  const stages = longest(ahead, (label, nodes) => (nodes.length === 0 ? ownStage(label) : Math.max(...nodes)))
  const inStage = new Map(
    all.map((label) => [label, ahead.get(label)?.filter((one) => stages.get(one) === stages.get(label)) ?? []]),
  )
  for (const reader of all) {
    for (const other of readsOf(rule, reader)) {
      if (stages.get(other) !== stages.get(reader)) continue
      if (!isBehind(inStage, other, reader)) inStage.set(reader, [...(inStage.get(reader) ?? []), other])
    }
  }
  const levels = longest(inStage, (_, nodes) => Math.max(0, ...nodes.map((level) => level + 1)))
  const rank = (label: string): number[] => [stages.get(label) ?? 0, levels.get(label) ?? 0, all.indexOf(label)]
  return all.toSorted((a, b) => {
    const [left, right] = [rank(a), rank(b)]
    const differing = left.findIndex((value, i) => value !== right[i])
    return (left[differing] ?? 0) - (right[differing] ?? 0)
  })
}

/** Returns whether a node equals another one or comes after it. */
function isBehind(ahead: ReadonlyMap<string, readonly string[]>, label: string, other: string): boolean {
  return label === other || (ahead.get(label) ?? []).some((one) => isBehind(ahead, one, other))
}

/** Computes a number for each node from the numbers of its predecessors. */
function longest(
  ahead: ReadonlyMap<string, readonly string[]>,
  number: (label: string, before: readonly number[]) => number,
): Map<string, number> {
  const known = new Map<string, number>()
  const of = (label: string): number => {
    const found = known.get(label) ?? number(label, (ahead.get(label) ?? []).map(of))
    known.set(label, found)
    return found
  }
  for (const label of ahead.keys()) of(label)
  return known
}
