/** Pure functions that change alarms. Each returns the new record and its events. */
import { createHash } from 'node:crypto'
import { AppError } from '#kernel'
import type { AlarmRecord } from './alarm-record.ts'
import type { AlarmChange, AttributeChange } from './alarm-schema.ts'
import type { AlarmEvent } from './contract.ts'
import { withRepeat, withUpdate, type Grown } from './history.ts'
import type { RaisedAlarm } from './new-alarm.ts'
import { ATTRIBUTE_CHANGE, SEVERITY_CHANGE, STATUS_CHANGE } from './words.ts'

/** Maximum remembered effects; more than one commit can hold, since all may be repeated after a crash. */
const KEPT_EFFECTS = 128
/** Characters of a mark, which together have 60 bits. */
const MARK = 10

export interface Moment {
  readonly now: number
  readonly recordId: string
  readonly effect?: string
}

export function createdAlarm(
  alarm: RaisedAlarm,
  { id, key, user }: { readonly id: string; readonly key: string; readonly user: string },
  { now, recordId, effect }: Moment,
): AlarmRecord {
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
    raisedId: recordId,
    updates: 0,
    repeatTail: [],
    updateTail: [],
    ...(effect !== undefined && { effects: [markOf(effect)] }),
    ...(alarm.status !== 'ACTIVE' && { escalationOver: true }),
  }
}

export function repeatedAlarm(alarm: AlarmRecord, { now, recordId, effect }: Moment): Grown {
  const { alarm: grown, chunks } = withRepeat(alarm, recordId, now)
  return { alarm: { ...remembering(grown, effect), updateTime: now, triggerTime: now }, chunks }
}

/** Returns undefined if nothing changes. Throws `FINAL` for a cleared alarm. */
export function changedAlarm(
  alarm: AlarmRecord,
  change: AlarmChange,
  { now, recordId, effect }: Moment,
): (Grown & { readonly changes: readonly AttributeChange[] }) | undefined {
  if (alarm.status === 'CLEARED') throw new AppError('FINAL', 'Alarm is in final state')
  const changes = changesOf(alarm, change, now)
  if (changes.length === 0) return undefined
  const { assignee: _assignee, snoozeUntil: _snooze, ...rest } = alarm
  const { severity = alarm.severity, status = alarm.status } = change
  const { assignee = alarm.assignee ?? null, snoozeUntil = alarm.snoozeUntil ?? null } = change
  const { alarm: grown, chunks } = withUpdate(
    {
      ...rest,
      severity,
      status,
      updateTime: now,
      ...(assignee !== null && { assignee }),
      ...(snoozeUntil !== null && { snoozeUntil }),
      ...(status !== 'ACTIVE' && { escalationOver: true }),
    },
    { id: recordId, time: now, changes },
  )
  return { alarm: remembering(grown, effect), chunks, changes }
}

function changesOf(alarm: AlarmRecord, change: AlarmChange, now: number): readonly AttributeChange[] {
  const { severity, status, assignee, snoozeUntil } = change
  const changes: AttributeChange[] = []
  const note = (attribute: string, type: string, oldValue: string | null, newValue: string | null): void => {
    if (oldValue !== newValue) changes.push({ attribute, type, oldValue, newValue })
  }
  if (severity !== undefined) note('severity', SEVERITY_CHANGE, alarm.severity, severity)
  if (status !== undefined) note('status', STATUS_CHANGE, alarm.status, status)
  if (assignee !== undefined) note('assignee', ATTRIBUTE_CHANGE, alarm.assignee ?? null, assignee)
  if (snoozeUntil !== undefined) {
    note('snoozeUntil', ATTRIBUTE_CHANGE, isoOf(snoozeEnd(alarm, now)), isoOf(snoozeUntil ?? undefined))
  }
  return changes
}

export function snoozeEnd({ snoozeUntil }: AlarmRecord, now: number): number | undefined {
  return snoozeUntil !== undefined && snoozeUntil > now ? snoozeUntil : undefined
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
  }: { readonly now: number; readonly causation: Causation; readonly changes?: readonly AttributeChange[] },
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
    },
    ...(changes && { changes }),
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
