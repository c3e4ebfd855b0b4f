/** The stored form of alarms and their companion documents. Times are epoch ms. */
import { durationMs } from '#kernel'
import type { CollectionSpec } from '#storage'
import type { AttributeChange } from './alarm-schema.ts'
import type { AlarmCause } from './contract.ts'
import { type Hold, holdEnd, storedHolds, suppressionBy } from './holds.ts'
import { lifecycleOf } from './life-cycle.ts'
import type { NewAlarmType } from './life-schema.ts'
import type { RaisedAlarm } from './new-alarm.ts'
import { searchTexts } from './search-texts.ts'

/** A stored alarm; older repeats and updates are in separate chunks, so that a repeat has a constant cost. */
export interface AlarmRecord extends RaisedAlarm {
  readonly id: string
  /** deduplication key; also the id of the alarm's `KeyRecord` */
  readonly key: string
  /** how often the alarm was raised: 1, plus one per repeat */
  readonly count: number
  readonly timestamp: number
  readonly createTime: number
  readonly updateTime: number
  readonly triggerTime: number
  readonly user: string
  readonly raisedId: string
  readonly updates: number
  /** repeats after the last complete chunk */
  readonly repeatTail: readonly HistoryRecord[]
  readonly updateTail: readonly HistoryRecord[]
  readonly effects?: readonly string[]
  readonly escalationOver?: boolean
  /** of an alarm that was not created, and is only in the response */
  readonly isDiscarded?: true
  /** the condition is over, but the alarm waits for its acknowledgement */
  readonly hasReturned?: boolean
  readonly holds?: readonly Hold[]
  /** suppressed from its beginning, so its raise was not announced */
  readonly wasHeld?: boolean
  readonly comments?: number
  /** epoch ms, of a returned or finished alarm: when its condition ended */
  readonly endTime?: number
}

export interface HistoryRecord {
  readonly id: string
  /** index in the history; the creation has 0 */
  readonly place: number
  readonly time: number
  readonly changes?: readonly AttributeChange[]
  readonly user?: string
  readonly comment?: string
}

export const ALARMS: CollectionSpec<AlarmRecord> = {
  name: 'alarms',
  version: 2,
  audited: true,
  fields: {
    source: { type: 'text', of: ({ source }) => source.id },
    type: { type: 'text', of: ({ type }) => type },
    status: { type: 'text', of: ({ status }) => status },
    severity: { type: 'text', of: ({ severity }) => severity },
    lifecycle: { type: 'text', of: lifecycleOf },
    suppression: { type: 'text', of: suppressionStored },
    holders: { type: 'texts', of: ({ holds = [] }) => holds.map(({ by }) => by) },
    comments: { type: 'number', of: ({ comments }) => comments },
    assignee: { type: 'text', of: ({ assignee }) => assignee },
    timestamp: { type: 'number', of: ({ timestamp }) => timestamp },
    createTime: { type: 'number', of: ({ createTime }) => createTime },
    updateTime: { type: 'number', of: ({ updateTime }) => updateTime },
    triggerTime: { type: 'number', of: ({ triggerTime }) => triggerTime },
    properties: { type: 'texts', of: ({ properties }) => (properties ? searchTexts(properties) : []) },
    // alarms of older versions lack the time at which they ended
    endTime: {
      type: 'number',
      of: ({ endTime, status, updateTime }) => endTime ?? (status === 'CLEARED' ? updateTime : undefined),
    },
    due: { type: 'number', of: (alarm) => dueTime(alarm) },
  },
  // for listing open alarms, of one resource or all, newest first
  together: [
    ['source', 'status', 'timestamp'],
    ['status', 'timestamp'],
  ],
}

/** Ends of holds are applied within a second. */
function suppressionStored(alarm: AlarmRecord): string {
  return alarm.status === 'CLEARED' ? 'none' : suppressionBy(storedHolds(alarm))
}

/** The alarm that was last raised under a key, whether or not it is still open. */
export interface KeyRecord {
  readonly alarm: string
}
export const KEYS: CollectionSpec<KeyRecord> = { name: 'alarm_keys', version: 1, fields: {} }

export interface HistoryChunk {
  readonly records: readonly HistoryRecord[]
}
export const CHUNKS: CollectionSpec<HistoryChunk> = { name: 'alarm_history', version: 1, fields: {} }

export interface CauseRecord {
  readonly cause: AlarmCause
  readonly explanation: unknown
}
export const CAUSES: CollectionSpec<CauseRecord> = { name: 'alarm_causes', version: 1, fields: {} }

export interface CursorRecord {
  readonly position: number
}
export const CURSORS: CollectionSpec<CursorRecord> = { name: 'alarm_cursors', version: 1, fields: {} }

export type TypeRecord = NewAlarmType
export const TYPES: CollectionSpec<TypeRecord> = { name: 'alarm_types', version: 1, fields: {}, audited: true }

export const EVENT_LOG = 'alarm_events'

export function dueTime(alarm: AlarmRecord): number | undefined {
  const times = [clearTime(alarm), escalationTime(alarm), holdEnd(alarm)].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

export function clearTime(alarm: AlarmRecord): number | undefined {
  const { status, hasReturned, autoClearAfter, triggerTime } = alarm
  if (status === 'CLEARED' || hasReturned === true || autoClearAfter === undefined) return undefined
  return triggerTime + durationMs(autoClearAfter)
}

export function escalationTime(alarm: AlarmRecord): number | undefined {
  const { escalation, escalationOver, createTime } = alarm
  if (lifecycleOf(alarm) !== 'unacknowledged' || escalation === undefined || escalationOver === true) return undefined
  return createTime + durationMs(escalation.after)
}
