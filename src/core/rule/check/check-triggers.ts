/** Checks the source, destination and conditions of triggers. */
import type { StateChange, Trigger } from '../rule.ts'
import type { Report } from './report.ts'
import { checkState, type PartialRule, type NodeEntry, nodeNamed, type RuleIndex, statesOf } from './rule-index.ts'
import { at, removing, replacing, shown } from '#kernel'

export function checkTriggers(rule: PartialRule, index: RuleIndex, report: Report): void {
  const seen = new Map<string, number>()
  rule.triggers?.forEach((trigger, i) => {
    const path = at('', 'triggers', i)
    const source = checkSource(trigger, path, index, report)
    checkDestination(trigger, path, index, report)
    for (const field of LISTS) checkStates(field, trigger, source, path, report)
    checkChange(trigger, source, path, report)
    const key = JSON.stringify(withoutEmptyConditions(trigger), KEYS_IN_ORDER)
    const earlier = seen.get(key)
    if (earlier === undefined) seen.set(key, i)
    else
      report.warning('TRIGGER', path, `${naming(trigger)} is the same as trigger ${earlier}`, {
        text: 'omit one of them',
        fix: removing,
      })
  })
}

/** Returns a trigger without empty conditions: old exports write `[]` and `""` for "always". */
export function withoutEmptyConditions<T extends Partial<Trigger>>(trigger: T): T {
  const { stateChangeTrigger } = trigger
  const empty: (keyof Trigger)[] = LISTS.filter((field) => trigger[field]?.every((state) => state === '') === true)
  if (stateChangeTrigger !== undefined && isEmptyChange(stateChangeTrigger)) empty.push('stateChangeTrigger')
  if (empty.length === 0) return trigger
  const rest = { ...trigger }
  for (const field of empty) delete rest[field]
  return rest
}

const LISTS = ['statesTrigger', 'begins', 'ends'] as const
type ListField = (typeof LISTS)[number]

const CONDITIONS = [...LISTS, 'stateChangeTrigger'] as const
const KEYS_IN_ORDER = ['sourceLabel', 'destinationLabel', ...CONDITIONS, 'stateFrom', 'stateTo']

function isEmptyChange(change: Partial<StateChange>): boolean {
  return (change.stateFrom ?? '') === '' && (change.stateTo ?? '') === ''
}

function naming({ sourceLabel = '', destinationLabel = '' }: Partial<Trigger>): string {
  return `trigger ${shown(sourceLabel)} -> ${shown(destinationLabel)}`
}

function checkSource(trigger: Partial<Trigger>, path: string, index: RuleIndex, report: Report): NodeEntry | undefined {
  const { sourceLabel } = trigger
  if (sourceLabel === undefined) return undefined
  const sourcePath = at(path, 'sourceLabel')
  const source = nodeNamed(sourceLabel, 'actuator', { index, path: sourcePath, subject: naming(trigger) }, report)
  if (source?.kind !== 'actuator') return source
  const hint = 'an actuator has no states; start from a sensor or a relation'
  report.error('TRIGGER', sourcePath, `${naming(trigger)}: the source ${shown(sourceLabel)} is an actuator`, hint)
  return undefined
}

function checkDestination(trigger: Partial<Trigger>, path: string, index: RuleIndex, report: Report): void {
  const { destinationLabel } = trigger
  if (destinationLabel === undefined) return
  const destinationPath = at(path, 'destinationLabel')
  const found = nodeNamed(
    destinationLabel,
    'relation',
    { index, path: destinationPath, subject: naming(trigger) },
    report,
  )
  if (found?.kind !== 'relation') return
  const hint = `a relation follows its parents without a trigger; add ${shown(trigger.sourceLabel ?? '')} to its parentLabels, or name a sensor or an actuator`
  report.error(
    'TRIGGER',
    destinationPath,
    `${naming(trigger)}: the destination ${shown(destinationLabel)} is a relation`,
    hint,
  )
}

function checkStates(
  field: ListField,
  trigger: Partial<Trigger>,
  source: NodeEntry | undefined,
  path: string,
  report: Report,
): void {
  const { [field]: wanted } = trigger
  if (wanted === undefined) return
  const fieldPath = at(path, field)
  const rest = withoutEmptyConditions(trigger)
  if (rest[field] === undefined) {
    if (CONDITIONS.every((condition) => rest[condition] === undefined)) {
      report.warning(
        'TRIGGER',
        fieldPath,
        `${naming(trigger)} has no state in ${field}, so it fires after every execution of its source`,
        `omit ${field} to express this, or list states`,
      )
    }
    return
  }
  wanted.forEach((state, i) => {
    if (state === '*') {
      const isAlone = field === 'statesTrigger' && wanted.length === 1
      const hint = { text: STAR[field], fix: isAlone ? () => removing(fieldPath) : undefined }
      report.error('STATE', at(fieldPath, i), `${naming(trigger)}: "*" is not a state`, hint)
    } else if (source) checkState(state, source, at(fieldPath, i), naming(trigger), report)
  })
  const states = source && statesOf(source)
  if (field === 'statesTrigger' || !states?.every((state) => wanted.includes(state)) || states.length === 0) return
  const what = field === 'begins' ? 'fires once, at the first state, and never again' : 'never fires'
  report.warning(
    'TRIGGER',
    fieldPath,
    `${naming(trigger)}: ${field} has all states of ${shown(source?.label ?? '')}, so it ${what}`,
    'omit the states that do not belong to it',
  )
}

const STAR: Readonly<Record<ListField, string>> = {
  statesTrigger: 'omit statesTrigger to fire on every state',
  begins: 'list the states that belong together, such as the states of an alarm',
  ends: 'list the states that belong together, such as the states of an alarm',
}

function checkChange(trigger: Partial<Trigger>, source: NodeEntry | undefined, path: string, report: Report): void {
  const change: Partial<StateChange> | undefined = trigger.stateChangeTrigger
  if (change === undefined || isEmptyChange(change)) return
  const changePath = at(path, 'stateChangeTrigger')
  for (const side of ['stateFrom', 'stateTo'] as const) {
    const state = change[side]
    if (state === undefined || state === '*') continue
    if (state === '')
      report.error('STATE', at(changePath, side), `${naming(trigger)}: ${side} is empty`, {
        text: 'write "*" for any state',
        fix: replacing('*'),
      })
    else if (source) checkState(state, source, at(changePath, side), naming(trigger), report)
  }
  if (change.stateFrom === change.stateTo && change.stateFrom !== '*') {
    report.warning(
      'TRIGGER',
      changePath,
      `${naming(trigger)} fires each time ${shown(change.stateFrom)} is observed twice in a row, which is not a change`,
      'use statesTrigger to fire while the state holds, begins to fire once when it begins',
    )
  }
}
