/** Manages the subscriptions of one client, and delivers their messages. */
import type { ISubscribePacket, ISubscription } from 'mqtt-packet'
import { AppError, type FeedReader, hasScope, type Rights } from '#kernel'
import type { BrokerMessage, MqttBrokerApi } from '../contract.ts'
import type { DeviceSession, DeviceSessions, WaitingCommand } from '../kept/device-sessions.ts'
import type { PacketWriter } from './packet-writer.ts'
import { REASONS } from './reasons.ts'
import type { ConnectionContext } from './connection-context.ts'
import { ERRORS_TOPIC, scopesOfSubscribe, subscribeTopic, topicOf, type SubscribeTopic } from './topics.ts'

/** maximum messages of QoS 1 that the client has not acknowledged */
const MAX_UNACKNOWLEDGED = 100
const MAX_IDS = 0xffff

/** Packet ids of stored commands; other messages have higher ones. */
const MAX_STORED_ID = 0x7fff

interface Subscription {
  readonly qos: 0 | 1
  readonly identifier: number | undefined
  readonly asPublished: boolean
  readonly end: AbortController
}

export interface KeptSession {
  readonly sessions: DeviceSessions
  readonly session: DeviceSession
}

interface Asked extends ISubscription {
  readonly identifier?: number | undefined
  readonly isRestored?: boolean
}

interface Sending {
  readonly retain?: boolean
  readonly dup?: boolean
  readonly messageId?: number
}

type CommandsTopic = Extract<SubscribeTopic, { kind: 'resource' }>
type StreamTopic = Exclude<SubscribeTopic, { kind: 'errors' }>

export interface SubscriptionsOptions {
  readonly api: MqttBrokerApi
  /** absent: all rights */
  readonly rights: Rights | undefined
  readonly writer: PacketWriter
  readonly listener: ConnectionContext
  ended(): void
  readonly receiveMaximum: number | undefined
  /** undefined: the session ends with the connection */
  readonly kept?: KeptSession | undefined
}

export class Subscriptions {
  readonly #api: MqttBrokerApi
  readonly #rights: Rights | undefined
  readonly #writer: PacketWriter
  readonly #listener: ConnectionContext
  readonly #ended: () => void
  readonly #byFilter = new Map<string, Subscription>()
  readonly #unacknowledged = new Set<number>()
  readonly #mostUnacknowledged: number
  readonly #kept: KeptSession | undefined
  /** stored commands that this connection has sent */
  readonly #inFlight = new Map<number, WaitingCommand>()
  #delivering: Promise<void> = Promise.resolve()
  /** subscriptions being opened or stored */
  readonly #opening = new Set<Promise<void>>()
  #nextId = MAX_STORED_ID
  #freed: (() => void)[] = []
  #isOver = false

  constructor({ api, rights, writer, listener, ended, receiveMaximum = MAX_IDS, kept }: SubscriptionsOptions) {
    this.#api = api
    this.#rights = rights
    this.#ended = ended
    this.#writer = writer
    this.#listener = listener
    this.#kept = kept
    this.#mostUnacknowledged = Math.min(MAX_UNACKNOWLEDGED, receiveMaximum)
  }

  add({ subscriptions, properties }: ISubscribePacket): number[] {
    const granted: number[] = []
    const identifier = properties?.subscriptionIdentifier
    for (const [i, subscription] of subscriptions.entries()) {
      granted[i] = this.#addOne({ ...subscription, identifier }, (reason) => (granted[i] = reason))
    }
    return granted
  }

  /** Continues the subscriptions of a kept session as far as the key may still have them. */
  restore(): void {
    for (const { filter, qos, identifier, asPublished } of Array.from(this.#kept?.session.filters.values() ?? [])) {
      const restored = { topic: filter, qos, identifier, rap: asPublished === true, rh: 2, isRestored: true }
      if (this.#addOne(restored, () => undefined) >= 0x80) this.#forget(filter)
    }
  }

  /** Resolves when all subscriptions are active; undefined if they already are. */
  get ready(): Promise<unknown> | undefined {
    return this.#opening.size === 0 ? undefined : Promise.all(this.#opening)
  }

  unsubscribe(filter: string): number {
    const removed = this.#remove(filter)
    if (removed === REASONS.success) this.#forget(filter)
    return removed
  }

  #remove(filter: string): number {
    const subscription = this.#byFilter.get(filter)
    if (subscription === undefined) return REASONS.noSubscription
    subscription.end.abort()
    this.#byFilter.delete(filter)
    return REASONS.success
  }

  acknowledged(messageId: number): void {
    this.#unacknowledged.delete(messageId)
    const stored = this.#inFlight.get(messageId)
    this.#inFlight.delete(messageId)
    if (stored !== undefined) this.#kept?.sessions.acknowledged(this.#kept.session, stored.number)
    for (const freed of this.#freed.splice(0)) freed()
  }

  reportError(topic: string, error: AppError): void {
    const subscription = this.#byFilter.get(ERRORS_TOPIC)
    if (subscription === undefined) return
    const details = error.issues.map(({ path, message }) => `${path} <- ${message}`)
    this.#send(ERRORS_TOPIC, Buffer.from(JSON.stringify({ topic, error: error.message, details })), {
      ...subscription,
      qos: 0,
    })
  }

