/** What all changes of a rule are made of. */
import type { PlugRegistry, Rule, Template } from '#core'
import type { RuleGraph } from '#core/spi'

/** A rule with one thing changed, under a name that says what: not yet known to be valid. */
export type Change = readonly [name: string, rule: Rule | Template]

/** The states that a sensor or gate of a rule can have; none when they are not known. */
export function statesOf(rule: RuleGraph, label: string, plugs: PlugRegistry): readonly string[] {
  if (rule.relations?.some((relation) => relation.label === label) === true) return ['TRUE', 'FALSE']
  const sensor = rule.sensors?.find((one) => one.label === label)
  return sensor === undefined ? [] : (plugs.find('sensor', sensor.name, sensor.version)?.states ?? [])
}

/** Without the keys whose value is undefined, which JSON does not have. */
export function without<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T
}
