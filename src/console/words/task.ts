/** The state of a task in words. */
import type { NodeStates } from '../graph/node-states.ts'
import type { RuleView } from '../graph/rule-view.ts'
import { countText, listText } from './numbers.ts'
import { lengthText, timeText } from './times.ts'

export interface TaskFacts {
  readonly status: string
  readonly error?: string | undefined
  readonly rule: RuleView
  readonly states: NodeStates
  readonly instant: number
}

/** Returns the answer of the task screen: what the rule decides, and what it did last. */
export function taskAnswer({ status, error, rule, states, instant }: TaskFacts): string {
  if (status === 'failed') return 'The task has failed and decides nothing'
  if (status !== 'running') return `The task is ${status === 'created' ? 'not started' : status} and decides nothing`
  if (error !== undefined && error !== '') return 'The task runs with an error'
  const sources = [...new Set(rule.triggers.map(({ source }) => source))].filter((label) =>
    rule.nodes.some((node) => node.label === label && node.kind !== 'actuator'),
  )
  const known = sources.filter((label) => (states.get(label)?.state ?? null) !== null)
  const firing = lastFiring(rule, states)
  const fired = firing === undefined ? '' : ` ${firing.label} fired ${agoText(instant - firing.time)}.`
  if (known.length === 0) {
    const isAnyKnown = [...states.values()].some(({ state }) => state !== null)
    return isAnyKnown
      ? `${listText(sources)} cannot be decided yet.${fired}`
      : `No reading has arrived, so nothing is decided.${fired}`
  }
  const said = known.slice(0, 2).map((label) => {
    const { state = null, since, isLonger = false } = states.get(label) ?? {}
    const length = since === undefined ? '' : ` for ${isLonger ? 'over ' : ''}${lengthText(instant - since)}`
    return `${label} is ${state}${length}`
  })
  const calling = rule.nodes.find(({ label }) => states.get(label)?.isCalling === true)
  if (calling !== undefined) return `${listText(said)}. ${calling.label} has fired, and its call is in progress.`
  return `${listText(said)}.${firing === undefined ? ' Nothing has fired.' : fired}`
}

function agoText(ms: number): string {
  return ms < 1_500 ? 'just now' : `${lengthText(ms)} ago`
}

export function lastFiring(
  rule: RuleView,
  states: NodeStates,
): { readonly label: string; readonly time: number } | undefined {
  const fired = rule.nodes.flatMap(({ label, kind }) => {
    const time = states.get(label)?.firedAt
    return kind === 'actuator' && time !== undefined ? [{ label, time }] : []
  })
  return fired.toSorted((a, b) => b.time - a.time)[0]
}

interface ReplayCounts {
  readonly equal: number
  readonly added: number
  readonly removed: number
  readonly moved: number
}

/** Returns what a replay with one changed input says. */
export function replayAnswer({ equal, added, removed, moved }: ReplayCounts): string {
  if (added + removed + moved === 0)
    return equal === 0 ? 'Nothing would have fired then either' : `The same ${countText(equal, 'firing')}, no other`
  const parts = [
    ...(added > 0 ? [`${added} added`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(moved > 0 ? [`${moved} moved`] : []),
  ]
  return `${listText(parts)}; ${countText(equal, 'firing')} as before`
}

interface Replayed {
  readonly kind: 'added' | 'removed' | 'moved'
  readonly node: string
  readonly time: number
  readonly by?: number
}

export function differenceText({ kind, node, time, by = 0 }: Replayed, zone: string, now: number): string {
  if (kind === 'added') return `${node} would have fired`
  if (kind === 'removed') return `${node} would not have fired`
  return `${node} would have fired at ${timeText(time + by, zone, now, true)}, ${lengthText(Math.abs(by))} ${by < 0 ? 'earlier' : 'later'}`
}

const TIMERS: Readonly<Record<string, string>> = {
  clock: 'runs by its clock',
  expiry: 'is forgotten',
  follow: 'ends its wait',
  call: 'is tried again, or given up',
}

export function timerText(kind: string): string {
  return TIMERS[kind] ?? kind
}

interface Health {
  readonly errorsCount?: number
  readonly dropped?: number
  readonly late?: number
  readonly waiting?: { readonly inputs: number; readonly since?: number }
}

/** Returns what is not well with a task, if anything. */
export function healthText({ errorsCount = 0, dropped = 0, waiting }: Health = {}): string | undefined {
  const parts = [
    ...(waiting && waiting.inputs > 100 ? [`${countText(waiting.inputs, 'input')} wait`] : []),
    ...(dropped > 0 ? [`${countText(dropped, 'input')} dropped`] : []),
    ...(errorsCount > 0 ? [`${countText(errorsCount, 'error')} in the last 64 runs`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** Replaces times in ISO 8601 with times in the zone, as in sentences of the host. */
export function localTimes(text: string, zone: string, now: number): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (iso) =>
    timeText(Date.parse(iso), zone, now, true),
  )
}
