/** Finds the fixed limits with which the sensors of a rule compare values of messages, for a plot. */
import type { Rule, Template } from '#core'

export interface Threshold {
  readonly metric: string
  readonly value: number
  /** such as `hot.enter` */
  readonly name: string
}

type Properties = Readonly<Record<string, unknown>>

const METRIC_PROPERTIES = ['parameter', 'value', 'metric'] as const
const LIMITS = ['threshold', 'enter', 'leave', 'lowerLimit', 'upperLimit', 'low', 'high', 'target'] as const
const VALUE_OF_MESSAGE = /^(?:\$\{|\{\{)?(?:streamdata\.|GLOBAL\.)?([\w-]{1,100})(?:\}\}?)?$/
const VARIABLE = /^\$\{variables\.([\w-]{1,100})\}$/
const COMPARISON = /([A-Za-z_][\w-]{0,99}) {0,9}[<>]=? {0,9}(-?\d{1,20}(?:\.\d{1,20})?)/g
const MAX_CODE = 10_000

/** `variables`: values that override the variables of the rule. */
export function thresholdsOf(rule: Rule | Template, variables: Properties = {}): readonly Threshold[] {
  const task = 'name' in rule ? rule.taskDefaults : rule.task
  const declared = 'name' in rule ? (rule.variables ?? []) : []
  const defaults = Object.fromEntries(declared.map(({ name, defaultValue }) => [name, defaultValue]))
  const known: Properties = { ...defaults, ...task?.variables, ...variables }
  return (rule.sensors ?? []).flatMap(({ label, properties = {} }) => thresholdsOfSensor(label, properties, known))
}

function thresholdsOfSensor(label: string, properties: Properties, variables: Properties): readonly Threshold[] {
  const code = properties['condition']
  if (typeof code === 'string') {
    return [...code.slice(0, MAX_CODE).matchAll(COMPARISON)].map(([, metric = '', limit]) => {
      return { metric, value: Number(limit), name: label }
    })
  }
  const named = METRIC_PROPERTIES.map((name) => properties[name]).find((value) => typeof value === 'string')
  const metric = VALUE_OF_MESSAGE.exec(named ?? '')?.[1]
  if (metric === undefined) return []
  const number = (given: unknown): number | undefined => {
    const variable = typeof given === 'string' ? VARIABLE.exec(given)?.[1] : undefined
    const value = variable === undefined ? given : variables[variable]
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  }
  const limits = LIMITS.flatMap((name) => {
    const value = number(properties[name])
    return value === undefined ? [] : [{ metric, value, name: `${label}.${name}` }]
  })
  const [target, range] = [number(properties['target']), number(properties['range'])]
  if (target === undefined || range === undefined) return limits
  return [-range, range].map((by) => ({ metric, value: target + by, name: `${label}.range` }))
}