  end(): void {
    this.#isOver = true
    for (const { end } of this.#byFilter.values()) end.abort()
    this.#byFilter.clear()
    for (const freed of this.#freed.splice(0)) freed()
  }

  /** `refuse` is called when a check that takes longer fails, before `ready` resolves. */
  #addOne(asked: Asked, refuse: (reason: number) => void): number {
    const { topic: filter, qos, nl = false, rap = false, rh = 0, identifier, isRestored = false } = asked
    const is5 = this.#writer.version === 5
    if (filter.startsWith('$share/')) return is5 ? REASONS.sharedSubscriptions : REASONS.unspecified
    const topic = subscribeTopic(filter)
    if (topic === undefined) return is5 ? REASONS.badFilter : REASONS.unspecified
    const notAuthorized = is5 ? REASONS.notAuthorized : REASONS.unspecified
    const scopes = scopesOfSubscribe(topic)
    const rights = this.#rights
    if (rights !== undefined && scopes.length > 0 && !scopes.some((scope) => hasScope(rights, scope))) {
      return notAuthorized
    }
    // `nl` (no local) is unsupported, because messages do not record the connection that they came from
    if (is5 && nl) return REASONS.notHere
    const isNew = !this.#byFilter.has(filter)
    if (isNew && this.#byFilter.size >= this.#listener.limits.subscriptions) return REASONS.unspecified
    this.#remove(filter)
    const granted = qos === 0 ? 0 : 1
    const subscription = { qos: granted, identifier, asPublished: rap, end: new AbortController() } as const
    if (topic.kind !== 'errors') {
      const forbidden = (): number => {
        this.unsubscribe(filter)
        return notAuthorized
      }
      try {
        const reader = this.#open(topic, subscription.end.signal)
        const isForbidden = (error: unknown): void => (isForbiddenError(error) ? refuse(forbidden()) : undefined)
        if (reader.ready !== undefined) this.#waitFor(reader.ready.catch(isForbidden))
        const wantsRetained = rh === 0 || (rh === 1 && isNew)
        void this.#follow(topic, subscription, reader, wantsRetained).catch(() => this.#ended())
      } catch (error) {
        if (isForbiddenError(error)) return forbidden()
        throw error
      }
    }
    this.#byFilter.set(filter, subscription)
    if (!isRestored) this.#store(filter, topic, subscription)
    return granted
  }

  /** Lets the acknowledgement of the subscription wait until it is stored with the session. */
  #store(filter: string, topic: SubscribeTopic, { qos, identifier, asPublished }: Subscription): void {
    if (this.#kept === undefined) return
    const { sessions, session } = this.#kept
    const commandsOf = qos === 1 && isOfCommands(topic) ? topic.resource : undefined
    const stored = sessions.subscribe(session, {
      filter,
      qos,
      ...(identifier !== undefined && { identifier }),
      ...(asPublished && { asPublished }),
      ...(commandsOf !== undefined && { commandsOf }),
    })
    this.#waitFor(stored, () => this.#ended())
  }

  #forget(filter: string): void {
    if (this.#kept === undefined) return
    const { sessions, session } = this.#kept
    this.#waitFor(sessions.unsubscribe(session, filter), () => this.#ended())
  }

  /** The feed bounds the messages that wait for this client. */
  #open(topic: StreamTopic, signal: AbortSignal): FeedReader<BrokerMessage> {
    const { streams } = this.#api
    const options = { signal, most: this.#listener.limits.waiting }
    return topic.kind === 'resource'
      ? streams.subscribe(topic.resource, topic.channel, options)
      : streams.firehose(options)
  }

  async #follow(
    topic: StreamTopic,
    subscription: Subscription,
    reader: FeedReader<BrokerMessage>,
    wantsRetained: boolean,
  ): Promise<void> {
    const stored = subscription.qos === 1 && isOfCommands(topic) ? this.#kept : undefined
    const { signal } = subscription.end
    // reads no more than the check of the resource allows
    const isAllowed = await (reader.ready ?? Promise.resolve()).then(
      () => true,
      () => false,
    )
    if (isAllowed && wantsRetained) await this.#sendRetained(topic, subscription)
    if (isAllowed && stored !== undefined) await this.#deliver(stored)
    const resourceTopic = topic.kind === 'resource' ? topicOf(topic.resource, topic.channel) : undefined
    for await (const { value } of reader) {
      if (stored !== undefined) {
        await this.#deliver(stored)
        continue
      }
      const { resource } = value
      const messageTopic = resourceTopic ?? (typeof resource === 'string' ? topicOf(resource, 'events') : undefined)
      if (messageTopic === undefined || (topic.kind === 'many' && !topic.fits(messageTopic))) continue
      const retain = subscription.asPublished && this.#api.retained.isRetained(value)
      if (!(await this.#sendOne(messageTopic, value, subscription, retain))) return
    }
    // end the connection, because the client would take a dead stream for an idle one
    if (!signal.aborted) this.#ended()
  }

  /** Returns false if the subscription ended while the message waited for acknowledgements of earlier ones. */
  async #sendOne(topic: string, message: BrokerMessage, to: Subscription, retain: boolean): Promise<boolean> {
    if (to.qos === 1) await this.#room()
    if (to.end.signal.aborted) return false
    this.#send(topic, this.#listener.textOf(message), to, { retain })
    await this.#writer.ready()
    return true
  }

  async #room(): Promise<void> {
    while (this.#unacknowledged.size >= this.#mostUnacknowledged && !this.#isOver) {
      await new Promise<void>((resolve) => this.#freed.push(resolve))
    }
  }

  async #sendRetained(topic: StreamTopic, subscription: Subscription): Promise<void> {
    const { retained } = this.#api
    const resources = topic.kind === 'resource' ? [topic.resource] : retained.resources()
    const channel = topic.kind === 'resource' ? topic.channel : 'events'
    for (const resource of resources) {
      const messageTopic = topicOf(resource, channel)
      if (messageTopic === undefined || (topic.kind === 'many' && !topic.fits(messageTopic))) continue
      const message = await retained.last(resource, channel)
      if (message === undefined) continue
      if (this.#kept !== undefined && subscription.qos === 1 && isOfCommands(topic)) {
        await this.#kept.sessions.add(this.#kept.session, resource, message)
      } else if (!(await this.#sendOne(messageTopic, message, subscription, true))) return
    }
  }

  /** Sends stored commands that this connection has not sent yet, one run after the other. */
  async #deliver(kept: KeptSession): Promise<void> {
    this.#delivering = this.#delivering.then(() => this.#deliverAll(kept))
    await this.#delivering
  }

  async #deliverAll({ sessions, session }: KeptSession): Promise<void> {
    // the rights for all subscriptions of the session are checked first
    await this.ready
    for (const command of session.waiting.values()) {
      const { number, resource } = command
      const messageId = ((number - 1) % MAX_STORED_ID) + 1
      if (this.#inFlight.has(messageId)) continue
      await this.#room()
      const stored = await sessions.read(session, command)
      const topic = topicOf(resource, 'commands')
      const subscription = topic === undefined ? undefined : this.#byFilter.get(topic)
      if (this.#isOver) return
      if (stored === undefined || topic === undefined || subscription?.qos !== 1) continue
      this.#inFlight.set(messageId, command)
      const sending = { retain: stored.isRetained === true, dup: command.wasSent, messageId }
      this.#send(topic, this.#listener.textOf(stored.message), subscription, sending)
      sessions.sent(session, command)
      await this.#writer.ready()
    }
  }

  /** Delays acknowledgements of subscriptions. A stream that cannot be opened ends, and closes the connection. */
  #waitFor(ready: Promise<void>, failed: () => void = () => undefined): void {
    const opening = ready.catch(failed)
    this.#opening.add(opening)
    void opening.then(() => this.#opening.delete(opening))
  }

  #send(
    topic: string,
    payload: Buffer,
    { qos, identifier }: Pick<Subscription, 'qos' | 'identifier'>,
    { retain = false, dup = false, messageId = qos === 1 ? this.#freeId() : undefined }: Sending = {},
  ): void {
    if (messageId !== undefined) this.#unacknowledged.add(messageId)
    const named = identifier !== undefined && this.#writer.version === 5
    this.#writer.send({
      cmd: 'publish',
      topic,
      payload,
      qos,
      dup,
      retain,
      ...(messageId !== undefined && { messageId }),
      ...(named && { properties: { subscriptionIdentifier: identifier } }),
    })
  }

  #freeId(): number {
    do this.#nextId = this.#nextId >= MAX_IDS ? MAX_STORED_ID + 1 : this.#nextId + 1
    while (this.#unacknowledged.has(this.#nextId))
    return this.#nextId
  }
}

function isOfCommands(topic: SubscribeTopic): topic is CommandsTopic {
  return topic.kind === 'resource' && topic.channel === 'commands'
}

function isForbiddenError(error: unknown): boolean {
  return error instanceof AppError && error.code === 'FORBIDDEN'
}
