/** Stored form of alarms and their companion documents. Times are epoch ms. */
import { durationMs } from '#kernel'
import type { CollectionSpec } from '#storage'
import type { AttributeChange } from './alarm-schema.ts'
import type { AlarmCause } from './contract.ts'
import type { RaisedAlarm } from './new-alarm.ts'
import { searchTexts } from './search-texts.ts'

/**
 * Stored alarm. Its history consists of the raising, repeats and updates. The newest repeats and updates are part of
 * the record, older ones are in chunks of their own, so that the cost of a repeat is constant.
 */
export interface AlarmRecord extends RaisedAlarm {
  readonly id: string
  /** Deduplication key; also the id of its `KeyRecord` */
  readonly key: string
  /** Number of creations: 1 and one per repeat */
  readonly count: number
  readonly timestamp: number
  readonly createTime: number
  readonly updateTime: number
  readonly triggerTime: number
  readonly user: string
  readonly raisedId: string
  readonly updates: number
  /** Repeats after the last complete chunk */
  readonly repeatTail: readonly HistoryRecord[]
  readonly updateTail: readonly HistoryRecord[]
  readonly effects?: readonly string[]
  /** Whether escalation has happened or is no longer needed */
  readonly escalationOver?: boolean
}

export interface HistoryRecord {
  readonly id: string
  /** Index in the history; the raising has 0 */
  readonly place: number
  readonly time: number
  readonly changes?: readonly AttributeChange[]
}

export const ALARMS: CollectionSpec<AlarmRecord> = {
  name: 'alarms',
  version: 1,
  fields: {
    source: { type: 'text', of: ({ source }) => source.id },
    type: { type: 'text', of: ({ type }) => type },
    status: { type: 'text', of: ({ status }) => status },
    severity: { type: 'text', of: ({ severity }) => severity },
    assignee: { type: 'text', of: ({ assignee }) => assignee },
    timestamp: { type: 'number', of: ({ timestamp }) => timestamp },
    createTime: { type: 'number', of: ({ createTime }) => createTime },
    updateTime: { type: 'number', of: ({ updateTime }) => updateTime },
    triggerTime: { type: 'number', of: ({ triggerTime }) => triggerTime },
    properties: { type: 'texts', of: ({ properties }) => (properties ? searchTexts(properties) : []) },
    due: { type: 'number', of: (alarm) => dueTime(alarm) },
  },
  // open alarms of a resource, or of all, newest first
  together: [
    ['source', 'status', 'timestamp'],
    ['status', 'timestamp'],
  ],
}

/** Last raised alarm under a key, open or not. */
export interface KeyRecord {
  readonly alarm: string
}
export const KEYS: CollectionSpec<KeyRecord> = { name: 'alarm_keys', version: 1, fields: {} }

export interface HistoryChunk {
  readonly records: readonly HistoryRecord[]
}
export const CHUNKS: CollectionSpec<HistoryChunk> = { name: 'alarm_history', version: 1, fields: {} }

/** Explanation by the rules at the raising of an alarm; its id is the alarm's. */
export interface CauseRecord {
  readonly cause: AlarmCause
  readonly explanation: unknown
}
export const CAUSES: CollectionSpec<CauseRecord> = { name: 'alarm_causes', version: 1, fields: {} }

/** Progress of a follower of the event log. */
export interface CursorRecord {
  readonly position: number
}
export const CURSORS: CollectionSpec<CursorRecord> = { name: 'alarm_cursors', version: 1, fields: {} }

export const EVENT_LOG = 'alarm_events'
export const PARTITION = 0

/** Time of the next automatic change; undefined without one. */
export function dueTime(alarm: AlarmRecord): number | undefined {
  const times = [clearTime(alarm), escalationTime(alarm)].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

export function clearTime({ status, autoClearAfter, triggerTime }: AlarmRecord): number | undefined {
  return status === 'CLEARED' || autoClearAfter === undefined ? undefined : triggerTime + durationMs(autoClearAfter)
}

export function escalationTime(alarm: AlarmRecord): number | undefined {
  const { status, escalation, escalationOver, createTime } = alarm
  if (status !== 'ACTIVE' || escalation === undefined || escalationOver === true) return undefined
  return createTime + durationMs(escalation.after)
}
