/** Warns of rows of relations that can never hold, because their conditions on one value contradict each other. */
import { finishProperties } from '../../plug/properties.ts'
import type { Steps } from '../../plug/plug.ts'
import { fieldOf, isConstant } from './check-properties.ts'
import type { Report } from './report.ts'
import type { PartialRule, PlugEntry, RelationEntry, RuleIndex } from './rule-index.ts'
import { at, shown } from '#kernel'

/** Considers only sensors determined by one number of the message (`steps`) that no other input runs. */
export function checkImpossibleRows(
  rule: PartialRule,
  index: RuleIndex,
  sound: ReadonlySet<string>,
  report: Report,
): void {
  const fired = new Set(rule.triggers?.map(({ destinationLabel }) => destinationLabel))
  const known = new Map<string, Reading>()
  for (const entry of index.plugNodes) {
    const reading = fired.has(entry.label) ? undefined : readingOf(entry)
    if (reading !== undefined) known.set(entry.label, reading)
  }
  for (const entry of index.relations) if (sound.has(entry.label)) checkRelation(entry, known, report)
}

interface Reading {
  readonly label: string
  readonly source: string
  readonly parameter: string
  readonly steps: Steps
}

function readingOf({ kind, label, node, plug }: PlugEntry): Reading | undefined {
  const { resource, properties = {} } = node
  // Other ways for the sensor to get a state, or to run on another message.
  const others = [node.timeoutState, node.retryConfig, node.loopDef, node.schedule, node.pollingPeriod]
  const isOther = others.some((one) => one !== undefined) || node.dataTrigger === false || node.pauseExecution === true
  if (kind !== 'sensor' || plug?.steps === undefined || resource === undefined || isOther) return undefined
  if (!Object.entries(properties).every(([key, value]) => isConstant(value, fieldOf(plug, key)))) return undefined
  try {
    const finished = finishProperties(plug, properties)
    const steps = finished.properties && plug.steps(finished.properties)
    // For values that are not numbers the state would be unknown.
    if (steps?.reads !== 'number') return undefined
    return { label, source: JSON.stringify([resource, steps.parameter]), parameter: steps.parameter, steps }
  } catch {
    return undefined // the check of properties reports the error
  }
}

function checkRelation(
  { label, path, node: { type, parentLabels = [], combinations = [] } }: RelationEntry,
  known: ReadonlyMap<string, Reading>,
  report: Report,
): void {
  if (type === 'OR' || type === 'COUNT' || type === 'SHARE') return
  combinations.forEach((row, i) => {
    const readings = new Map<string, (Reading & { readonly state: string })[]>()
    for (const [column, parent] of parentLabels.entries()) {
      const reading = known.get(parent)
      const state = row[column]
      if (reading === undefined || state === undefined) continue
      readings.set(reading.source, [...(readings.get(reading.source) ?? []), { ...reading, state }])
    }
    for (const wanted of readings.values()) {
      const [first] = wanted
      if (first === undefined || wanted.length === 1 || isPossible(wanted)) continue
      const parts = wanted.map(({ label: parent, state }) => `${state} of ${shown(parent)}`).join(' and ')
      report.warning(
        'GATE',
        at(path, 'combinations', i),
        `relation ${shown(label)} requires ${parts}, which no value of ${shown(first.parameter)} satisfies at once`,
        'check the limits; use OR if one of the states suffices, or GENERAL with a row for each',
      )
    }
  })
}

function isPossible(wanted: readonly (Reading & { readonly state: string })[]): boolean {
  const cuts = [...new Set(wanted.flatMap(({ steps }) => steps.cuts))].toSorted((a, b) => a - b)
  const between = cuts.map((cut, i) => (cut + (cuts[i + 1] ?? Number.POSITIVE_INFINITY)) / 2)
  const samples = [Number.NEGATIVE_INFINITY, ...cuts, ...between]
  return samples.some((value) => wanted.every(({ steps, state }) => stateAt(steps, value) === state))
}

function stateAt({ cuts, states }: Steps, value: number): string | undefined {
  const above = cuts.filter((cut) => cut < value).length
  return states[2 * above + (cuts.includes(value) ? 1 : 0)]
}
