/** Finds the paths of a rule, and the states of its nodes. */
import type { FiredEvent, PlugRegistry } from '#core'
import { plugOfNode, type RuleGraph } from '#core/spi'

/** Returns the sensors behind a source: the source itself, or all sensors behind a gate. */
export function sensorsBehind(rule: RuleGraph, source: string): readonly string[] {
  const found = new Set([source])
  for (const label of found) {
    for (const gate of rule.relations ?? []) if (gate.label === label) gate.parentLabels.forEach((p) => found.add(p))
  }
  return (rule.sensors ?? []).map(({ label }) => label).filter((label) => found.has(label))
}

/** Returns the shortest cool-down that can have allowed a firing, in ms. */
export function coolDownOf(rule: RuleGraph, { node, source }: Pick<FiredEvent, 'node' | 'source'>): number {
  const incoming = (rule.triggers ?? []).filter((t) => t.sourceLabel === source && t.destinationLabel === node)
  return Math.min(...incoming.map((trigger) => (trigger.invocationPolicy ?? 0) * 1000))
}

/** Returns the possible states of a sensor or gate; empty if unknown. */
export function statesOf(rule: RuleGraph, label: string, plugs: PlugRegistry): readonly string[] {
  if (rule.relations?.some((relation) => relation.label === label) === true) return ['TRUE', 'FALSE']
  const sensor = rule.sensors?.find((one) => one.label === label)
  const plug = sensor && plugs.find('sensor', sensor.name, sensor.version)
  return plug === undefined ? [] : plugOfNode(plug, sensor?.properties).states
}

/** Names the plugs that may still be running, by the labels of the finished ones. */
export function silentText({ sensors = [], actuators = [] }: RuleGraph, answered: ReadonlySet<string>): string {
  const silent = [...sensors, ...actuators].map(({ label }) => label).filter((label) => !answered.has(label))
  return silent.length === 0 ? 'a plug' : `one of ${silent.join(', ')}`
}
