/** Pure functions that change alarms. Each returns the new record, and what has changed. */
import { createHash } from 'node:crypto'
import { AppError } from '#kernel'
import type { AlarmRecord } from './alarm-record.ts'
import { type AlarmChange, type AttributeChange, SEVERITIES } from './alarm-schema.ts'
import type { AlarmEvent, OnRepeat } from './contract.ts'
import { withRepeat, withUpdate, type Grown } from './history.ts'
import { type Hold, holdsAt, shelvedUntil, storedHolds, suppressionBy, suppressionOf, withHold } from './holds.ts'
import { afterPut, type Lifecycle, lifecycleOf, RAISE, STATUS_OF } from './life-cycle.ts'
import type { RaisedAlarm } from './new-alarm.ts'
import { ATTRIBUTE_CHANGE, SEVERITY_CHANGE, STATUS_CHANGE } from './words.ts'

/** Maximum remembered effects; more than one commit can hold, since all may be repeated after a crash. */
const KEPT_EFFECTS = 128
const MAX_COMMENTS = 1_000
/** Characters of a mark, which together have 60 bits. */
const MARK = 10

interface Moment {
  readonly now: number
  newId(): string
  readonly effect?: string
  readonly user?: string
}

/** What happens to an alarm. Absent fields stay as they are; null removes a field. */
interface Move extends Pick<AlarmChange, 'severity' | 'status' | 'assignee'> {
  readonly text?: string
  /** the holds on the alarm from now on */
  readonly holds?: readonly Hold[]
  readonly comment?: string
  /** whether the type of the alarm is latching; only for the status `CLEARED` */
  readonly isLatching?: boolean
}

interface Moved extends Grown {
  readonly changes: readonly AttributeChange[]
}

export function createdAlarm(
  { snoozeUntil, ...alarm }: RaisedAlarm,
  {
    id,
    key,
    user,
    holds,
  }: { readonly id: string; readonly key: string; readonly user: string; readonly holds: readonly Hold[] },
  { now, newId, effect }: Moment,
): AlarmRecord {
  const shelved: Hold[] = snoozeUntil === undefined ? [] : [{ ...SNOOZED, by: user, since: now, until: snoozeUntil }]
  const all = shelved.reduce(withHold, holds)
  return {
    id,
    key,
    ...alarm,
    timestamp: alarm.timestamp ?? now,
    count: 1,
    createTime: now,
    updateTime: now,
    triggerTime: now,
    user,
    raisedId: newId(),
    updates: 0,
    repeatTail: [],
    updateTail: [],
    ...(effect !== undefined && { effects: [markOf(effect)] }),
    ...(alarm.status !== 'ACTIVE' && { escalationOver: true }),
    ...(alarm.status === 'CLEARED' && { endTime: now }),
    ...(all.length > 0 && { holds: all, wasHeld: true }),
  }
}

const SNOOZED = { suppression: 'shelved' } as const

/** A repeat makes a returned alarm unacknowledged again; the same holds for a higher severity of an acknowledged one. */
export function repeatedAlarm(
  alarm: AlarmRecord,
  { severity, text }: Pick<AlarmRecord, 'severity' | 'text'>,
  onRepeat: OnRepeat,
  moment: Moment,
): Moved {
  const { now, newId, effect } = moment
  const isHigher = SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(alarm.severity)
  const isTaken = onRepeat === 'replace' || (onRepeat === 'highest' && isHigher)
  const state = lifecycleOf(alarm)
  const next = isTaken && isHigher ? 'unacknowledged' : state === 'normal' ? state : RAISE[state]
  const moved = movedAlarm(alarm, { ...(isTaken && { severity, text }) }, next, moment)
  const { alarm: changed, chunks: first, changes } = moved ?? { alarm, chunks: NO_CHUNKS, changes: [] }
  const { alarm: grown, chunks } = withRepeat(changed, newId(), now)
  return {
    alarm: { ...remembering(grown, effect), updateTime: now, triggerTime: now },
    chunks: first.size === 0 ? chunks : new Map([...first, ...chunks]),
    changes,
  }
}

const NO_CHUNKS: Grown['chunks'] = new Map()

/** Returns undefined if nothing changes. Throws `FINAL` for a finished alarm, except for a comment on it. */
export function changedAlarm(alarm: AlarmRecord, move: Move, moment: Moment): Moved | undefined {
  const { status = alarm.status, isLatching = false } = move
  const state = lifecycleOf(alarm)
  const next = isComment(move) ? state : afterPut(state, status, isLatching)
  if (next === 'FINAL') throw new AppError('FINAL', 'Alarm is in final state')
  const moved = movedAlarm(alarm, move, next, moment)
  return moved && { ...moved, alarm: remembering(moved.alarm, moment.effect) }
}

function isComment(move: Move): boolean {
  return Object.keys(move).every((name) => name === 'comment')
}

