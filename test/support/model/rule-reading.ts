/** Plain questions about a rule, answered by looking through it from scratch each time. */
import type { Actuator, Relation, Rule, Sensor } from '../../../src/core/rule/rule.ts'

export const sensorsOf = (rule: Rule): readonly Sensor[] => rule.sensors ?? []

export function nodeOf(rule: Rule, label: string): Sensor | Actuator | undefined {
  return [...sensorsOf(rule), ...(rule.actuators ?? [])].find((node) => node.label === label)
}

export function isSensor(rule: Rule, label: string): boolean {
  return sensorsOf(rule).some((sensor) => sensor.label === label)
}

/** A sensor that some trigger leads to. */
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

/** Whether any node of the rule stands on that resource. */
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

/** All gates as declared, but each behind the gates that it has as parents. */
export function gatesInOrder(rule: Rule): Relation[] {
  const ordered = new Set<Relation>()
  const add = (gate: Relation): void => {
    for (const label of gate.parentLabels) rule.relations?.filter((parent) => parent.label === label).forEach(add)
    ordered.add(gate)
  }
  rule.relations?.forEach(add)
  return [...ordered]
}

/** The gates that a sensor reaches, directly or through other gates. */
export function gatesBelow(rule: Rule, sensor: string): Relation[] {
  const reached = new Set([sensor])
  return gatesInOrder(rule).filter((gate) => {
    const below = gate.parentLabels.some((label) => reached.has(label))
    if (below) reached.add(gate.label)
    return below
  })
}

/** The sensors that can run because one of `roots` ran: along triggers, through gates too. */
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

/** The sensors of one invocation in the groups in which they run. */
export function groupsOf(rule: Rule, sensors: readonly Sensor[]): string[][] {
  const declared = sensorsOf(rule).filter((sensor) => sensors.includes(sensor))
  const numbers = [...new Set(declared.map((sensor) => sensor.sequence ?? 1))].toSorted((a, b) => a - b)
  const groups = numbers.map((n) => declared.filter((sensor) => (sensor.sequence ?? 1) === n).map((s) => s.label))
  return rule.task?.parallel === false ? groups.flat().map((label) => [label]) : groups
}
