/** Collects the constants and durations of a rule, because rules most often fail near these. */
import type { Rule, TaskSettings, Template } from '#core'
import { settingsOf } from '#core/spi'
import { durationMs } from '#kernel'

export interface RuleConstants {
  /** by metric: the numbers that sensors compare it with, their neighbours, and texts */
  readonly values: Readonly<Record<string, readonly unknown[]>>
  /** ms, ascending: cool-downs, evictions, periods, and durations of plugs */
  readonly durations: readonly number[]
  /** integers from 2 to 50 in sensor properties, which may be counts */
  readonly counts: readonly number[]
}

const MAX_DURATIONS = 24
const MAX_VALUES = 48
const MAX_COUNT = 50
const MAX_COUNTS = 8
const LONGEST_MS = 40 * 86_400_000

/**
 * Returns the constants of a rule for the metrics that devices send. Constants of sensors without a metric, and of task
 * variables, apply to all metrics. `neighbours`, default true: also includes the next tenth, hundredth and whole
 * number.
 */
export function constantsOf(
  rule: Rule | Template,
  metrics: readonly string[],
  { neighbours = true }: { readonly neighbours?: boolean } = {},
): RuleConstants {
  const values = new Map<string, Set<unknown>>(metrics.map((metric) => [metric, new Set()]))
  const settings = settingsOf(rule)
  const shared = { ...settings.variables, ...defaultsOf(rule) }
  for (const { properties = {} } of [...(rule.sensors ?? []), { properties: shared }]) {
    const text = JSON.stringify(properties)
    const named = metrics.filter((metric) => isNamed(metric, text))
    const found = constantsIn(properties)
    for (const metric of named.length > 0 ? named : metrics) found.forEach((value) => values.get(metric)?.add(value))
  }
  return {
    values: Object.fromEntries(
      [...values].map(([metric, set]) => [
        metric,
        (neighbours ? [...set].flatMap(withNeighbours) : [...set]).slice(0, MAX_VALUES),
      ]),
    ),
    durations: durationsOf(rule, settings),
    counts: [...new Set((rule.sensors ?? []).flatMap(({ properties = {} }) => constantsIn(properties)))]
      .filter((value): value is number => typeof value === 'number' && Number.isInteger(value))
      .filter((count) => count >= 2 && count <= MAX_COUNT)
      .slice(0, MAX_COUNTS),
  }
}

function isNamed(metric: string, text: string): boolean {
  for (let at = text.indexOf(metric); at >= 0; at = text.indexOf(metric, at + 1)) {
    if (!/\w/.test(text[at - 1] ?? '') && !/\w/.test(text[at + metric.length] ?? '')) return true
  }
  return false
}

function constantsIn(value: unknown): readonly unknown[] {
  if (typeof value === 'number' || typeof value === 'boolean') return [value]
  if (typeof value === 'string') {
    const numbers = /[<>=(,+*\s-]/.test(value)
      ? (value.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g) ?? []).map(Number)
      : []
    const quoted = [...value.matchAll(/'([^']{1,40})'|"([^"]{1,40})"/g)].map(([, one, two]) => one ?? two)
    const alone = /^-?\d+(?:\.\d+)?$/.test(value) ? [Number(value)] : []
    return [value, ...numbers, ...quoted, ...alone]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(constantsIn)
}

function withNeighbours(value: unknown): readonly unknown[] {
  if (typeof value !== 'number') return [value]
  return [value, ...[0.1, 0.01, 1].flatMap((step) => [tidy(value + step), tidy(value - step)])]
}

function tidy(value: number): number {
  return Number(value.toPrecision(12))
}

function durationsOf(rule: Rule | Template, settings: TaskSettings): readonly number[] {
  const found = new Set<number>()
  const add = (ms: number | undefined): void => {
    if (ms !== undefined && ms > 0 && ms <= LONGEST_MS) found.add(Math.round(ms))
  }
  for (const { invocationPolicy } of rule.triggers ?? []) add((invocationPolicy ?? 0) * 1000)
  for (const sensor of rule.sensors ?? []) {
    add(sensor.evictionTime)
    add(sensor.pollingPeriod)
    durationsIn(sensor.properties).forEach(add)
  }
  for (const actuator of rule.actuators ?? []) durationsIn(actuator.properties).forEach(add)
  add(settings.frequency)
  add((settings.pollingInterval ?? 0) * 1000)
  add(settings.streamValidity)
  durationsIn({ ...settings.variables, ...defaultsOf(rule) }).forEach(add)
  return [...found].sort((a, b) => a - b).slice(0, MAX_DURATIONS)
}

function durationsIn(value: unknown): readonly number[] {
  if (typeof value === 'string') {
    if (!/^\s*(?:P[\dT]|\d)/i.test(value) || value.length > 30) return []
    try {
      return [durationMs(value)]
    } catch {
      return []
    }
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(durationsIn)
}

function defaultsOf(rule: Rule | Template): Readonly<Record<string, unknown>> {
  if (!('name' in rule)) return {}
  return Object.fromEntries((rule.variables ?? []).map(({ name, defaultValue }) => [name, defaultValue]))
}
