/** The course of a rule: what its sensors measure, and the states of its nodes as lanes. */
import type { RuleView, ViewNode } from '../graph/rule-view.ts'
import { metricOf, wantedOf } from '../words/rules.ts'
import type { Band } from './bands.ts'
import type { Lane } from './lanes.tsx'

/** Returns the metric that a sensor reads, and its limit. */
export function measuredBy({
  properties,
}: ViewNode): { readonly metric: string; readonly limit: number | undefined } | undefined {
  const metric = metricOf(properties)
  const limit = properties['threshold']
  return metric === undefined ? undefined : { metric, limit: typeof limit === 'number' ? limit : undefined }
}

/** Returns a lane for each sensor and gate, with the states that its edges want as matches. */
export function lanesOf(rule: RuleView, bands: ReadonlyMap<string, readonly Band[]> | undefined): readonly Lane[] {
  const observed = rule.nodes.filter(({ kind }) => kind !== 'actuator')
  return observed.map(({ label }) => ({ name: label, bands: bands?.get(label) ?? [], matches: matchesOf(rule, label) }))
}

function matchesOf(rule: RuleView, label: string): readonly string[] {
  const ofGates = rule.nodes.flatMap(({ parents, rows }) => rows.map((row) => row[parents.indexOf(label)] ?? ''))
  const ofTriggers = rule.triggers.flatMap((trigger) => (trigger.source === label ? wantedOf(trigger) : []))
  return [...ofGates, ...ofTriggers]
}
