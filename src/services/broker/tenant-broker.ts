/** The broker of one tenant: its parts, put together. */
import { EffectLedger } from '#services/shared'
import { messageOf as textOf } from '#kernel'
import { PARTITION, type TenantLog } from '#log'
import type { Sample, Store } from '#storage'
import { partitionOf } from '#cluster'
import type {
  BrokerApi,
  BrokerGauges,
  BrokerQuestion,
  CommandOutbox,
  Discovery,
  FollowedPart,
  FollowedStream,
  Forwarding,
  TimeBounds,
} from './contract.ts'
import { type BrokerPartition, followed, streamsOfAll } from './partitions/broker-partition.ts'
import { countOf, type Oddities, type Post, readableMessageOf, timeOf } from './posting/arrival.ts'
import { PostKeys } from './posting/idempotency.ts'
import type { Projected } from './posting/log-entry.ts'
import { type IngestLimits, IngestQueue } from './posting/ingest-queue.ts'
import { Posting } from './posting/posting.ts'
import { Projection } from './posting/projection.ts'
import { type LagLimits, SeriesProjector } from './posting/series-projector.ts'
import { RecentMessages } from './recent-messages.ts'
import { createSeries } from './series/create-series.ts'
import { Streams } from './streams/streams.ts'

/** ms that an entry stays after it was applied */
const LAG_MS = 120_000
/** entries that stay at most: beyond them the lag is shorter */
const MAX_ENTRIES = 2_000_000

/** How far readers who come back may need the log. */
class ReaderLag {
  readonly #elapsed: () => number
  /** what was applied, and when that was seen; oldest first */
  readonly #marks: { readonly at: number; readonly position: number }[] = []
  #needed = 0

