/** Runs one rule with several values of its parameters over the same messages, and counts the firings of each run. */
import { AppError, at, type Issue, messageOf, validationError } from '#kernel'
import type { EngineEvent } from '../engine/events.ts'
import { createRegistry } from '../plug/registry.ts'
import type { PlugRegistry } from '../plug/plug.ts'
import type { Rule, Template } from '../rule/rule.ts'
import { validateRule, validateTemplate } from '../rule/validate.ts'
import { play, type PlaybackOptions } from './playback.ts'
import { findTarget, type SweepTarget } from './sweep-target.ts'
import { MAX_SWEEP_RUNS, sweepValues } from './sweep-values.ts'

export interface SweepOptions extends PlaybackOptions {
  /**
   * Values by path (`node.property`, `node.invocationPolicy`, or the name of a variable): a list, or text such as
   * `70..90/5` or `70,75,90`. Several paths are combined as a grid.
   */
  readonly set: Readonly<Record<string, string | number | boolean | readonly unknown[]>>
}

export interface Sweep {
  /** paths, in the given order */
  readonly parameters: readonly string[]
  /** labels of destinations of triggers, actuators first */
  readonly destinations: readonly string[]
  /** one row per run; the last parameter changes fastest */
  readonly rows: readonly SweepRow[]
  readonly messages: number
  readonly late: number
  readonly from: number
  readonly until: number
}

export interface SweepRow {
  readonly values: Readonly<Record<string, unknown>>
  readonly fired: Readonly<Record<string, number>>
  /** firings per 24 hours, by destination; null for a run without duration */
  readonly perDay: Readonly<Record<string, number | null>>
  /** number of failed executions */
  readonly errors: number
}

const DAY_MS = 86_400_000

/** A rule with one combination of the values. */
export interface SweepVariant {
  readonly name: string
  readonly values: Readonly<Record<string, unknown>>
  readonly rule: Rule | Template
  /** errors of the rule with these values */
  readonly issues: readonly Issue[]
}

interface Variant extends SweepVariant {
  readonly fired: Map<string, number>
  errors: number
}

/**
 * Runs one rule per combination of values, all in one pass over the messages. Each run equals that of `simulate`.
 * Throws like `simulate`; `VALIDATION` with every invalid path and value, `TOO_LARGE` above 1,000 runs.
 */
export async function sweep(rule: Rule | Template, options: SweepOptions): Promise<Sweep> {
  const { set, ...playback } = options
  const plugs = createRegistry(options.plugs)
  const checked = validated(rule, plugs)
  const found = sweepVariants(checked, set, plugs)
  const problems = found.flatMap(({ name, issues }) =>
    issues.map((issue) => ({ ...issue, message: `with ${name}: ${issue.message}` })),
  )
  if (problems.length > 0) throw validationError('the sweep', problems)
  const variants = found.map((one): Variant => ({ ...one, fired: new Map(), errors: 0 }))
  const lanes = variants.map((variant) => ({
    rule: variant.rule,
    name: variant.name,
    onEvent: (event: EngineEvent) => count(variant, event),
  }))
  const { messages, late, from, until } = await play(lanes, { ...playback, why: false }, { detail: false })
  const destinations = destinationsOf(checked)
  const days = (until - from) / DAY_MS
  const rows = variants.map(({ values, fired, errors }): SweepRow => {
    const counts = destinations.map((node): [string, number] => [node, fired.get(node) ?? 0])
    const perDay = counts.map(([node, times]): [string, number | null] => [node, days > 0 ? times / days : null])
    return { values, fired: Object.fromEntries(counts), perDay: Object.fromEntries(perDay), errors }
  })
  return { parameters: Object.keys(set), destinations, rows, messages, late, from, until }
}

function count(variant: Variant, event: EngineEvent): void {
  if (event.type === 'fired') variant.fired.set(event.node, (variant.fired.get(event.node) ?? 0) + 1)
  else if (event.type === 'result' && !event.ok) variant.errors++
}

