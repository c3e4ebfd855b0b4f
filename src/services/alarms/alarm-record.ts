/** An alarm as it is stored, and the documents beside it. Times are epoch ms. */
import { createHash } from 'node:crypto'
import { durationMs } from '#kernel'
import type { CollectionSpec } from '#storage'
import type { AttributeChange } from './alarm-schema.ts'
import type { AlarmCause } from './contract.ts'
import type { RaisedAlarm } from './new-alarm.ts'
import { searchTexts } from './search-texts.ts'

/**
 * The history of an alarm is its raising, its repeats and its updates. The newest of the latter two stand in the alarm
 * itself, the others in chunks beside it, so that the thousandth repeat costs what the first one does.
 */
export interface AlarmRecord extends RaisedAlarm {
  readonly id: string
  /** what makes two alarms the same one; also the id of its `KeyRecord` */
  readonly key: string
  /** 1 and one for each repeat */
  readonly count: number
  readonly timestamp: number
  readonly createTime: number
  readonly updateTime: number
  readonly triggerTime: number
  /** who raised it */
  readonly user: string
  /** id of the history record of its raising */
  readonly raisedId: string
  /** how often it was updated */
  readonly updates: number
  /** repeats after the last whole chunk of them */
  readonly repeatTail: readonly HistoryRecord[]
  readonly updateTail: readonly HistoryRecord[]
  /** marks of the newest effects of rules that raised or changed it */
  readonly effects?: readonly string[]
  /** it was escalated, or somebody took care of it before */
  readonly escalationOver?: boolean
}

export interface HistoryRecord {
  readonly id: string
  /** its place in the history; the raising has 0 */
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
  // what is open at a resource, or anywhere, newest first
  together: [
    ['source', 'status', 'timestamp'],
    ['status', 'timestamp'],
  ],
}

/** The alarm that was raised last under a key. Whether it is open, it says itself. */
export interface KeyRecord {
  readonly alarm: string
}
export const KEYS: CollectionSpec<KeyRecord> = { name: 'alarm_keys', version: 1, fields: {} }

export interface HistoryChunk {
  readonly records: readonly HistoryRecord[]
}
export const CHUNKS: CollectionSpec<HistoryChunk> = { name: 'alarm_history', version: 1, fields: {} }

/** What a rule had to say when it raised an alarm; its id is the alarm's. */
export interface CauseRecord {
  readonly cause: AlarmCause
  readonly explanation: unknown
}
export const CAUSES: CollectionSpec<CauseRecord> = { name: 'alarm_causes', version: 1, fields: {} }

/** How far a follower of the log of events got. */
export interface CursorRecord {
  readonly position: number
}
export const CURSORS: CollectionSpec<CursorRecord> = { name: 'alarm_cursors', version: 1, fields: {} }

export const EVENT_LOG = 'alarm_events'
export const PARTITION = 0

/** Alarms of one source and type are the same one; those with a key of their own are those of that key. */
export function keyOf(source: string, type: string, dedupKey: string | undefined): string {
  const parts = dedupKey === undefined ? [source, type] : [dedupKey]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/** When something happens to the alarm by itself; undefined when nothing does. */
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
