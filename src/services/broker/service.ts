/** Composes the data broker of one tenant from its parts, the tenant's store, and neighbouring services. */
import { EffectLedger, type LookUp } from '#services/shared'
import { type Caller, type Issue, messageOf, refusedBy } from '#kernel'
import { TenantLog } from '#log'
import { machineTimers } from '#platform'
import type { Sample, Store } from '#storage'
import type {
  BatchIntake,
  MqttBrokerApi,
  BrokerGauges,
  Channel,
  CommandOutbox,
  Discovery,
  Forwarding,
  InternalBroker,
  TimeBounds,
} from './contract.ts'
import { deviceApi } from './device-api.ts'
import { DeviceSessions, type SessionKeys } from './kept/device-sessions.ts'
import type { KeptForClients } from './kept/kept-for-clients.ts'
import { RetainedMessages } from './kept/retained-messages.ts'
import { PostKeys } from './posting/idempotency.ts'
import { type IngestLimits, IngestQueue } from './posting/ingest-queue.ts'
import type { Projected } from './posting/log-entry.ts'
import { Posting } from './posting/posting.ts'
import { countOf, type Oddities, type PublishRequest, readableMessageOf, timeOf } from './posting/publish-request.ts'
import { readCommand, readPost } from './posting/read-post.ts'
import { type LagLimits, SeriesProjector } from './posting/series-projector.ts'
import { NO_BOUNDS } from './posting/time-bounds.ts'
import { RecentMessages } from './recent-messages.ts'
import { createSeries } from './series/create-series.ts'
import { Streams } from './streams/streams.ts'

export interface BrokerDependencies {
  readonly tenant: string
  readonly store: Store
  /** default: a private log without tasks */
  readonly log?: TenantLog
  /** epoch ms */
  readonly now: () => number
  /** Returns monotonic ms. Default: machine timers. */
  readonly elapsed?: () => number
  /** Default: machine timers, which do not keep a process alive. */
  readonly every?: (ms: number, work: () => void) => () => void
  /** Neighbouring services are looked up on each use, since they may be created later, or be absent. */
  readonly engine?: () => Forwarding | undefined
  readonly resources?: () => Discovery | undefined
  readonly commands?: () => CommandOutbox | undefined
  /** absent: no sessions of clients are kept */
  readonly keys?: SessionKeys | undefined
  readonly limits?: Partial<IngestLimits>
  readonly lag?: Partial<LagLimits>
  /** Returns an upper bound for message numbers in the streams of earlier hosts. Default: 0. */
  readonly earlierNumbers?: () => number
  /** default: any timestamp is accepted */
  readonly bounds?: TimeBounds
  /** Logs that a part of a message was changed or dropped. Rate-limited per `about`. */
  readonly logOddity?: (what: string, about: string, details: Readonly<Record<string, unknown>>) => void
  readonly report?: (what: string) => void
}

/** ms between two sweeps */
export const SWEEP_MS = 30_000
const LAG: LagLimits = { posts: 4_000, characters: 16 * 1024 * 1024, restMs: 25 }
const LIMITS: IngestLimits = { posts: 50_000, characters: 128 * 1024 * 1024 }

export interface HostedBroker extends InternalBroker {
  readonly kept: KeptForClients
}

export function createBrokerService(dependencies: BrokerDependencies): HostedBroker {
  return new Broker(dependencies)
}

class Broker implements HostedBroker {
  readonly #dependencies: BrokerDependencies
  readonly #api: MqttBrokerApi
  readonly #streams: Streams
  readonly #log: TenantLog
  readonly #queue: IngestQueue
  readonly #projector: SeriesProjector
  readonly #recent: RecentMessages
  readonly #keys: PostKeys
  readonly #effects: EffectLedger
  readonly #posting: Posting
  readonly kept: KeptForClients
  #stopSweeps: (() => void) | undefined
  #sweeping: Promise<void> | undefined
  #accepted = 0
  #unreadable = 0
  #badTime = 0
  /** series may contain samples or messages that expire */
  #expiring = true

