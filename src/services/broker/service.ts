/** The data broker of one host, over storage and whatever of its neighbours is there. */
import { type Issue, messageOf, refusedBy } from '#kernel'
import type { Storage } from '#storage'
import { machineTimers } from '#platform'
import type {
  BrokerGauges,
  BrokerQuestion,
  OperatedBroker,
  Channel,
  CommandOutbox,
  Discovery,
  FollowedPart,
  FollowedStream,
  Forwarding,
  SeriesImport,
  TimeBounds,
} from './contract.ts'
import type { IngestLimits } from './posting/ingest-queue.ts'
import { readCommand, readPost } from './posting/read-post.ts'
import { NO_BOUNDS } from './posting/time-bounds.ts'
import type { LagLimits } from './posting/series-projector.ts'
import type { BrokerPartition } from './partitions/broker-partition.ts'
import { TenantBroker } from './tenant-broker.ts'

export interface BrokerDependencies {
  readonly storage: Storage
  /** epoch ms */
  readonly now: () => number
  /** Neighbours are asked for when they are needed: they may be made later, or not at all. */
  readonly engine?: () => Forwarding | undefined
  readonly resources?: () => Discovery | undefined
  readonly commands?: () => CommandOutbox | undefined
  /** Something that nobody waits for went wrong; one line. */
  readonly report?: (what: string) => void
  /** Does it every so many ms until it is taken back. Default: the machine's timers, which keep no process alive. */
  readonly every?: (ms: number, work: () => void) => () => void
  /** ms since some moment, whatever the clock is set to. Default: the machine's */
  readonly elapsed?: () => number
  /** which of several partitions of its tenants it has; absent: tenants have one */
  readonly partition?: BrokerPartition | undefined
  readonly limits?: Partial<IngestLimits>
  /** default: any timestamp is taken */
  readonly bounds?: TimeBounds | undefined
  /** Something of a message was not taken as it came. `about`: whose; lines of the same one are told sparingly. */
  readonly odd?: (what: string, about: string, details: Readonly<Record<string, unknown>>) => void
  /** what may be acknowledged before series have it, and for how long; default 4,000 posts, 16 Mi characters, 25 ms */
  readonly lag?: Partial<LagLimits>
  /** A number that no stream has reached whose numbers readers may still have, since a broker was here before; default 0. */
  readonly toldUpTo?: () => number
}

/** ms between two sweeps */
export const SWEEP_MS = 30_000
/** tenants that are brought up to their logs at once */
const AT_ONCE = 8
const LAG: LagLimits = { posts: 4_000, characters: 16 * 1024 * 1024, restMs: 25 }
const LIMITS: IngestLimits = { posts: 50_000, characters: 128 * 1024 * 1024 }

export function createBrokerService(dependencies: BrokerDependencies): OperatedBroker {
  return new Service(dependencies)
}

class Service implements OperatedBroker {
  readonly #dependencies: BrokerDependencies
  readonly #tenants = new Map<string, TenantBroker>()
  #stopSweeps: (() => void) | undefined
  #sweeping: Promise<void> | undefined

  constructor(dependencies: BrokerDependencies) {
    this.#dependencies = dependencies
  }

  as({ tenant }: Parameters<OperatedBroker['as']>[0]): ReturnType<OperatedBroker['as']> {
    return this.#tenant(tenant).api
  }

  readable(tenant: string): Promise<void> {
    return this.#tenant(tenant).readable()
  }

  answer(tenant: string, question: BrokerQuestion): Promise<void> {
    return this.#tenant(tenant).answer(question)
  }

  follow(tenant: string, asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart> {
    return this.#tenant(tenant).follow(asked, signal)
  }

  importing(tenant: string): SeriesImport {
    return {
      begin: () => this.readable(tenant),
      append: (samples) => this.#tenant(tenant).append(samples),
    }
  }

  check(channel: Channel, body: unknown): readonly Issue[] {
    const now = this.#dependencies.now()
    return refusedBy(() => (channel === 'events' ? readPost : readCommand)('any', body, {}, now))
  }

  async start(closing?: AbortSignal): Promise<void> {
    const tenants = [...(await this.#dependencies.storage.tenants())]
    const open = async (): Promise<void> => {
      // names of tenants of the host itself begin with _
      for (let name = tenants.pop(); name !== undefined; name = tenants.pop()) {
        if (!name.startsWith('_')) await this.#tenant(name).open()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, open))
    closing?.addEventListener('abort', () => this.#endStreams(), { once: true })
    this.#stopSweeps = (this.#dependencies.every ?? machineTimers.every)(SWEEP_MS, () => {
      this.#sweeping ??= this.#sweep()
    })
  }

  async stop(): Promise<void> {
    this.#stopSweeps?.()
    await this.#sweeping
    for (const tenant of this.#tenants.values()) await tenant.close()
  }

  gauges(): BrokerGauges {
    const sum = { accepted: 0, queued: 0, subscribers: 0, dropped: 0, unreadable: 0, badTime: 0 }
    for (const { accepted, queued, streams, unreadable, badTime } of this.#tenants.values()) {
      sum.unreadable += unreadable
      sum.badTime += badTime
      sum.accepted += accepted
      sum.queued += queued
      sum.subscribers += streams.readers
      sum.dropped += streams.dropped
    }
    return sum
  }

  #tenant(name: string): TenantBroker {
    const known = this.#tenants.get(name)
    if (known !== undefined) return known
    const { storage, now, elapsed, engine, resources, commands, partition } = this.#dependencies
    const { report, odd, limits, lag, toldUpTo, bounds = NO_BOUNDS } = this.#dependencies
    const none = (): undefined => undefined
    const made = new TenantBroker({
      tenant: name,
      store: storage.tenant(name),
      now,
      elapsed: elapsed ?? machineTimers.elapsed,
      partition,
      engine: engine ?? none,
      resources: resources ?? none,
      commands: commands ?? none,
      limits: { ...LIMITS, ...limits },
      lag: { ...LAG, ...lag },
      toldUpTo: toldUpTo?.() ?? 0,
      bounds,
      odd: (what, about, details) => odd?.(what, `${name} ${about}`, { tenant: name, ...details }),
      report: (what) => report?.(`tenant ${name}: ${what}`),
    })
    this.#tenants.set(name, made)
    return made
  }

  #endStreams(): void {
    for (const { streams } of this.#tenants.values()) streams.end()
  }

  async #sweep(): Promise<void> {
    for (const [name, tenant] of this.#tenants) {
      try {
        await tenant.sweep()
      } catch (error) {
        this.#dependencies.report?.(`tenant ${name}: the sweep goes on later: ${messageOf(error)}`)
      }
    }
    this.#sweeping = undefined
  }
}
