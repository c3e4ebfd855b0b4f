/** Schemas of notifications, of who is on call, and of errors. */
import { Type } from 'typebox'
import { type Decoded, instant, text } from '#services/shared/contract'
import { CHANNEL_TYPES } from './contact-schema.ts'

const Text = Type.String()
const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })

export const NOTIFICATION_STATES = ['waiting', 'delivered', 'failed'] as const
export type NotificationState = (typeof NOTIFICATION_STATES)[number]
export const NOTIFICATION_KINDS = ['raised', 'escalated', 'cleared'] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]

const NotifiedAlarm = Type.Object({
  id: Text,
  type: Text,
  text: Text,
  severity: Text,
  source: Text,
  timestamp: IsoTime,
})

export const NotificationSchema = Type.Object(
  {
    id: Type.String({ description: 'the same for all attempts; Message-ID and Idempotency-Key contain it' }),
    policy: Text,
    contact: Text,
    channel: Type.Enum([...CHANNEL_TYPES]),
    kind: Type.Enum([...NOTIFICATION_KINDS]),
    alarms: Type.Array(NotifiedAlarm, { description: 'the first 50' }),
    total: Type.Integer({ minimum: 1, description: 'number of alarms' }),
    state: Type.Enum([...NOTIFICATION_STATES]),
    attempts: Type.Integer({ minimum: 0 }),
    createTime: IsoTime,
    nextAttempt: Type.Optional(IsoTime),
    endTime: Type.Optional(IsoTime),
    receipt: Type.Optional(Type.String({ description: 'response of the receiver' })),
    lastError: Type.Optional(Text),
    acknowledgedTime: Type.Optional(Type.String({ format: 'date-time', description: 'when its link was used' })),
  },
  { title: 'Notification' },
)
export interface Notification extends Decoded<typeof NotificationSchema> {}

export const NotificationsSchema = Type.Object(
  { notifications: Type.Array(NotificationSchema), next: Type.Optional(Text) },
  { title: 'Notifications' },
)
export interface NotificationPage extends Decoded<typeof NotificationsSchema> {}

export const FILTER = {
  state: Type.Optional(Type.Enum([...NOTIFICATION_STATES], { description: 'state of the delivery' })),
  policy: Type.Optional(text(200, { description: 'name of the policy' })),
  contact: Type.Optional(text(200, { description: 'name of the contact' })),
  alarm: Type.Optional(text(200, { description: 'id of the alarm' })),
  after: Type.Optional(Type.String({ description: 'where the page begins, from `next` of the page before' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'length of the page; default 100' })),
}
const FilterSchema = Type.Object(FILTER)
export interface NotificationQuery extends Decoded<typeof FilterSchema> {}

export const ON_CALL = {
  calendar: Type.Optional(text(200, { minLength: 1 })),
  at: Type.Optional(instant),
}
export const OnCallSchema = Type.Object(
  {
    at: IsoTime,
    calendars: Type.Array(
      Type.Object({
        calendar: Text,
        contacts: Type.Array(Text),
        shifts: Type.Array(Text),
        until: Type.Optional(IsoTime),
      }),
    ),
  },
  { title: 'OnCall' },
)
export interface OnCall extends Decoded<typeof OnCallSchema> {}

export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'NotificationError' },
)
