/** Nodes and triggers of a rule in words. */
import type { RuleView, ViewNode, ViewTrigger } from '../graph/rule-view.ts'
import { cut, quantityText, valueText } from './numbers.ts'
import { lengthText } from './times.ts'

/** Returns the state that each parent of an edge must have for the edge to match, or none when any does. */
export function wantedOf(trigger: ViewTrigger): readonly string[] {
  return trigger.states.length > 0 ? trigger.states : trigger.begins
}

/** Returns a trigger's condition: `while TRUE, once in 1 h`. */
export function conditionText({ states, change, begins, ends, coolDown }: ViewTrigger): string {
  const parts = [
    ...(states.length > 0 ? [`while ${states.join(' or ')}`] : []),
    ...(change ? [`on ${change.from} to ${change.to}`] : []),
    ...(begins.length > 0 ? [`on entering ${begins.join(' or ')}`] : []),
    ...(ends.length > 0 ? [`on leaving ${ends.join(' or ')}`] : []),
  ]
  const condition = parts.length === 0 ? 'after each run' : parts.join(', ')
  return coolDown === 0 ? condition : `${condition}, once in ${lengthText(coolDown)}`
}

const COMPARED = ['threshold', 'limit', 'thresholds', 'lowerBound', 'upperBound']

/** Returns the metric that a sensor reads, if its properties name one. */
export function metricOf(properties: Readonly<Record<string, unknown>>): string | undefined {
  const metric = properties['parameter'] ?? properties['metric']
  return typeof metric === 'string' ? metric : undefined
}

/** Returns what a sensor looks at, from its properties: a limit, a condition, or the first of them. */
export function propertyText({ what, properties }: ViewNode, unit?: string): string {
  const entries = Object.entries(properties)
  const condition = properties['condition'] ?? properties['expression']
  if (condition !== undefined) return typeof condition === 'string' ? condition : logicText(condition)
  const limit = entries.find(([name]) => COMPARED.includes(name))
  if (limit !== undefined) return `${limit[0] === 'threshold' ? 'limit' : limit[0]} ${quantityText(limit[1], unit)}`
  const first = entries.find(([, value]) => typeof value !== 'object')
  return first === undefined ? what : `${first[0]} ${valueText(first[1])}`
}

/** Returns the smallest form of JSON Logic that people read: `pump == true`. */
function logicText(logic: unknown): string {
  if (typeof logic !== 'object' || logic === null || Array.isArray(logic)) return JSON.stringify(logic)
  const [operator = '', operands] = Object.entries(logic)[0] ?? []
  if (operator === 'var') return Array.isArray(operands) ? valueText(operands[0]) : valueText(operands)
  const list: readonly unknown[] = Array.isArray(operands) ? operands : [operands]
  if (list.length === 2) return list.map(logicText).join(` ${operator} `)
  return `${operator}(${list.map(logicText).join(', ')})`
}

/** Returns the conditions of the triggers into a node, for its second line. */
export function triggersText(rule: RuleView, label: string): string {
  const conditions = rule.triggers.filter(({ destination }) => destination === label).map(conditionText)
  return conditions.length === 0 ? 'no trigger' : cut([...new Set(conditions)].join('; '), 60)
}
