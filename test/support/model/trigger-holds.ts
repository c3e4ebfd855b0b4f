import type { Trigger } from '../../../src/core/rule/rule.ts'

/** A source at the moment its triggers are looked at. */
export interface SourceView {
  state: string | null
  /** its state just before; null when that was not known */
  previous: string | null
  /** its last known state, however long ago */
  before: string | null
}

/** True when a trigger asks for nothing but that its source ran. */
export function isExecutionTrigger(trigger: Trigger): boolean {
  return (trigger.statesTrigger ?? []).length === 0 && changeOf(trigger) === undefined
}

/** Whether a trigger holds after an observation. */
export function triggerHolds(trigger: Trigger, source: SourceView): boolean {
  if (source.state === null) return false
  if (isExecutionTrigger(trigger)) return true
  if (trigger.statesTrigger?.includes(source.state)) return true
  const change = changeOf(trigger)
  if (!change) return false
  if (change.stateFrom === '*') {
    return source.state !== source.previous && (change.stateTo === '*' || change.stateTo === source.state)
  }
  if (source.before !== change.stateFrom) return false
  return change.stateTo === '*' ? source.state !== change.stateFrom : source.state === change.stateTo
}

function changeOf(trigger: Trigger) {
  const change = trigger.stateChangeTrigger
  if (!change || (change.stateFrom === '' && change.stateTo === '')) return undefined
  return change
}
