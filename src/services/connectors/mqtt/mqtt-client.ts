/** Connects to an MQTT broker, with version 5 or else 3.1.1. */
import { connect, type IClientOptions, type IClientPublishOptions, type IPublishPacket, type MqttClient } from 'mqtt'
import { machineTimers } from '#platform'
import type { SinkDocument } from '../connector-schema.ts'
import type { Opening, SinkConnection, SinkRecord } from '../port.ts'

/** Handles a received message; `done` lets the client read the next one, and with an error without acknowledging it. */
export type HandleMessage = (packet: IPublishPacket, done: (unacknowledged?: Error) => void) => void

export interface Connected {
  readonly client: MqttClient
  readonly isPresent: boolean
  readonly version: 4 | 5
}

interface Wanted {
  readonly clean: boolean
  /** seconds */
  readonly expiry?: number
  readonly receiveMaximum?: number
  readonly will?: IClientOptions['will']
  readonly handle?: HandleMessage
}

const CONNECT_MS = 10_000
const END_MS = 2_000
const ENDED = new Error('the connection to the broker has ended')
/** Return code of version 3 and reason code of version 5 */
const UNSUPPORTED_VERSION = new Set([1, 0x84])

export async function connectTo(opening: Omit<Opening<unknown>, 'document'>, wanted: Wanted): Promise<Connected> {
  try {
    return await connectBy(5, opening, wanted)
  } catch (error) {
    if (!UNSUPPORTED_VERSION.has((error as { readonly code?: number }).code ?? 0)) throw plainError(error)
    return await connectBy(4, opening, wanted).catch((second: unknown) => Promise.reject(plainError(second)))
  }
}

async function connectBy(
  version: 4 | 5,
  { connection, clientId, signal }: Omit<Opening<unknown>, 'document'>,
  { clean, expiry, receiveMaximum, will, handle }: Wanted,
): Promise<Connected> {
  const { url = '', tls, login } = connection
  const isSecure = tls !== undefined && tls !== false
  const properties = {
    ...(expiry !== undefined && { sessionExpiryInterval: expiry }),
    ...(receiveMaximum !== undefined && { receiveMaximum }),
  }
  const password = login?.password ?? login?.token
  const client = connect(isSecure ? url.replace(/^(mqtt|ws):/, '$1s:') : url, {
    clientId: connection.clientId ?? clientId,
    clean,
    protocolVersion: version,
    ...(version === 5 && { properties }),
    ...(login?.user !== undefined && { username: login.user }),
    ...(password !== undefined && { password }),
    ...(typeof tls === 'object' && {
      ...(tls.ca !== undefined && { ca: tls.ca }),
      ...(tls.cert !== undefined && { cert: tls.cert }),
      ...(tls.key !== undefined && { key: tls.key }),
      ...(tls.serverName !== undefined && { servername: tls.serverName }),
    }),
    ...(will && { will }),
    connectTimeout: CONNECT_MS,
    // the host connects again, with backoff
    reconnectPeriod: 0,
    resubscribe: false,
  })
  if (handle !== undefined) client.handleMessage = handle
  const end = (): void => void client.end(true)
  signal.addEventListener('abort', end, { once: true })
  try {
    return await new Promise<Connected>((resolve, reject) => {
      client.once('connect', ({ sessionPresent }) => resolve({ client, version, isPresent: sessionPresent }))
      client.on('error', reject)
      client.once('close', () => reject(new Error('the broker closed the connection')))
    })
  } catch (error) {
    client.end(true)
    throw error
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Disconnects; after two seconds without an end, closes the connection. */
export async function ended({ client }: Pick<Connected, 'client'>): Promise<void> {
  const cancel = machineTimers.later(END_MS, () => void client.end(true))
  await client.endAsync(!client.connected).catch(() => undefined)
  cancel()
}

interface Publication {
  readonly topic: string
  readonly payload: Buffer | string
  readonly options: IClientPublishOptions
}

/** Publishes messages in order; rejects when the connection ends before the broker has acknowledged all. */
class Publisher {
  readonly #client: MqttClient
  readonly #waiting = new Set<(error: Error) => void>()

  constructor({ client }: Pick<Connected, 'client'>) {
    this.#client = client
    client.once('close', () => {
      for (const reject of this.#waiting) reject(ENDED)
    })
  }

  publish(messages: readonly Publication[]): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (!this.#client.connected) return reject(ENDED)
      this.#waiting.add(reject)
      const all = messages.map(({ topic, payload, options }) => this.#client.publishAsync(topic, payload, options))
      void Promise.all(all)
        .then(
          () => resolve(),
          (error: unknown) => reject(plainError(error)),
        )
        .finally(() => this.#waiting.delete(reject))
    })
  }
}

/** Opens a sink that publishes what `publicationsOf` returns for each record. */
export async function publishingSink(
  opening: Opening<SinkDocument>,
  publicationsOf: (record: SinkRecord, connected: Connected) => readonly Publication[],
): Promise<SinkConnection> {
  const connected = await connectTo(opening, { clean: true })
  const publisher = new Publisher(connected)
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= ended(connected))
  opening.signal.addEventListener('abort', () => void close(), { once: true })
  return {
    send: (records) => publisher.publish(records.flatMap((record) => publicationsOf(record, connected))),
    close,
  }
}

/** Subscribes to filters; rejects if the broker refuses one. Retained messages come with a new subscription. */
export async function subscribed({ client, version }: Connected, filters: readonly string[]): Promise<void> {
  const options = { qos: 1, ...(version === 5 && { rh: 1 }) } as const
  const granted = await client.subscribeAsync(Object.fromEntries(filters.map((filter) => [filter, options])))
  const refused = granted.find(({ qos }) => (qos as number) >= 0x80)
  if (refused !== undefined) throw new Error(`the broker refuses the subscription to ${refused.topic}`)
}

export function plainError(error: unknown): Error {
  const { message, code, errors } = error as {
    readonly message?: string
    readonly code?: string | number
    readonly errors?: readonly Error[]
  }
  return new Error(message || errors?.[0]?.message || `the broker cannot be reached (${code ?? 'no reason'})`, {
    cause: error,
  })
}
