/**
 * Contract of notification: contacts with channels, policies that say which alarms notify whom, and the notifications;
 * in process and over fetch (`client.ts`).
 *
 * NOTIFY-1 notifications follow the log of alarms: what an event causes is committed together with the position of the
 *   reader, so that each event counts once, even across a crash
 * NOTIFY-2 a notification is stored before it is sent, keeps its id in all attempts, and is sent at least once
 * NOTIFY-3 a channel that fails or hangs delays only its own notifications, and each attempt has a deadline
 * NOTIFY-4 a link acknowledges once, until it expires; a GET changes nothing
 * NOTIFY-5 policies that take over from each other form no loop
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `PRECONDITION`, `TOO_LARGE`.
 */
import type { Caller } from '#kernel'
import type { DocumentsApi } from '#services/shared/contract'
import type { Contact, TestedContact } from './contact-schema.ts'
import type { Notification, NotificationPage, NotificationQuery, OnCall } from './notification-schema.ts'
import type { Policy } from './policy-schema.ts'

export type { Contact, TestedContact } from './contact-schema.ts'
export type { Notification, NotificationPage, NotificationQuery, OnCall } from './notification-schema.ts'
export type { Policy } from './policy-schema.ts'

export interface NotificationService {
  as(caller: Caller): NotificationApi
}

export interface InternalNotification extends NotificationService {
  start(): Promise<void>
  stop(): Promise<void>
  gauges(): NotificationGauges
  /** Returns what needs attention, one sentence each. */
  warnings(): readonly string[]
  /** Returns what the link of a token would acknowledge. */
  linked(token: string): Promise<LinkState>
  /** Acknowledges the alarms of a link. */
  useLink(token: string): Promise<LinkState>
}

export interface NotificationGauges {
  readonly waiting: number
  /** totals since the start of the host */
  readonly delivered: number
  readonly failed: number
}

/** `open`: usable; `done`: acknowledged by this request. */
export interface LinkState {
  readonly state: 'open' | 'done' | 'used' | 'cleared' | 'expired' | 'invalid'
  readonly notification?: Notification
}

export interface NotificationApi {
  readonly contacts: ContactApi
  readonly policies: DocumentsApi<Policy>
  readonly notifications: {
    /** Returns notifications, newest first. */
    list(query?: NotificationQuery): Promise<NotificationPage>
    get(id: string): Promise<Notification>
  }
  /** Returns who is on call at an instant (epoch ms; default now), by calendar. */
  onCall(query?: { readonly calendar?: string; readonly at?: number }): Promise<OnCall>
}

export interface ContactApi extends DocumentsApi<Contact> {
  /** Sends a test over each channel at once. */
  test(name: string): Promise<TestedContact>
}

/** What is sent over a channel. */
export interface Message {
  /** the same for all attempts */
  readonly id: string
  readonly subject: string
  readonly text: string
  /** fields that placeholders read */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Ports to the outside. Each rejects with the reason, and ends when the signal aborts. */
export interface ChannelPorts {
  /** Returns the response of the server. `undefined`: the host has no mail server. */
  readonly mail?: (
    mail: { readonly id: string; readonly to: readonly string[]; readonly subject: string; readonly text: string },
    signal: AbortSignal,
  ) => Promise<string>
  post(
    request: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string },
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly body: string }>
  publish(
    publication: {
      readonly id: string
      readonly url: string
      readonly user?: string
      readonly password?: string
      readonly topic: string
      readonly value: unknown
    },
    signal: AbortSignal,
  ): Promise<void>
}
