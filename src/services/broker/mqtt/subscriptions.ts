/** Manages the subscriptions of one client, and delivers their messages. */
import type { ISubscribePacket, ISubscription } from 'mqtt-packet'
import { AppError, type FeedReader, hasScope, type Rights } from '#kernel'
import type { BrokerApi, BrokerMessage } from '../contract.ts'
import type { PacketWriter } from './packet-writer.ts'
import { REASONS } from './reasons.ts'
import type { ConnectionContext } from './connection-context.ts'
import { ERRORS_TOPIC, scopesOfSubscribe, subscribeTopic, topicOf, type SubscribeTopic } from './topics.ts'

/** maximum messages of QoS 1 that the client has not acknowledged */
const MAX_UNACKNOWLEDGED = 100
const MAX_IDS = 0xffff

interface Subscription {
  readonly qos: 0 | 1
  readonly identifier: number | undefined
  readonly end: AbortController
}

type StreamTopic = Exclude<SubscribeTopic, { kind: 'errors' }>

export interface SubscriptionsOptions {
  readonly api: BrokerApi
  /** absent: all rights */
  readonly rights: Rights | undefined
  readonly writer: PacketWriter
  readonly listener: ConnectionContext
  ended(): void
  readonly receiveMaximum: number | undefined
}

export class Subscriptions {
  readonly #api: BrokerApi
  readonly #rights: Rights | undefined
  readonly #writer: PacketWriter
  readonly #listener: ConnectionContext
  readonly #ended: () => void
  readonly #byFilter = new Map<string, Subscription>()
  readonly #unacknowledged = new Set<number>()
  readonly #mostUnacknowledged: number
  /** subscriptions being opened at other partitions */
  readonly #opening = new Set<Promise<void>>()
  #nextId = 0
  #freed: (() => void)[] = []
  #isOver = false

  constructor({ api, rights, writer, listener, ended, receiveMaximum = MAX_IDS }: SubscriptionsOptions) {
    this.#api = api
    this.#rights = rights
    this.#ended = ended
    this.#writer = writer
    this.#listener = listener
    this.#mostUnacknowledged = Math.min(MAX_UNACKNOWLEDGED, receiveMaximum)
  }

  add({ subscriptions, properties }: ISubscribePacket): number[] {
    const granted: number[] = []
    for (const [i, subscription] of subscriptions.entries()) {
      granted[i] = this.#addOne(subscription, properties?.subscriptionIdentifier, (reason) => (granted[i] = reason))
    }
    return granted
  }

  /** Resolves when all subscriptions are active; undefined if they already are. */
  get ready(): Promise<unknown> | undefined {
    return this.#opening.size === 0 ? undefined : Promise.all(this.#opening)
  }

  remove(filter: string): number {
    const subscription = this.#byFilter.get(filter)
    if (subscription === undefined) return REASONS.noSubscription
    subscription.end.abort()
    this.#byFilter.delete(filter)
    return REASONS.success
  }

  acknowledged(messageId: number): void {
    this.#unacknowledged.delete(messageId)
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
  #addOne(
    { topic: filter, qos, nl = false }: ISubscription,
    identifier: number | undefined,
    refuse: (reason: number) => void,
  ): number {
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
    this.remove(filter)
    const granted = qos === 0 ? 0 : 1
    const subscription = { qos: granted, identifier, end: new AbortController() } as const
    if (topic.kind !== 'errors') {
      const forbidden = (): number => {
        this.remove(filter)
        return notAuthorized
      }
      try {
        const reader = this.#open(topic, subscription.end.signal)
        const isForbidden = (error: unknown): void => (isForbiddenError(error) ? refuse(forbidden()) : undefined)
        if (reader.ready !== undefined) this.#waitFor(reader.ready.catch(isForbidden))
        void this.#follow(topic, subscription, reader)
      } catch (error) {
        if (isForbiddenError(error)) return forbidden()
        throw error
      }
    }
    this.#byFilter.set(filter, subscription)
    return granted
  }

  /** The feed bounds the messages that wait for this client. */
  #open(topic: StreamTopic, signal: AbortSignal): FeedReader<BrokerMessage> {
    const { streams } = this.#api
    const options = { signal, most: this.#listener.limits.waiting }
    return topic.kind === 'resource'
      ? streams.subscribe(topic.resource, topic.channel, options)
      : streams.firehose(options)
  }

  async #follow(topic: StreamTopic, subscription: Subscription, reader: FeedReader<BrokerMessage>): Promise<void> {
    const resourceTopic = topic.kind === 'resource' ? topicOf(topic.resource, topic.channel) : undefined
    for await (const { value } of reader) {
      const { resource } = value
      const messageTopic = resourceTopic ?? (typeof resource === 'string' ? topicOf(resource, 'events') : undefined)
      if (messageTopic === undefined || (topic.kind === 'many' && !topic.fits(messageTopic))) continue
      while (subscription.qos === 1 && this.#unacknowledged.size >= this.#mostUnacknowledged && !this.#isOver) {
        await new Promise<void>((resolve) => this.#freed.push(resolve))
      }
      if (subscription.end.signal.aborted) return
      this.#send(messageTopic, this.#listener.textOf(value), subscription)
      const ready = this.#writer.ready()
      if (ready !== undefined) await ready
    }
    // end the connection, because the client would take a dead stream for an idle one
    if (!subscription.end.signal.aborted) this.#ended()
  }

  /** Tracks a subscription being opened. If opening fails, the stream ends and closes the connection. */
  #waitFor(ready: Promise<void>): void {
    const opening = ready.catch(() => undefined)
    this.#opening.add(opening)
    void opening.then(() => this.#opening.delete(opening))
  }

  #send(topic: string, payload: Buffer, { qos, identifier }: Subscription): void {
    const messageId = qos === 1 ? this.#freeId() : undefined
    if (messageId !== undefined) this.#unacknowledged.add(messageId)
    const named = identifier !== undefined && this.#writer.version === 5
    this.#writer.send({
      cmd: 'publish',
      topic,
      payload,
      qos,
      dup: false,
      retain: false,
      ...(messageId !== undefined && { messageId }),
      ...(named && { properties: { subscriptionIdentifier: identifier } }),
    })
  }

  #freeId(): number {
    do this.#nextId = (this.#nextId % MAX_IDS) + 1
    while (this.#unacknowledged.has(this.#nextId))
    return this.#nextId
  }
}

function isForbiddenError(error: unknown): boolean {
  return error instanceof AppError && error.code === 'FORBIDDEN'
}
