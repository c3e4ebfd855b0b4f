/** Chooses what a report plots, so that the page stays small: resources with firings, metrics that the rule reads. */
import type { Rule, Template } from '#core'
import { type Threshold, thresholdsOf } from './thresholds.ts'

export const MAX_PLOTTED = 8
const MAX_METRICS = 4
export const MAX_FIRINGS = 1_000

/** Puts metrics that the rule compares first, then other metrics that it names, then the rest. */
export function metricsToPlot(names: readonly string[], rule: Rule | Template): readonly string[] {
  const compared = new Set(thresholdsOf(rule).map(({ metric }) => metric))
  const text = JSON.stringify(rule)
  const rank = (name: string): number => (compared.has(name) ? 0 : text.includes(name) ? 1 : 2)
  const sorted = names.toSorted((a, b) => rank(a) - rank(b))
  const read = sorted.filter((name) => rank(name) < 2)
  return (read.length > 0 ? read : sorted).slice(0, MAX_METRICS)
}

/** Puts resources with firings first. */
export function resourcesToPlot(withData: readonly string[], fired: ReadonlySet<string>): readonly string[] {
  return withData.toSorted((a, b) => Number(fired.has(b)) - Number(fired.has(a))).slice(0, MAX_PLOTTED)
}

/** Returns the limits of the rule, with the limits that a sweep replaces at each of their values. */
export function sweptThresholds(
  thresholds: readonly Threshold[],
  sweep: readonly Readonly<Record<string, unknown>>[],
): readonly Threshold[] {
  return thresholds.flatMap((threshold) => {
    const values = new Set(sweep.map((values) => values[threshold.name]))
    const numbers = [...values].filter((value) => typeof value === 'number')
    return numbers.length === 0 ? [threshold] : numbers.map((value) => ({ ...threshold, value }))
  })
}
