/** What is told to subscribers of one tenant, as it is acknowledged. */
import { Feed, type LogPlace } from '#kernel'
import type { Log } from '#storage'
import type { BrokerMessage, Channel, StreamApi, Subscription } from '../contract.ts'
import { isTold, routedMessageOf, type Post } from '../posting/arrival.ts'
import { ResumedReader } from './resumed-reader.ts'

type Reader = ReturnType<StreamApi['subscribe']>

/**
 * Messages of one resource that are kept for readers who come back, and resources for which some are. Of those that
 * nobody has read since the start none are: nobody here can come back to them, and those of readers who come from elsewhere
 * are read from the log.
 */
const KEPT = { kept: 100, keptTopics: 500, keptOnceRead: true }

export class Streams implements StreamApi {
  readonly #feeds: Readonly<Record<Channel, Feed<BrokerMessage>>>

  readonly #log: Log
  /** in the places of its messages; undefined: the first */
  readonly #partition: number | undefined

  /** `behind`: up to that number readers were told by others. `log`: of the messages of that partition of the tenant */
  constructor(behind: number, log: Log, partition = 0) {
    this.#log = log
    this.#partition = partition === 0 ? undefined : partition
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

  /** Whatever the log has up to there was told, here or by others. */
  passed(position: number): void {
    for (const feed of Object.values(this.#feeds)) feed.passed(this.#placeAt(position + 1, 0))
  }

  /** `position`: of its entry; undefined: the log has no message of this post. */
  tell(post: Post, position?: number): void {
    if (!isTold(post)) return
    const { channel, arrivals } = post
    const feed = this.#feeds[channel]
    for (const [i, arrival] of arrivals.entries()) {
      if (feed.isWanted(arrival.resource)) {
        const place = position === undefined ? undefined : this.#placeAt(position, i + 1)
        feed.publish(arrival.resource, routedMessageOf(arrival), place)
      } else feed.pass()
    }
  }

  #read(channel: Channel, resource: string | undefined, { since, after, ...options }: Subscription): Reader {
    const feed = this.#feeds[channel]
    const asked = { ...options, ...(resource !== undefined && { topic: resource }) }
    const kept = feed.read({ ...asked, ...(after !== undefined && { after }) })
    // of all resources nothing is kept here, and of one no more than so much
    const isWhole = after !== undefined && resource !== undefined && !kept.missed
    if (since === undefined || isWhole) return kept
    void kept.return?.()
    // the resource was in another partition when it was seen last: that is a gap
    if ((since.partition ?? 0) !== (this.#partition ?? 0))
      return feed.read({ ...asked, after: Number.MAX_SAFE_INTEGER })
    return new ResumedReader(feed.read(asked), { log: this.#log, since, channel, resource })
  }

  #placeAt(position: number, count: number): LogPlace {
    return this.#partition === undefined ? { position, count } : { position, count, partition: this.#partition }
  }

  end(): void {
    for (const feed of Object.values(this.#feeds)) feed.end()
  }
}