/** Drops holds that have ended. */
function movedAlarm(alarm: AlarmRecord, move: Move, next: Lifecycle, moment: Moment): Moved | undefined {
  const { now, newId, user } = moment
  const { severity = alarm.severity, text = alarm.text, comment } = move
  const { assignee = alarm.assignee ?? null, holds = holdsAt(alarm, now) } = move
  const status = STATUS_OF[next]
  const {
    assignee: _assignee,
    snoozeUntil: _snooze,
    holds: _holds,
    hasReturned: _returned,
    endTime: _ended,
    ...rest
  } = alarm
  const comments = (alarm.comments ?? 0) + (comment === undefined ? 0 : 1)
  if (comment !== undefined && comments > MAX_COMMENTS)
    throw new AppError('TOO_LARGE', `the alarm has ${MAX_COMMENTS} comments, which is the most that it may have`)
  const isOver = next === 'returned' || next === 'normal'
  const ended = isOver ? (alarm.endTime ?? now) : undefined
  const changed: AlarmRecord = {
    ...rest,
    severity,
    status,
    text,
    ...(assignee !== null && { assignee }),
    ...(holds.length > 0 && { holds }),
    ...(next === 'returned' && { hasReturned: true }),
    ...(ended !== undefined && { endTime: ended }),
    ...(next !== 'unacknowledged' && { escalationOver: true }),
    ...(comments > 0 && { comments }),
  }
  const changes = changesBetween(alarm, changed, now)
  if (changes.length === 0 && comment === undefined) return undefined
  const record = {
    id: newId(),
    time: now,
    changes,
    ...(user !== undefined && { user }),
    ...(comment !== undefined && { comment }),
  }
  const grown = withUpdate(changes.length === 0 ? changed : { ...changed, updateTime: now }, record)
  return { ...grown, changes }
}

/** A state follows from the status, so that it is a change of its own only from and to `returned`. */
function changesBetween(before: AlarmRecord, after: AlarmRecord, now: number): readonly AttributeChange[] {
  const changes: AttributeChange[] = []
  const note = (attribute: string, type: string, oldValue: string | null, newValue: string | null): void => {
    if (oldValue !== newValue) changes.push({ attribute, type, oldValue, newValue })
  }
  note('severity', SEVERITY_CHANGE, before.severity, after.severity)
  note('status', STATUS_CHANGE, before.status, after.status)
  if (before.hasReturned === true || after.hasReturned === true)
    note('lifecycle', ATTRIBUTE_CHANGE, lifecycleOf(before), lifecycleOf(after))
  note('text', ATTRIBUTE_CHANGE, before.text, after.text)
  note('assignee', ATTRIBUTE_CHANGE, before.assignee ?? null, after.assignee ?? null)
  if (before.status === 'CLEARED') return changes
  const [old, held] = [storedHolds(before), storedHolds(after)]
  note('snoozeUntil', ATTRIBUTE_CHANGE, isoOf(shelvedUntil(holdsAt(before, now))), isoOf(shelvedUntil(held)))
  if (after.status === 'CLEARED') {
    note('suppression', ATTRIBUTE_CHANGE, suppressionBy(old), 'none')
    return changes
  }
  note('suppression', ATTRIBUTE_CHANGE, suppressionBy(old), suppressionBy(held))
  if (suppressionBy(old) === suppressionBy(held)) note('heldBy', ATTRIBUTE_CHANGE, holdersText(old), holdersText(held))
  return changes
}

/** Shelvings have a change of their own. */
function holdersText(holds: readonly Hold[]): string | null {
  const others = holds.filter(({ suppression }) => suppression !== 'shelved')
  if (others.length === 0) return null
  return others.map(({ by, until }) => (until === undefined ? by : `${by} until ${isoOf(until) ?? ''}`)).join(', ')
}

/** Whether the last hold of an open alarm has ended, so that people should see it. */
export function isAnnounced({ status }: AlarmRecord, changes: readonly AttributeChange[]): boolean {
  return (
    status !== 'CLEARED' &&
    changes.some(({ attribute, newValue }) => attribute === 'suppression' && newValue === 'none')
  )
}

export function hasEffect({ effects = [] }: AlarmRecord, effect: string | undefined): boolean {
  return effect !== undefined && effects.length > 0 && effects.includes(markOf(effect))
}

/** Cause of a change: the number of consecutive rules, and the id of the first input. */
export type Causation = Pick<AlarmEvent, 'hops' | 'root'>

export const NO_CAUSE: Causation = { hops: 0 }

export function causationOf(cause: Causation | undefined): Causation {
  if (cause === undefined) return NO_CAUSE
  const { hops, root } = cause
  return { hops, ...(root !== undefined && { root }) }
}

export function eventOf(
  tenant: string,
  eventtype: string,
  alarm: AlarmRecord,
  {
    now,
    causation,
    changes,
    user,
    comment,
  }: { readonly now: number; readonly causation: Causation } & Pick<AlarmEvent, 'changes' | 'user' | 'comment'>,
): AlarmEvent {
  const { id, createTime, type, text, timestamp, source, severity, status, count } = alarm
  return {
    eventtype,
    eventtime: new Date(now).toISOString(),
    alarm: {
      id,
      tenantId: tenant,
      creationTime: new Date(createTime).toISOString(),
      type,
      text,
      timestamp: new Date(timestamp).toISOString(),
      source,
      severity,
      status,
      count,
      lifecycle: lifecycleOf(alarm),
      suppression: suppressionOf(alarm, now),
    },
    ...(changes && changes.length > 0 && { changes }),
    ...(user !== undefined && { user }),
    ...(comment !== undefined && { comment }),
    ...causation,
  }
}

function remembering(alarm: AlarmRecord, effect: string | undefined): AlarmRecord {
  if (effect === undefined) return alarm
  return { ...alarm, effects: [...(alarm.effects ?? []), markOf(effect)].slice(-KEPT_EFFECTS) }
}

function markOf(effect: string): string {
  return createHash('sha256').update(effect).digest('base64url').slice(0, MARK)
}

function isoOf(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString()
}