  constructor(dependencies: BrokerDependencies) {
    this.#dependencies = dependencies
    const { tenant, store, now, engine = absent, commands = absent, elapsed } = dependencies
    const log = (this.#log = dependencies.log ?? new TenantLog(store))
    this.#streams = new Streams(dependencies.earlierNumbers?.() ?? 0, log.log)
    this.#projector = new SeriesProjector({
      log: log.log,
      series: store.series,
      limits: { ...LAG, ...dependencies.lag },
      report: (what) => this.#report(what),
      recovered: (projected) => this.#recovered(projected),
    })
    const lag = new ReaderLag(elapsed ?? machineTimers.elapsed)
    log.pruner.followers = async (atRest) => lag.floor(await this.#projector.reached(atRest))
    this.kept = this.#keptForClients()
    this.#keys = new PostKeys(store)
    this.#effects = new EffectLedger(store)
    this.#recent = new RecentMessages(store.series, (error) =>
      this.#report(`old messages were not deleted: ${messageOf(error)}`),
    )
    this.#queue = new IngestQueue({
      log,
      projector: this.#projector,
      limits: { ...LIMITS, ...dependencies.limits },
      engine,
      arrived: (posts) => this.#arrived(posts),
      acknowledged: (post, position) => this.#acknowledged(post, position),
      passed: (position) => this.#streams.passed(position),
    })
    this.#posting = new Posting({
      tenant,
      queue: this.#queue,
      keys: this.#keys,
      effects: this.#effects,
      outbox: commands,
      kept: this.kept,
      bounds: dependencies.bounds ?? NO_BOUNDS,
      now,
    })
    const { series, queryMessages } = createSeries({ store, now })
    const [recent, inStep, retained] = [this.#recent, this.#inStep, this.kept.retained]
    this.#api = {
      posting: this.#posting,
      messages: {
        last: inStep((resource, channel, limit) => recent.last(resource, channel, limit)),
        current: inStep((resource) => recent.current(resource)),
        query: inStep(queryMessages),
      },
      streams: this.#streams,
      series: {
        get: inStep(series.get),
        raw: inStep(series.raw),
        latest: inStep(series.latest),
        list: inStep(series.list),
        query: inStep(series.query),
        // runs in step, since earlier posts would otherwise reach series after the removal
        remove: inStep(series.remove),
      },
      retained: {
        publish: (...post) => this.#posting.retain(...post),
        last: (...topic) => retained.last(...topic),
        resources: () => retained.resources(),
        isRetained: (message) => retained.isRetained(message),
        clear: (...topic) => this.#posting.clear(...topic),
      },
    }
  }

  as({ rights }: Caller): MqttBrokerApi {
    return rights?.resources === undefined ? this.#api : deviceApi(this.#api, rights.resources, this.#lookUp)
  }

  readonly #lookUp: LookUp = (resource) => this.#dependencies.resources?.()?.lookup?.(resource)

  async readable(): Promise<void> {
    await this.#queue.passed()
    await this.#projector.caughtUp()
  }

  readonly importing = {
    begin: () => this.readable(),
    append: async (samples: readonly Sample[]) => {
      // synced, because imported samples are not in the log
      await this.#dependencies.store.series.append({ samples, synced: true })
      this.#accepted += samples.length
      await this.#discover(newestOf(samples))
    },
  }

  get intake(): BatchIntake {
    return this.#posting.intake
  }

  check(channel: Channel, body: unknown): readonly Issue[] {
    const now = this.#dependencies.now()
    return refusedBy(() => (channel === 'events' ? readPost : readCommand)('any', body, {}, now))
  }

  async resourceRemoved(resource: string): Promise<void> {
    this.kept.sessions.forgetResource(resource)
    await this.kept.retained.forgetResource(resource)
  }

  async start(closing?: AbortSignal): Promise<void> {
    await this.kept.sessions.start()
    await this.kept.retained.start()
    await this.#projector.open()
    this.#streams.passed((await this.#log.log.bounds()).last)
    closing?.addEventListener('abort', () => this.#streams.end(), { once: true })
    const { every = machineTimers.every } = this.#dependencies
    this.#stopSweeps = every(SWEEP_MS, () => {
      this.#sweeping ??= this.#sweep()
        .catch((error: unknown) => this.#report(`the sweep is retried later: ${messageOf(error)}`))
        .finally(() => (this.#sweeping = undefined))
    })
  }

  async stop(): Promise<void> {
    this.#stopSweeps?.()
    await this.#sweeping
    await this.#queue.idle()
    await this.#projector.idle()
    await this.#recent.sweep()
    await this.kept.sessions.stop()
    await this.kept.retained.idle()
    this.#streams.end()
  }

  gauges(): BrokerGauges {
    const { readers: subscribers, dropped } = this.#streams
    const [accepted, unreadable, badTime] = [this.#accepted, this.#unreadable, this.#badTime]
    const { sessions, retained } = this.kept
    return {
      accepted,
      queued: this.#queue.size,
      subscribers,
      dropped,
      unreadable,
      badTime,
      sessions: sessions.size,
      pending: sessions.waiting,
      pendingDropped: sessions.dropped,
      retained: retained.size,
      retainedDropped: retained.dropped,
    }
  }

  #keptForClients(): KeptForClients {
    const { store, now, keys = NO_KEYS } = this.#dependencies
    const report = (what: string): void => this.#report(what)
    return {
      sessions: new DeviceSessions({ store, keys, now, report }),
      retained: new RetainedMessages(store, report),
    }
  }

  #report(what: string): void {
    this.#dependencies.report?.(`tenant ${this.#dependencies.tenant}: ${what}`)
  }

  async #sweep(): Promise<void> {
    const { now, store } = this.#dependencies
    const time = now()
    await this.#projector.idle()
    await this.#recent.sweep()
    await this.#log.pruner.prune(true)
    await this.kept.sessions.sweep()
    await this.#keys.sweep(time)
    await this.#effects.sweep(time)
    if (!this.#expiring) return
    this.#expiring = false
    if ((await store.series.expire(time)) > 0) this.#expiring = true
  }

  /** Wraps a read so that it includes everything acknowledged before it (BROKER-2). */
  readonly #inStep = <A extends readonly unknown[], R>(read: (...parameters: A) => Promise<R>) => {
    return (...parameters: A): Promise<R> => {
      const caughtUp = this.#projector.caughtUp()
      return caughtUp === undefined ? read(...parameters) : caughtUp.then(() => read(...parameters))
    }
  }

  #logOddities({ unreadable, unread, badTime, badTimes }: Oddities): void {
    this.#unreadable += unreadable
    this.#badTime += badTime
    const { tenant, logOddity } = this.#dependencies
    for (const { resource, metric, digits } of unread) {
      const why = 'it has more digits than a number can represent: it stays in the message, but not in rules and series'
      const about = `${tenant} ${resource} ${metric}`
      logOddity?.('a whole number is unreadable', about, { tenant, resource, metric, value: digits, why })
    }
    for (const { resource, claim } of badTimes) {
      const why = 'it is too far from the clock of this host: the message gets its time of arrival'
      logOddity?.('a timestamp was replaced', `${tenant} ${resource}`, { tenant, resource, timestamp: claim, why })
    }
  }

  #discover(seen: Parameters<Discovery['discover']>[0]): Promise<void> | undefined {
    // on failure, the next message of the resource discovers it
    const failed = (error: unknown): void => this.#report(`resources were not discovered: ${messageOf(error)}`)
    try {
      return this.#dependencies.resources?.()?.discover(seen)?.catch(failed)
    } catch (error) {
      failed(error)
      return undefined
    }
  }

  #arrived(posts: readonly PublishRequest[]): Promise<void> | undefined {
    if (this.#dependencies.resources?.() === undefined) return undefined
    const seen: Parameters<Discovery['discover']>[0][number][] = []
    for (const post of posts) {
      const { store, channel, arrivals, bulk } = post
      if (!store || channel !== 'events') continue
      for (const [resource, { time, first }] of bulk?.seen ?? []) seen.push({ resource, time, message: first })
      for (const incoming of arrivals) {
        const { resource } = incoming
        seen.push({ resource, time: timeOf(incoming, post), message: readableMessageOf(incoming, post) })
      }
    }
    return seen.length === 0 ? undefined : this.#discover(seen)
  }

  #recovered({ samples, messages }: Projected): Promise<void> | undefined {
    for (const { resource, stream } of messages) if (stream === 'commands') this.#committed(resource)
    const first = new Map(samples.map(({ resource, time }) => [resource, time]))
    for (const { resource, stream, time } of messages) if (stream === 'events') first.set(resource, time)
    if (first.size === 0) return undefined
    return this.#discover(
      [...first].map(([resource, time]) => ({ resource, time, message: { resource, timestamp: time } })),
    )
  }

  #committed(resource: string): void {
    this.#dependencies.commands?.()?.committed(resource)
  }

  #acknowledged(post: PublishRequest, position: number | undefined): void {
    const { arrivals, channel, expires, oddities } = post
    this.#accepted += countOf(post)
    if (oddities !== undefined) this.#logOddities(oddities)
    if (expires !== undefined) this.#expiring = true
    this.#recent.stored(post)
    this.kept.retained.committed(post)
    if (channel === 'commands') {
      for (const command of arrivals) {
        this.kept.sessions.committed(command)
        this.#committed(command.resource)
      }
    }
    this.#streams.publish(post, position)
  }
}

