/** Questions about the paths of a rule. */
import type { FiredEvent } from '#core'
import type { RuleGraph } from '#core/spi'

/** The sensors that a source follows from: itself, or all those behind a gate. */
export function sensorsBehind(rule: RuleGraph, source: string): readonly string[] {
  const found = new Set([source])
  for (const label of found) {
    for (const gate of rule.relations ?? []) if (gate.label === label) gate.parentLabels.forEach((p) => found.add(p))
  }
  return (rule.sensors ?? []).map(({ label }) => label).filter((label) => found.has(label))
}

/** The shortest cool-down that can have let a firing through, in ms. */
export function coolDownOf(rule: RuleGraph, { node, source }: Pick<FiredEvent, 'node' | 'source'>): number {
  const led = (rule.triggers ?? []).filter((t) => t.sourceLabel === source && t.destinationLabel === node)
  return Math.min(...led.map((trigger) => (trigger.invocationPolicy ?? 0) * 1000))
}
