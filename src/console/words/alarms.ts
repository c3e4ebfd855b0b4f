/** Alarms in words. */
import { capital, countText, listText, wordOf } from './numbers.ts'

export interface AlarmLike {
  readonly id: string
  readonly severity: string
  readonly status: string
  readonly creationTime: string
  readonly lastTriggeredTime: string
  readonly snoozeUntil?: string
  readonly lifecycle?: string
  readonly holds?: readonly HoldLike[]
}

/** What keeps an alarm from people. */
export interface HoldLike {
  readonly suppression: string
  /** the user, or the name of what suppresses it */
  readonly by?: string
  readonly until?: string
  readonly reason?: string
}

/** Whether a person has to do something about it now. */
export function needsAction(alarm: AlarmLike, now: number): boolean {
  return alarm.status === 'ACTIVE' && holdOf(alarm, now) === undefined
}

/** Returns what holds an alarm back for the longest time. */
export function holdOf({ holds, snoozeUntil }: AlarmLike, now: number): HoldLike | undefined {
  const shelf = snoozeUntil === undefined ? [] : [{ suppression: 'shelved', until: snoozeUntil }]
  const end = ({ until }: HoldLike): number => (until === undefined ? Infinity : Date.parse(until))
  return [...(holds ?? shelf)].filter((hold) => end(hold) > now).sort((a, b) => end(b) - end(a))[0]
}

const HELD: Readonly<Record<string, string>> = {
  shelved: 'Shelved',
  suppressed: 'Suppressed',
  outOfService: 'Out of service',
}

/** Returns the state of a hold; `until` as text. */
export function holdText({ suppression }: HoldLike, until: string | undefined): string {
  return `${HELD[suppression] ?? capital(suppression)}${until === undefined ? '' : ` until ${until}`}`
}

const STATES: Readonly<Record<string, string>> = {
  unacknowledged: 'Active, unacknowledged',
  acknowledged: 'Active, acknowledged',
  returned: 'Returned, unacknowledged',
  normal: 'Cleared',
}

export function alarmStateText({ status, lifecycle }: Pick<AlarmLike, 'status' | 'lifecycle'>): string {
  const byStatus = status === 'ACTIVE' ? 'unacknowledged' : status === 'ACKNOWLEDGED' ? 'acknowledged' : 'normal'
  return STATES[lifecycle ?? byStatus] ?? status
}

const ORDER = ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING']

/** Most severe first, then the oldest. */
export function bySeverity(a: AlarmLike, b: AlarmLike): number {
  return (
    ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) ||
    a.creationTime.localeCompare(b.creationTime) ||
    a.id.localeCompare(b.id)
  )
}

/** Returns the answer of the alarm screen. */
export function alarmsAnswer(open: readonly AlarmLike[], now: number): string {
  const waiting = open.filter((alarm) => needsAction(alarm, now))
  if (waiting.length === 0) {
    return open.length === 0
      ? 'No alarm is active'
      : `No alarm needs action; ${countText(open.length, 'is', 'are')} acknowledged or shelved`
  }
  const critical = waiting.filter(({ severity }) => severity === 'CRITICAL').length
  const needs = waiting.length === 1 ? 'needs' : 'need'
  const rest =
    critical === 0 ? '' : critical === waiting.length ? ', critical' : `, ${wordOf(critical)} of them critical`
  return `${countText(waiting.length, 'alarm')} ${needs} action${rest}`
}

const HISTORY: Readonly<Record<string, string>> = {
  AlarmRaised: 'raised',
  AlarmUpdated: 'changed',
  AlarmRepeated: 'raised again',
}

interface Change {
  readonly attribute: string
  readonly oldValue: string | null
  readonly newValue: string | null
}

/** Returns one line of an alarm's history. */
export function historyLine(text: string, type: string, changes: readonly Change[] = []): string {
  const said = text !== '' ? text : capital(HISTORY[type.split('.').at(-1) ?? ''] ?? 'changed')
  const words = changes
    .filter(({ attribute }) => attribute !== 'lastUpdateTime')
    .map(({ attribute, oldValue, newValue }) =>
      oldValue === null
        ? `${attribute} ${newValue ?? 'removed'}`
        : `${attribute} ${oldValue} → ${newValue ?? 'removed'}`,
    )
  return words.length === 0 ? said : `${said}: ${words.join(', ')}`
}

interface Why {
  readonly sensors: readonly { readonly node: string; readonly state: string | null }[]
  readonly gates: readonly { readonly node: string; readonly state: string | null }[]
}

/** Returns why an alarm was raised: the states of the sensors, and what follows from them. */
export function whySentence({ sensors, gates }: Why): string {
  const is = ({ node, state }: Why['gates'][number]): string => `${node} is ${state ?? 'unknown'}`
  const cause = listText(sensors.map(is))
  return gates.length === 0 ? `${cause}.` : `${cause}, so ${listText(gates.map(is))}.`
}

/** EEMUA 191: what one operator can handle in ten minutes. */
export const FLOOD = 10

/** Counts raises in slots of `slot` ms up to `until`, oldest first. */
export function countBySlot(times: readonly number[], until: number, slot: number, slots: number): readonly number[] {
  const counts = Array.from({ length: slots }, () => 0)
  for (const time of times) {
    const at = slots - 1 - Math.floor((until - time) / slot)
    if (at >= 0 && at < slots) counts[at] = (counts[at] ?? 0) + 1
  }
  return counts
}

interface Figures {
  readonly perTenMinutes: number
  readonly flood: { readonly count: number }
}

/** Returns the answer of the figures: whether operators can cope. */
export function figuresAnswer({ perTenMinutes, flood }: Figures, period: string): string {
  const rate = `${rateText(perTenMinutes)} alarms in ten minutes in the last ${period}`
  if (perTenMinutes > FLOOD) return `Too many alarms: ${rate}`
  if (flood.count > 0) return `${capital(countText(flood.count, 'flood'))}, and ${rate}`
  return perTenMinutes > 1 ? `More alarms than an operator copes with: ${rate}` : `Operators can cope: ${rate}`
}

export function rateText(rate: number): string {
  if (rate > 0 && rate < 0.01) return 'under 0.01'
  return rate === 0 || rate >= 10 ? String(Math.round(rate)) : String(Number(rate.toPrecision(2)))
}

export function shareText(share: number): string {
  return share > 0 && share < 0.01 ? 'under 1 %' : `${Math.round(share * 100)} %`
}