const absent = (): undefined => undefined
const NO_KEYS: SessionKeys = { mark: async () => undefined, watch: () => absent }

/** ms for which an applied entry is kept */
const LAG_MS = 120_000
/** maximum number of applied entries that are kept */
const MAX_ENTRIES = 2_000_000

class ReaderLag {
  readonly #elapsed: () => number
  /** applied positions, each with the time it was noted; oldest first */
  readonly #seen: { readonly at: number; readonly position: number }[] = []
  #floor = 0

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  floor(applied: number): number {
    const now = this.#elapsed()
    let upTo = Math.max(this.#floor, applied - MAX_ENTRIES)
    while (this.#seen.length > 0 && (this.#seen[0]?.at ?? 0) <= now - LAG_MS) {
      upTo = Math.max(upTo, this.#seen.shift()?.position ?? 0)
    }
    if ((this.#seen.at(-1)?.position ?? 0) < applied) this.#seen.push({ at: now, position: applied })
    // keep the newest entry, so that a reader who saw it can verify that nothing was missed
    this.#floor = Math.max(0, Math.min(upTo, applied - 1))
    return this.#floor
  }
}

function newestOf(samples: readonly Sample[]): Parameters<Discovery['discover']>[0] {
  const newest = new Map<string, Sample>()
  for (const sample of samples) {
    const known = newest.get(sample.resource)
    if (known === undefined || sample.time > known.time) newest.set(sample.resource, sample)
  }
  return [...newest].map(([resource, { metric, time, value }]) => {
    return { resource, time, message: { resource, timestamp: time, [metric]: value } }
  })
}