function validated(rule: Rule | Template, plugs: PlugRegistry): Rule | Template {
  if ('name' in rule) {
    const { template, issues } = validateTemplate(rule, plugs)
    if (template === undefined) throw validationError('the template', issues)
    return template
  }
  const { rule: normal, issues } = validateRule(rule, plugs)
  if (normal === undefined) throw validationError('the rule', issues)
  return normal
}

/**
 * Returns all combinations of the values in a validated rule. `base`: path of the values in a request. Throws
 * `VALIDATION` with every invalid path and list of values, `TOO_LARGE` above 1,000 combinations.
 */
export function sweepVariants(
  rule: Rule | Template,
  set: SweepOptions['set'],
  plugs: PlugRegistry,
  base = '/set',
): readonly SweepVariant[] {
  const issues: Issue[] = []
  const axes: { target: SweepTarget; values: readonly unknown[] }[] = []
  for (const [path, setting] of Object.entries(set)) {
    const report = (message: string, suggestion?: string): void => {
      const about = { path: at(base, path), message, severity: 'ERROR' as const, type: 'SWEEP' }
      issues.push(suggestion === undefined ? about : { ...about, suggestion })
    }
    const target = findTarget(rule, path, plugs)
    if ('message' in target) report(target.message, target.suggestion)
    try {
      const values = valuesOf(setting)
      if ('apply' in target) axes.push({ target, values })
    } catch (error) {
      report(messageOf(error))
    }
  }
  if (Object.keys(set).length === 0) {
    const message = 'the parameters to set are missing'
    issues.push({
      path: base,
      message,
      suggestion: 'add one such as node.property',
      severity: 'ERROR',
      type: 'SWEEP',
    })
  }
  if (issues.length > 0) throw validationError('the sweep', issues)
  const runs = axes.reduce((product, { values }) => product * values.length, 1)
  if (runs > MAX_SWEEP_RUNS) {
    const most = MAX_SWEEP_RUNS.toLocaleString('en-US')
    const count = runs.toLocaleString('en-US')
    throw new AppError('TOO_LARGE', `the grid has ${count} runs, more than ${most}; use larger steps or fewer values`)
  }
  return grid(axes, rule).map(({ values, rule: changed }) => {
    return { name: nameOf(values), values, rule: changed, issues: problemsOf(changed, plugs) }
  })
}

function valuesOf(setting: SweepOptions['set'][string]): readonly unknown[] {
  if (typeof setting === 'string') return sweepValues(setting)
  if (typeof setting !== 'object') return [setting]
  if (setting.length > 0) return setting
  throw new AppError('VALIDATION', 'the list of values is empty; use at least one value')
}

function grid(
  axes: readonly { target: SweepTarget; values: readonly unknown[] }[],
  rule: Rule | Template,
): readonly Pick<SweepVariant, 'values' | 'rule'>[] {
  let variants: readonly Pick<SweepVariant, 'values' | 'rule'>[] = [{ values: {}, rule }]
  for (const { target, values } of axes) {
    variants = variants.flatMap((one) =>
      values.map((value) => ({
        values: { ...one.values, [target.path]: value },
        rule: target.apply(one.rule, value),
      })),
    )
  }
  return variants
}

function nameOf(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([path, value]) => `${path}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

function problemsOf(rule: Rule | Template, plugs: PlugRegistry): readonly Issue[] {
  const { issues } = 'name' in rule ? validateTemplate(rule, plugs) : validateRule(rule, plugs)
  return issues.filter(({ severity }) => severity === 'ERROR')
}

function destinationsOf(rule: Rule | Template): readonly string[] {
  const triggered = new Set((rule.triggers ?? []).map(({ destinationLabel }) => destinationLabel))
  const labels = [...(rule.actuators ?? []), ...(rule.sensors ?? [])].map(({ label }) => label)
  return labels.filter((label) => triggered.has(label))
}
