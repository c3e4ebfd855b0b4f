/** What the broker stores for MQTT clients: sessions of absent clients, and retained messages. */
import type { DeviceSessions } from './device-sessions.ts'
import type { RetainedMessages } from './retained-messages.ts'

export interface KeptForClients {
  readonly sessions: DeviceSessions
  readonly retained: RetainedMessages
}
