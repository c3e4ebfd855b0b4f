/** Options of the listener, and its interface to connections. */
import type { Caller, RateLimitedLogger } from '#kernel'
import type { BrokerApi, BrokerMessage } from '../contract.ts'
import type { OtherHosts } from './other-hosts.ts'
import type { Reason } from './reasons.ts'

export interface MqttOptions {
  /** the API of that caller */
  readonly api: (caller: Caller) => BrokerApi
  /** Undefined for wrong credentials. Rejects with `RATE_LIMITED` after too many attempts from an address. */
  readonly authenticate: (key: string, secret: string, address: string) => Promise<Caller | undefined>
  /**
   * Converts a message on another topic: true when it is durable, false for an unknown topic. Default: all are unknown.
   */
  readonly convert?: (caller: Caller, topic: string, payload: Uint8Array) => Promise<boolean>
  /** Hosts of other tenants. Default: this one has all. */
  readonly others?: OtherHosts | undefined
  readonly host: string
  /** 0: chosen by the system */
  readonly port: number
  readonly newId: () => string
  /**
   * An injected `setTimeout` that returns its cancellation. Default: the machine's timers, which do not keep a process
   * alive.
   */
  readonly after?: (ms: number, work: () => void) => () => void
  readonly limits?: Partial<MqttLimits>
  /** Logs errors of clients; floods are summarized. Default: not logged. */
  readonly report?: (what: string, details: Readonly<Record<string, unknown>>) => void
}

/** Totals since the start. */
export interface MqttCounts {
  /** rejected messages, whether or not the client was notified */
  refused: number
  /** connections closed after protocol errors */
  faults: number
  wrongCredentials: number
}

export interface MqttLimits {
  /** default 20,000 */
  readonly connections: number
  /** bytes of a packet; default 1 MiB */
  readonly packetBytes: number
  /** messages in flight of one client; default 256 */
  readonly inFlight: number
  /** subscriptions of one client; default 100 */
  readonly subscriptions: number
  /** waiting messages of one subscription; default 1,000 */
  readonly waiting: number
}

export interface ConnectionContext {
  readonly options: MqttOptions
  readonly limits: MqttLimits
  readonly counts: MqttCounts
  readonly log: RateLimitedLogger
  after(ms: number, work: () => void): () => void
  /** Disconnects an earlier client of this name. */
  named(tenant: string, clientId: string, connection: Leaving): void
  left(connection: Leaving, tenant: string | undefined, clientId: string): void
  /** Serializes each message once. */
  textOf(message: BrokerMessage): Buffer
}

export interface Leaving {
  end(reason: Reason): Promise<void>
}