  /** `elapsed`: ms since some moment, whatever the clock is set to. */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  /** The last position that they do not need any more. */
  floor(applied: number): number {
    const now = this.#elapsed()
    let upTo = Math.max(this.#needed, applied - MAX_ENTRIES)
    while (this.#marks.length > 0 && (this.#marks[0]?.at ?? 0) <= now - LAG_MS) {
      upTo = Math.max(upTo, this.#marks.shift()?.position ?? 0)
    }
    if ((this.#marks.at(-1)?.position ?? 0) < applied) this.#marks.push({ at: now, position: applied })
    // the newest stays: who saw it last can tell that nothing came since
    this.#needed = Math.max(0, Math.min(upTo, applied - 1))
    return this.#needed
  }
}

/** What the brokers of all tenants of a host have in common. */
export interface CommonDependencies {
  /** epoch ms */
  readonly now: () => number
  /** ms since some moment, whatever the clock is set to */
  readonly elapsed: () => number
  /** Neighbours are asked for when they are needed: they may be made later, or not at all. */
  readonly engine: () => Forwarding | undefined
  readonly resources: () => Discovery | undefined
  readonly commands: () => CommandOutbox | undefined
  /** which of several partitions of its tenants it has; undefined: tenants have one */
  readonly partition: BrokerPartition | undefined
  readonly limits: IngestLimits
  /** what may be acknowledged before series have it, and for how long */
  readonly lag: LagLimits
  /** A number that no stream has reached whose numbers readers may still have, since a broker was here before. */
  readonly toldUpTo: () => number
  readonly bounds: TimeBounds
  /** Logs that a part of a message was changed or dropped, rate-limited by `about`. */
  readonly odd: (what: string, about: string, details: Readonly<Record<string, unknown>>) => void
  /** Logs a failure without a caller to return it to; one line. */
  readonly report: (what: string) => void
}

export interface TenantBrokerDependencies extends CommonDependencies {
  readonly tenant: string
  readonly store: Store
  readonly log: TenantLog
}

export class TenantBroker {
  readonly api: BrokerApi
  readonly streams: Streams
  readonly #dependencies: TenantBrokerDependencies
  readonly #log: TenantLog
  readonly #queue: IngestQueue
  readonly #projection: Projection
  readonly #projector: SeriesProjector
  readonly #recent: RecentMessages
  readonly #keys: PostKeys
  readonly #effects: EffectLedger
  readonly #lag: ReaderLag
  readonly #posting: Posting
  #accepted = 0
  #unreadable = 0
  #badTime = 0
  /** something was stored for a while only */
  #expiring = true

  constructor(dependencies: TenantBrokerDependencies) {
    this.#dependencies = dependencies
    const { tenant, store, log, now, elapsed, engine, commands, limits, lag, report, partition } = dependencies
    this.#log = log
    this.streams = new Streams(dependencies.toldUpTo(), log.log, partition?.number)
    this.#projection = new Projection({
      log: log.log,
      series: store.series,
      report,
      recovered: (projected) => this.#recovered(projected),
    })
    this.#projector = new SeriesProjector(this.#projection, lag)
    this.#lag = new ReaderLag(elapsed)
    log.pruner.followers = async (atRest) => this.#lag.floor(await this.#projector.reached(atRest))
    this.#keys = new PostKeys(store)
    this.#effects = new EffectLedger(store)
    this.#recent = new RecentMessages(store.series, (error) => report(`old messages stay: ${textOf(error)}`))
    this.#queue = new IngestQueue({
      tenant,
      log,
      projector: this.#projector,
      limits,
      engine,
      arrived: (posts) => this.#arrived(posts),
      told: (post, position) => this.#told(post, position),
      passed: (position) => this.streams.passed(position),
    })
    const { series, queryMessages } = createSeries({ store, now })
    const recent = this.#recent
    const inStep = this.#inStep
    this.#posting = new Posting({
      tenant,
      queue: this.#queue,
      keys: this.#keys,
      effects: this.#effects,
      outbox: commands,
      partition,
      readable: () => this.#ownReadable(),
      bounds: dependencies.bounds,
      now,
    })
    this.api = {
      posting: this.#posting,
      messages: {
        last: inStep((resource, channel, limit) => recent.last(resource, channel, limit)),
        current: inStep((resource) => recent.current(resource)),
        query: inStep(queryMessages),
      },
      streams: partition === undefined ? this.streams : streamsOfAll(tenant, this.streams, partition),
      series: {
        get: inStep(series.get),
        raw: inStep(series.raw),
        latest: inStep(series.latest),
        list: inStep(series.list),
        query: inStep(series.query),
        // else what was posted before would come after it
        remove: inStep(series.remove),
      },
    }
  }

  get gauges(): BrokerGauges {
    const { readers: subscribers, dropped } = this.streams
    const [accepted, unreadable, badTime] = [this.#accepted, this.#unreadable, this.#badTime]
    return { accepted, queued: this.#queue.size, subscribers, dropped, unreadable, badTime }
  }

  /** Series have everything that the log has when it resolves. */
  async open(): Promise<void> {
    await this.#projection.open()
    this.streams.passed((await this.#log.log.bounds(PARTITION)).last)
  }

  /** Whatever was posted before can be read when it resolves. Rejects with `STORE` when series cannot be written. */
  async readable(): Promise<void> {
    await Promise.all([this.#othersReadable(), this.#ownReadable()])
  }

  async answer(question: BrokerQuestion): Promise<void> {
    await (question.ask === 'take' ? this.#posting.take(question.post as Post, question.key) : this.#ownReadable())
  }

  follow(asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart> {
    return followed(this.streams, asked, signal)
  }

  async #ownReadable(): Promise<void> {
    await this.#queue.passed()
    await this.#projector.caughtUp()
  }

  /** What other partitions have acknowledged. */
  async #othersReadable(): Promise<void> {
    const { tenant, partition } = this.#dependencies
    if (partition === undefined) return
    const others = Array.from({ length: partition.count }, (_, at) => at).filter((at) => at !== partition.number)
    await Promise.all(others.map((at) => partition.ask(tenant, at, { ask: 'readable' })))
  }

  /** Into series at once, without the log: whoever imports has the samples until this resolves. */
  async append(samples: readonly Sample[]): Promise<void> {
    // no log would bring them back
    await this.#dependencies.store.series.append({ samples, synced: true })
    this.#accepted += samples.length
    await this.#discover(sightingsOf(samples))
  }

  /** Lets go of what is kept no longer: log, keys and what expired. */
  async sweep(): Promise<void> {
    const now = this.#dependencies.now()
    await this.#projector.idle()
    await this.#recent.sweep()
    await this.#log.pruner.prune(true)
    // of all partitions: the first one does it
    if ((this.#dependencies.partition?.number ?? 0) === 0) {
      await this.#keys.sweep(now)
      await this.#effects.sweep(now)
    }
    if (!this.#expiring) return
    this.#expiring = false
    if ((await this.#dependencies.store.series.expire(now)) > 0) this.#expiring = true
  }

  /** Finishes what is under way. */
  async close(): Promise<void> {
    await this.#queue.idle()
    await this.#projector.idle()
    await this.#recent.sweep()
    this.streams.end()
  }

  /** A read that sees whatever was acknowledged before it came (BROKER-2). */
  readonly #inStep = <A extends readonly unknown[], R>(read: (...asked: A) => Promise<R>) => {
    return (...asked: A): Promise<R> => {
      const { partition } = this.#dependencies
      const [first] = asked
      const isOwn =
        partition === undefined ||
        (typeof first === 'string' && partitionOf(first, partition.count) === partition.number)
      const caughtUp = isOwn ? this.#projector.caughtUp() : this.readable()
      return caughtUp === undefined ? read(...asked) : caughtUp.then(() => read(...asked))
    }
  }

  #countOdd({ unreadable, unread, badTime, badTimes }: Oddities): void {
    this.#unreadable += unreadable
    this.#badTime += badTime
    const { odd } = this.#dependencies
    for (const { resource, metric, digits } of unread) {
      const why = 'it has more digits than a number keeps: it stays in the message, and no rule or series has it'
      odd('a whole number is unreadable', `${resource} ${metric}`, { resource, metric, value: digits, why })
    }
    for (const { resource, claim } of badTimes) {
      const why = 'it is too far from the clock of this host: the message is taken at receipt'
      odd('a timestamp is not taken', resource, { resource, timestamp: claim, why })
    }
  }

  #discover(seen: Parameters<Discovery['discover']>[0]): Promise<void> | undefined {
    // the next message of a resource finds it again
    const failed = (error: unknown): void =>
      this.#dependencies.report(`resources were not discovered: ${textOf(error)}`)
    try {
      return this.#dependencies.resources()?.discover(seen)?.catch(failed)
    } catch (error) {
      failed(error)
      return undefined
    }
  }

  #arrived(posts: readonly Post[]): Promise<void> | undefined {
    if (this.#dependencies.resources() === undefined) return undefined
    const seen: Parameters<Discovery['discover']>[0][number][] = []
    for (const post of posts) {
      const { store, channel, arrivals, bulk } = post
      if (!store || channel !== 'events') continue
      for (const [resource, { time, first }] of bulk?.seen ?? []) seen.push({ resource, time, message: first })
      for (const arrival of arrivals) {
        seen.push({
          resource: arrival.resource,
          time: timeOf(arrival, post),
          message: readableMessageOf(arrival, post),
        })
      }
    }
    return seen.length === 0 ? undefined : this.#discover(seen)
  }

  #recovered({ samples, messages }: Projected): Promise<void> | undefined {
    for (const { resource, stream } of messages) {
      if (stream === 'commands') this.#dependencies.commands()?.committed(resource)
    }
    const first = new Map(samples.map(({ resource, time }) => [resource, time]))
    for (const { resource, stream, time } of messages) if (stream === 'events') first.set(resource, time)
    if (first.size === 0) return undefined
    return this.#discover(
      [...first].map(([resource, time]) => ({ resource, time, message: { resource, timestamp: time } })),
    )
  }

  #told(post: Post, position: number | undefined): void {
    const { arrivals, channel, expires, oddities } = post
    this.#accepted += countOf(post)
    if (oddities !== undefined && oddities.isCounted !== true) this.#countOdd(oddities)
    if (expires !== undefined) this.#expiring = true
    this.#recent.stored(post)
    if (channel === 'commands') {
      for (const { resource } of arrivals) this.#dependencies.commands()?.committed(resource)
    }
    this.streams.tell(post, position)
  }
}

/** Each resource with its newest sample. */
function sightingsOf(samples: readonly Sample[]): Parameters<Discovery['discover']>[0] {
  const newest = new Map<string, Sample>()
  for (const sample of samples) {
    const known = newest.get(sample.resource)
    if (known === undefined || sample.time > known.time) newest.set(sample.resource, sample)
  }
  return [...newest].map(([resource, { metric, time, value }]) => {
    return { resource, time, message: { resource, timestamp: time, [metric]: value } }
  })
}
