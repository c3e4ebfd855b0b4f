/** What the port is opened with, and what its connections have of it. */
import type { Caller, RateLimitedLogger } from '#kernel'
import type { BrokerApi, BrokerMessage } from '../contract.ts'
import type { OtherHosts } from './other-hosts.ts'
import type { Reason } from './reasons.ts'

export interface MqttOptions {
  /** the broker as that caller may see it */
  readonly api: (caller: Caller) => BrokerApi
  /** Undefined when they are wrong. Rejects with `RATE_LIMITED` after too many attempts from an address. */
  readonly authenticate: (key: string, secret: string, address: string) => Promise<Caller | undefined>
  /**
   * Takes a message on a topic that is none of the broker's: true when it is durable, false when nobody has that topic.
   * Default: nobody.
   */
  readonly convert?: (caller: Caller, topic: string, payload: Uint8Array) => Promise<boolean>
  /** Hosts that have other tenants. Default: this one has all. */
  readonly others?: OtherHosts | undefined
  readonly host: string
  /** 0: the system picks one */
  readonly port: number
  readonly newId: () => string
  /** Does it after ms, unless it is taken back. Default: the machine's timers, which keep no process alive. */
  readonly after?: (ms: number, work: () => void) => () => void
  readonly limits?: Partial<MqttLimits>
  /** Told of what a client did wrong and may not hear of; a flood of it comes as numbers. Default: nobody. */
  readonly report?: (what: string, details: Readonly<Record<string, unknown>>) => void
}

/** Since the port was opened. */
export interface MqttCounts {
  /** messages that were refused, whether or not their client could be told */
  refused: number
  /** connections that were closed for what came over them */
  faults: number
  /** wrong pairs of user name and password */
  wrongCredentials: number
}

export interface MqttLimits {
  /** connections at once; default 20,000 */
  readonly connections: number
  /** bytes of one packet; default 1 MiB */
  readonly packetBytes: number
  /** messages of one client that wait to be durable; default 256 */
  readonly inFlight: number
  /** subscriptions of one client; default 100 */
  readonly subscriptions: number
  /** messages that wait for one subscription; default 1,000 */
  readonly waiting: number
}

/** What a connection needs of the port. */
export interface ConnectionContext {
  readonly options: MqttOptions
  readonly limits: MqttLimits
  readonly counts: MqttCounts
  readonly log: RateLimitedLogger
  after(ms: number, work: () => void): () => void
  /** The client that had this name before has to go. */
  named(tenant: string, clientId: string, connection: Leaving): void
  left(connection: Leaving, tenant: string | undefined, clientId: string): void
  /** Each message becomes text once, however many read it. */
  textOf(message: BrokerMessage): Buffer
}

export interface Leaving {
  end(reason: Reason): Promise<void>
}
