import type { Trigger } from '../../../src/core/rule/rule.ts'

/** The state of a source when its triggers are evaluated. */
export interface SourceView {
  state: string | null
  /** its state just before; null when unknown */
  previous: string | null
  /** its last known state, however long ago */
  before: string | null
}

/**
 * The history of a trigger, oldest first: its source was evaluated and is known, or the trigger held and its
 * destination fired while the source was in a state.
 */
export type Past = readonly { known?: string; fired?: string | null }[]

/** Returns whether a trigger only requires that its source ran. */
export function isExecutionTrigger({ statesTrigger = [], begins = [], ends = [], ...trigger }: Trigger): boolean {
  return [...statesTrigger, ...begins, ...ends].length === 0 && changeOf(trigger) === undefined
}

/** Returns whether a trigger with a condition holds after an evaluation of its source. */
export function triggerHolds(trigger: Trigger, source: SourceView, past: Past): boolean {
  const { state } = source
  if (state === null) return false
  if (trigger.statesTrigger?.includes(state)) return true
  return hasChanged(trigger, state, source) || hasBegun(trigger, state, past) || hasEnded(trigger, state, past)
}

function hasChanged(trigger: Trigger, state: string, { previous, before }: SourceView): boolean {
  const change = changeOf(trigger)
  if (!change) return false
  if (change.stateFrom === '*') return state !== previous && (change.stateTo === '*' || change.stateTo === state)
  if (before !== change.stateFrom) return false
  return change.stateTo === '*' ? state !== change.stateFrom : state === change.stateTo
}

/** Returns whether the state is in the set and the trigger has not fired since the source was last outside. */
function hasBegun({ begins = [] }: Trigger, state: string, past: Past): boolean {
  if (begins.length === 0 || !begins.includes(state)) return false
  const outside = past.findLastIndex(({ known }) => known !== undefined && !begins.includes(known))
  return !past.slice(outside + 1).some(({ fired }) => fired && begins.includes(fired))
}

/** Returns whether the state left the set, and the trigger has not fired since. */
function hasEnded({ ends = [] }: Trigger, state: string, past: Past): boolean {
  if (ends.length === 0 || ends.includes(state)) return false
  const inside = past.findLastIndex(({ known }) => known !== undefined && ends.includes(known))
  return inside !== -1 && !past.slice(inside + 1).some(({ fired }) => fired && !ends.includes(fired))
}

function changeOf({ stateChangeTrigger: change }: Pick<Trigger, 'stateChangeTrigger'>) {
  if (!change || (change.stateFrom === '' && change.stateTo === '')) return undefined
  return change
}
