/** Publishes acknowledged messages to subscribers. */
import { Feed } from '#kernel'
import type { Log } from '#storage'
import type { BrokerMessage, Channel, StreamApi, Subscription } from '../contract.ts'
import { hasEffect, type PublishRequest, routedMessageOf } from '../posting/publish-request.ts'
import { ResumedReader } from './resumed-reader.ts'

type Reader = ReturnType<StreamApi['subscribe']>

/** A resource without any reader since the start is not buffered; readers from another host read the log. */
const KEPT = { kept: 100, keptTopics: 500, keptOnceRead: true }

export class Streams implements StreamApi {
  readonly #feeds: Readonly<Record<Channel, Feed<BrokerMessage>>>

  readonly #log: Log

  /** `behind`: an upper bound for numbers given by other hosts. */
  constructor(behind: number, log: Log) {
    this.#log = log
    const options = { ...KEPT, behind }
    this.#feeds = { events: new Feed(options), commands: new Feed(options) }
  }

  get readers(): number {
    return this.#feeds.events.readers + this.#feeds.commands.readers
  }

  get dropped(): number {
    return this.#feeds.events.dropped + this.#feeds.commands.dropped
  }

  subscribe(resource: string, channel: Channel, options: Subscription): ReturnType<StreamApi['subscribe']> {
    return this.#read(channel, resource, options)
  }

  firehose(options: Subscription): ReturnType<StreamApi['firehose']> {
    return this.#read('events', undefined, options)
  }

  passed(position: number): void {
    for (const feed of Object.values(this.#feeds)) feed.passed({ position: position + 1, count: 0 })
  }

  /** Publishes a post. `position`: its position in the log; undefined if its messages are not in the log. */
  publish(post: PublishRequest, position?: number): void {
    if (!hasEffect(post) || post.bulk !== undefined) return
    const { channel, arrivals } = post
    const feed = this.#feeds[channel]
    for (const [i, incoming] of arrivals.entries()) {
      if (feed.isWanted(incoming.resource)) {
        const place = position === undefined ? undefined : { position, count: i + 1 }
        feed.publish(incoming.resource, routedMessageOf(incoming), place)
      } else feed.pass()
    }
  }

  #read(channel: Channel, resource: string | undefined, { since, after, ...options }: Subscription): Reader {
    const feed = this.#feeds[channel]
    const subscription = { ...options, ...(resource !== undefined && { topic: resource }) }
    const buffered = feed.read({ ...subscription, ...(after !== undefined && { after }) })
    // only messages of single resources are buffered, up to a limit
    const isWhole = after !== undefined && resource !== undefined && !buffered.missed
    if (since === undefined || isWhole) return buffered
    void buffered.return?.()
    return new ResumedReader(feed.read(subscription), { log: this.#log, since, channel, resource })
  }

  end(): void {
    for (const feed of Object.values(this.#feeds)) feed.end()
  }
}
