/**
 * Serves MQTT 3.1, 3.1.1 and 5 to devices; user name and password are API key and secret.
 *
 * MQTT-1 messages of QoS 1 and 2 are acknowledged when they are durable, in order
 * MQTT-2 a message that is permanently rejected is acknowledged with the reason (version 5), or acknowledged and
 *   reported on the topic `errors` (version 3); after an internal failure the connection ends without an
 *   acknowledgement, so that the client sends the message again
 * MQTT-3 the queue of a slow reader is bounded, and the oldest messages are dropped
 * MQTT-4 a protocol error closes the connection without an acknowledgement; later bytes are not read
 * MQTT-5 errors of clients are counted, and logged as warnings at a limited rate
 * MQTT-6 a subscribed client is disconnected when the broker ends its streams
 * MQTT-7 a returning client of a kept session receives the commands that it has not acknowledged, in order; a repeated
 *   one is marked as a duplicate
 * MQTT-8 a new subscriber receives the retained messages of its topics, unless it declines them
 */
import { createServer, type Server, type Socket } from 'node:net'
import { AppError, type Caller, messageOf, RateLimitedLogger } from '#kernel'
import { machineTimers } from '#platform'
import type { BrokerMessage } from '../contract.ts'
import { Connection } from './connection.ts'
import { REASONS } from './reasons.ts'
import type { Leaving, MqttCounts, MqttLimits, MqttOptions, ConnectionContext } from './connection-context.ts'

export interface MqttListener {
  /** 0: none */
  readonly port: number
  /** Port with TLS; 0: none */
  readonly securePort: number
  readonly connections: number
  readonly counts: Readonly<MqttCounts>
  /** Stops accepting input, notifies every client, and waits for posts in flight. */
  close(): Promise<void>
}

const LIMITS: MqttLimits = {
  connections: 20_000,
  packetBytes: 1_048_576,
  inFlight: 256,
  subscriptions: 100,
  waiting: 1000,
}

export async function openMqtt(options: MqttOptions): Promise<MqttListener> {
  const listener = new MqttServer(options)
  await listener.listen()
  return listener
}

class MqttServer implements MqttListener, ConnectionContext {
  readonly options: MqttOptions
  readonly limits: MqttLimits
  readonly counts: MqttCounts = { refused: 0, faults: 0, wrongCredentials: 0 }
  readonly log: RateLimitedLogger
  readonly #plain: Server | undefined
  readonly #secure: Server | undefined
  readonly #open = new Set<Leaving>()
  /** by tenant, key and client id */
  readonly #named = new Map<string, Leaving>()
  readonly #wills = new Map<string, () => void>()
  /** messages as text, so that each is serialized once */
  readonly #texts = new WeakMap<BrokerMessage, Buffer>()

  constructor(options: MqttOptions) {
    this.options = options
    const welcome = (socket: Socket): void => this.#welcome(socket)
    this.#plain = options.port === undefined ? undefined : createServer(welcome)
    this.#secure = options.secure?.create(welcome)
    this.limits = { ...LIMITS, ...options.limits }
    this.log = new RateLimitedLogger({
      write: (what, details) => options.report?.(what, details),
      after: (ms, work) => this.after(ms, work),
    })
    options.others?.onLeave((tenant) => this.#endTenant(tenant))
  }

  get port(): number {
    return portOf(this.#plain)
  }

  get securePort(): number {
    return portOf(this.#secure)
  }

  get connections(): number {
    return this.#open.size
  }

  async listen(): Promise<void> {
    const { host, port, secure } = this.options
    await listening(this.#plain, host, port)
    try {
      await listening(this.#secure, host, secure?.port)
    } catch (error) {
      this.#plain?.close()
      throw error
    }
  }

  async close(): Promise<void> {
    const servers = [this.#plain, this.#secure].flatMap((server) => server ?? [])
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
    for (const cancel of this.#wills.values()) cancel()
    await Promise.all([...this.#open].map((one) => one.end(REASONS.shuttingDown)))
    await Promise.all(closed)
  }

  after(ms: number, work: () => void): () => void {
    const { after = machineTimers.later } = this.options
    return after(ms, work)
  }

  named(caller: Caller, clientId: string, connection: Leaving): void {
    const name = nameOf(caller, clientId)
    const before = this.#named.get(name)
    this.#named.set(name, connection)
    void before?.end(REASONS.takenOver)
    this.#wills.get(name)?.()
    this.#wills.delete(name)
  }

  left(connection: Leaving, caller: Caller | undefined, clientId: string): boolean {
    this.#open.delete(connection)
    if (caller === undefined) return false
    const name = nameOf(caller, clientId)
    return this.#named.get(name) === connection && this.#named.delete(name)
  }

  delayWill(caller: Caller, clientId: string, ms: number, publish: () => void): void {
    const name = nameOf(caller, clientId)
    const cancel = this.after(ms, () => {
      this.#wills.delete(name)
      publish()
    })
    this.#wills.set(name, cancel)
  }

  textOf(message: BrokerMessage): Buffer {
    const known = this.#texts.get(message)
    if (known !== undefined) return known
    const text = Buffer.from(JSON.stringify(message))
    this.#texts.set(message, text)
    return text
  }

  /** Disconnects the clients of a tenant that moved; they find the new host when they reconnect. */
  #endTenant(tenant: string): void {
    for (const [name, one] of this.#named) if (name.startsWith(`${tenant}\n`)) void one.end(REASONS.shuttingDown)
  }

  #welcome(socket: Socket): void {
    if (this.#open.size >= this.limits.connections) return void socket.destroy()
    this.#open.add(new Connection(socket, this))
  }
}

function nameOf({ tenant, user }: Caller, clientId: string): string {
  return `${tenant}\n${JSON.stringify([user, clientId])}`
}

function portOf(server: Server | undefined): number {
  const address = server?.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function listening(server: Server | undefined, host: string, port: number | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    if (server === undefined) return resolve()
    server.once('error', (error) => {
      const text = `MQTT cannot listen on ${host}:${port}: ${messageOf(error)}; choose another port`
      reject(new AppError('LISTEN', text, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}
