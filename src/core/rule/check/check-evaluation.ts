/** Finds parts of older rules whose outcome differs now that a rule is evaluated once per input. */
import { at, shown } from '#kernel'
import type { Relation, TaskSettings, Trigger } from '../rule.ts'
import { labelsRead } from './check-bindings.ts'
import type { Invocations } from './invocations.ts'
import type { Report } from './report.ts'
import { GATE_STATES, type PartialRule, type PlugEntry, type RuleIndex } from './rule-index.ts'

/** Destinations of several sensors, reads against the declared order, and cool-downs on a change of state. */
export function checkEvaluation(
  rule: PartialRule,
  index: RuleIndex,
  { resetObservations = true }: TaskSettings,
  invocations: Invocations,
  report: Report,
): void {
  const kinds = invocations.kinds()
  const byDestination = new Map<string, { trigger: Partial<Trigger>; path: string }[]>()
  rule.triggers?.forEach((trigger, i) => {
    const { sourceLabel = '', destinationLabel = '', stateChangeTrigger: change, invocationPolicy = 0 } = trigger
    const path = at('', 'triggers', i)
    byDestination.set(destinationLabel, [...(byDestination.get(destinationLabel) ?? []), { trigger, path }])
    if (change === undefined || invocationPolicy === 0) return
    const text = `trigger ${shown(sourceLabel)} -> ${shown(destinationLabel)}: a change during the cool-down is lost, and firings may occur at other times than before`
    const hint = 'use "begins" or "ends" with the states, which a cool-down only delays'
    report.note('EVALUATION', at(path, 'invocationPolicy'), text, hint)
  })
  for (const [destination, triggers] of byDestination) {
    const sensors = new Set(triggers.flatMap(({ trigger }) => sensorsBehind(trigger.sourceLabel ?? '', index)))
    const isShared = kinds?.some((kind) => [...sensors].filter((label) => kind.has(label)).length > 1) ?? true
    const [first] = triggers
    if (sensors.size < 2 || !isShared || first === undefined) continue
    // After a reset, states become known one by one, and are then final for their input.
    if (triggers.length === 1 && resetObservations && firesOnce(first.trigger, index)) continue
    const text = `${shown(destination)} follows ${list(sensors)}, which a single input may run: it fires at most once for that input, after all of them have finished, and not for each result`
    report.note('EVALUATION', first.path, text)
  }
  checkReads(index, report)
}

function sensorsBehind(label: string, index: RuleIndex): readonly string[] {
  return behindOf(label, index).filter((one) => index.nodes.get(one)?.kind === 'sensor')
}

function behindOf(label: string, index: RuleIndex): readonly string[] {
  const behind = new Set([label])
  for (const one of behind) {
    const entry = index.nodes.get(one)
    if (entry?.kind === 'relation') for (const parent of entry.node.parentLabels ?? []) behind.add(parent)
  }
  return [...behind]
}

/** On a change, or on a state that needs all results. */
function firesOnce(trigger: Partial<Trigger>, index: RuleIndex): boolean {
  const { sourceLabel = '', statesTrigger, stateChangeTrigger, begins, ends } = trigger
  if (statesTrigger !== undefined) return needsAll(trigger, index)
  const isChange = (stateChangeTrigger ?? begins ?? ends) !== undefined
  return isChange && behindOf(sourceLabel, index).every((label) => typeOf(label, index) !== 'GENERAL')
}

function typeOf(label: string, index: RuleIndex): Relation['type'] | undefined {
  const entry = index.nodes.get(label)
  return entry?.kind === 'relation' ? entry.node.type : undefined
}

/** The only condition is a state that needs the results of all parents, which are sensors. */
function needsAll(trigger: Partial<Trigger>, index: RuleIndex): boolean {
  const { sourceLabel = '', statesTrigger = [], stateChangeTrigger, begins, ends } = trigger
  const entry = index.nodes.get(sourceLabel)
  if (entry?.kind !== 'relation' || statesTrigger.length !== 1) return false
  if ((stateChangeTrigger ?? begins ?? ends) !== undefined) return false
  const { type, parentLabels = [] } = entry.node
  const isOfSensors = parentLabels.every((label) => index.nodes.get(label)?.kind === 'sensor')
  return isOfSensors && type !== undefined && statesTrigger[0] === LAST[type]
}

const LAST: Readonly<Partial<Record<Relation['type'], string>>> = {
  AND: GATE_STATES[0] ?? '',
  NAND: GATE_STATES[1] ?? '',
  OR: GATE_STATES[1] ?? '',
}

function checkReads(index: RuleIndex, report: Report): void {
  const sensors = index.plugNodes.filter(({ kind }) => kind === 'sensor')
  const indexes = new Map(sensors.map((entry, index) => [entry.label, index]))
  sensors.forEach((entry, position) => {
    const later = [...labelsRead(entry)].filter((label) => {
      const other = sensors[indexes.get(label) ?? position]
      return (indexes.get(label) ?? 0) > position && other !== undefined && sequenceOf(other) === sequenceOf(entry)
    })
    if (later.length === 0) return
    report.note(
      'EVALUATION',
      entry.path,
      `sensor ${shown(entry.label)} reads ${list(later)}, declared after it: it runs after the nodes that it reads, so it does not read the value of the previous input`,
      'to read the previous value, set a higher sequence on the nodes that it reads',
    )
  })
}

function sequenceOf({ node }: PlugEntry): number {
  return 'sequence' in node ? (node.sequence ?? 1) : 1
}

function list(labels: Iterable<string>): string {
  return [...labels].map(shown).join(', ')
}
