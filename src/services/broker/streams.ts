/** What is told to subscribers of one tenant, as it is acknowledged. */
import { Feed } from '../../kernel/feed.ts'
import type { BrokerMessage, Channel, StreamApi, Subscription } from './contract.ts'
import { isTold, routedMessageOf, type Post } from './posting/arrival.ts'

/** messages of one resource that are kept for readers who come back, and resources for which some are */
const KEPT = { kept: 100, keptTopics: 500 }

export class Streams implements StreamApi {
  readonly #feeds: Readonly<Record<Channel, Feed<BrokerMessage>>>

  /** `behind`: up to that number readers were told by others */
  constructor(behind: number) {
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
    return this.#feeds[channel].read({ ...options, topic: resource })
  }

  firehose(options: Subscription): ReturnType<StreamApi['firehose']> {
    return this.#feeds.events.read(options)
  }

  tell(post: Post): void {
    if (!isTold(post)) return
    const feed = this.#feeds[post.channel]
    for (const arrival of post.arrivals) feed.publish(arrival.resource, routedMessageOf(arrival))
  }

  end(): void {
    for (const feed of Object.values(this.#feeds)) feed.end()
  }
}
