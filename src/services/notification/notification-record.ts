/** The stored form of incidents, groups and notifications. Times are epoch ms. */
import { createHash } from 'node:crypto'
import type { NamedRecord } from '#services/shared'
import type { CollectionSpec } from '#storage'
import type { ChannelType, ContactDocument } from './contact-schema.ts'
import type { Notification, NotificationKind, NotificationState } from './notification-schema.ts'
import type { PolicyDocument } from './policy-schema.ts'

export const CONTACTS: CollectionSpec<NamedRecord<ContactDocument>> = {
  name: 'alarm_contacts',
  version: 1,
  audited: true,
  fields: {},
}
export const POLICIES: CollectionSpec<NamedRecord<PolicyDocument>> = {
  name: 'alarm_policies',
  version: 1,
  audited: true,
  fields: {},
}

/** An alarm as notifications show it. */
export interface NotifiedAlarm {
  readonly id: string
  readonly type: string
  readonly text: string
  readonly severity: string
  readonly source: string
  readonly timestamp: string
}

/** An open alarm under a policy, until it is cleared, or until no further notification can follow. */
export interface IncidentRecord {
  readonly policy: string
  readonly alarm: NotifiedAlarm
  /** index of the next step; 0 is the policy itself */
  readonly step: number
  /** when the next step is due; absent: none, or the alarm is suppressed */
  readonly due?: number
  /** contacts that were notified, who are also notified of the clearing */
  readonly notified: readonly string[]
  readonly isSuppressed?: true
  readonly createTime: number
}

export const INCIDENTS: CollectionSpec<IncidentRecord> = {
  name: 'alarm_incidents',
  version: 1,
  fields: {
    alarm: { type: 'text', of: ({ alarm }) => alarm.id },
    policy: { type: 'text', of: ({ policy }) => policy },
    due: { type: 'number', of: ({ due }) => due },
    createTime: { type: 'number', of: ({ createTime }) => createTime },
  },
}

/** Alarms that wait for a common notification, or the rest until the next one. */
export interface GroupRecord {
  readonly policy: string
  readonly kind: NotificationKind
  readonly recipients: readonly string[]
  /** the first alarms */
  readonly alarms: readonly NotifiedAlarm[]
  readonly total: number
  /** when it is sent, or removed if no alarm was added */
  readonly sendAt: number
  /** no notification before this time */
  readonly quietUntil: number
  /** what exceeded the limit of the policy, which no longer applies to it */
  readonly isOverflow?: true
}

export const GROUPS: CollectionSpec<GroupRecord> = {
  name: 'alarm_notice_groups',
  version: 1,
  fields: {
    policy: { type: 'text', of: ({ policy }) => policy },
    sendAt: { type: 'number', of: ({ sendAt }) => sendAt },
  },
}

/** Notifications of a policy since the beginning of a span of its limit. */
export interface CountRecord {
  readonly since: number
  readonly sent: number
}
export const COUNTS: CollectionSpec<CountRecord> = { name: 'alarm_policy_counts', version: 1, fields: {} }

export interface NotificationRecord {
  readonly policy: string
  readonly contact: string
  /** index in the contact */
  readonly channel: number
  readonly type: ChannelType
  readonly kind: NotificationKind
  readonly alarms: readonly NotifiedAlarm[]
  readonly total: number
  readonly state: NotificationState
  readonly attempts: number
  readonly createTime: number
  /** of a waiting notification: when the next attempt is due */
  readonly due?: number
  readonly endTime?: number
  readonly receipt?: string
  readonly lastError?: string
  readonly acknowledgedTime?: number
  readonly removeTime?: number
}

export const NOTIFICATIONS: CollectionSpec<NotificationRecord> = {
  name: 'alarm_notifications',
  version: 1,
  fields: {
    policy: { type: 'text', of: ({ policy }) => policy },
    contact: { type: 'text', of: ({ contact }) => contact },
    state: { type: 'text', of: ({ state }) => state },
    lane: { type: 'text', of: (record) => (record.state === 'waiting' ? laneOf(record) : undefined) },
    due: { type: 'number', of: ({ due }) => due },
    createTime: { type: 'number', of: ({ createTime }) => createTime },
    removeTime: { type: 'number', of: ({ removeTime }) => removeTime },
    alarm: { type: 'texts', of: ({ alarms }) => alarms.map(({ id }) => id) },
  },
  together: [['lane', 'due']],
}

export interface CursorRecord {
  readonly position: number
}
export const CURSORS: CollectionSpec<CursorRecord> = { name: 'alarm_notice_cursors', version: 1, fields: {} }

/** Notifications of one channel of one contact are sent one after the other. */
export function laneOf({ contact, channel }: Pick<NotificationRecord, 'contact' | 'channel'>): string {
  return `${channel} ${contact}`
}

export function keyOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

export function showNotification(id: string, record: NotificationRecord): Notification {
  const { policy, contact, type, kind, alarms, total, state, attempts, createTime, due, endTime } = record
  const { receipt, lastError, acknowledgedTime } = record
  return {
    id,
    policy,
    contact,
    channel: type,
    kind,
    alarms,
    total,
    state,
    attempts,
    createTime: isoOf(createTime),
    ...(state === 'waiting' && due !== undefined && { nextAttempt: isoOf(due) }),
    ...(endTime !== undefined && { endTime: isoOf(endTime) }),
    ...(receipt !== undefined && { receipt }),
    ...(lastError !== undefined && { lastError }),
    ...(acknowledgedTime !== undefined && { acknowledgedTime: isoOf(acknowledgedTime) }),
  }
}

function isoOf(time: number): string {
  return new Date(time).toISOString()
}
