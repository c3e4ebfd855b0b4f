/** Options of the MQTT listener, and its interface to connections. */
import type { Server, Socket } from 'node:net'
import type { Caller, RateLimitedLogger } from '#kernel'
import type { BrokerMessage, MqttBrokerApi } from '../contract.ts'
import type { DeviceSessions } from '../kept/device-sessions.ts'
import type { OtherHosts } from './other-hosts.ts'
import type { Reason } from './reasons.ts'

export interface MqttOptions {
  readonly api: (caller: Caller) => MqttBrokerApi
  /**
   * Returns undefined for wrong credentials. Rejects with `RATE_LIMITED` after too many attempts from an address, and
   * with `UNAUTHORIZED` and the reason for the wrong certificate.
   */
  readonly authenticate: (key: string, secret: string, address: string, socket: Socket) => Promise<Caller | undefined>
  /** Identifies a client that shows a certificate and no credentials. Returns undefined without one. */
  readonly certified?: (socket: Socket) => Promise<Caller | undefined>
  /** Calls `end` when the credentials of a client are revoked. Returns a function that forgets the client. */
  readonly watch?: (caller: Caller, end: () => void) => () => void
  /** Records that a client came or left; not called for clients of a host that stops. */
  readonly presence?: (caller: Caller, clientId: string, isOnline: boolean) => Promise<void>
  /** Returns the kept sessions of the caller's tenant. Absent: a session ends with its connection. */
  readonly sessions?: (caller: Caller) => DeviceSessions | undefined
  /** Resolves to true once the message is durable, to false for an unknown topic. */
  readonly convert?: (caller: Caller, topic: string, payload: Uint8Array) => Promise<boolean>
  /** Finds the hosts of other tenants. Default: this host has all tenants. */
  readonly others?: OtherHosts | undefined
  readonly host: string
  /** Port without TLS; 0: the system picks one; absent: none */
  readonly port?: number | undefined
  /** Listener with TLS; absent: none */
  readonly secure?: { readonly port: number; create(welcome: (socket: Socket) => void): Server } | undefined
  readonly newId: () => string
  /** Default: machine timers, which do not keep a process alive. */
  readonly after?: (ms: number, work: () => void) => () => void
  readonly limits?: Partial<MqttLimits>
  /** Logs errors of clients, and summarizes floods of them. Default: errors are not logged. */
  readonly report?: (what: string, details: Readonly<Record<string, unknown>>) => void
}

export interface MqttCounts {
  /** rejected messages, whether or not the client was notified */
  refused: number
  /** connections closed because of protocol errors */
  faults: number
  wrongCredentials: number
}

export interface MqttLimits {
  /** maximum connections; default 20,000 */
  readonly connections: number
  /** maximum bytes of a packet; default 1 MiB */
  readonly packetBytes: number
  /** maximum messages in flight per client; default 256 */
  readonly inFlight: number
  /** maximum subscriptions per client; default 100 */
  readonly subscriptions: number
  /** maximum waiting messages per subscription; default 1,000 */
  readonly waiting: number
}

export interface ConnectionContext {
  readonly options: MqttOptions
  readonly limits: MqttLimits
  readonly counts: MqttCounts
  readonly log: RateLimitedLogger
  after(ms: number, work: () => void): () => void
  /** Ends another connection of the same key and client id, and withholds its will. */
  named(caller: Caller, clientId: string, connection: Leaving): void
  /** Returns false if another connection has taken over the client id. */
  left(connection: Leaving, caller: Caller | undefined, clientId: string): boolean
  /** Publishes a will after a delay in ms, unless the client returns. */
  delayWill(caller: Caller, clientId: string, ms: number, publish: () => void): void
  textOf(message: BrokerMessage): Buffer
}

export interface Leaving {
  end(reason: Reason): Promise<void>
}
