/** The data broker of one host, over storage and whatever of its neighbours is there. */
import { type Issue, messageOf, perTenant, refusedBy } from '#kernel'
import { TenantLog } from '#log'
import type { Storage } from '#storage'
import { machineTimers } from '#platform'
import type {
  BrokerGauges,
  BrokerQuestion,
  InternalBroker,
  Channel,
  FollowedPart,
  FollowedStream,
  SeriesImport,
} from './contract.ts'
import type { IngestLimits } from './posting/ingest-queue.ts'
import { readCommand, readPost } from './posting/read-post.ts'
import { NO_BOUNDS } from './posting/time-bounds.ts'
import type { LagLimits } from './posting/series-projector.ts'
import { type CommonDependencies, TenantBroker } from './tenant-broker.ts'

/** Whatever is absent is not there, or as below. */
export interface BrokerDependencies extends Partial<Omit<CommonDependencies, 'now' | 'limits' | 'lag'>> {
  readonly storage: Storage
  /** the log of a tenant, which its tasks write to as well; default: one that the broker has to itself */
  readonly log?: (tenant: string) => TenantLog
  readonly now: () => number
  readonly limits?: Partial<IngestLimits>
  readonly lag?: Partial<LagLimits>
  /** Does it every so many ms until it is taken back. Default: the machine's timers, which keep no process alive. */
  readonly every?: (ms: number, work: () => void) => () => void
}

const nothing = (): undefined => undefined
const DEFAULTS = {
  elapsed: machineTimers.elapsed,
  every: machineTimers.every,
  engine: nothing,
  resources: nothing,
  commands: nothing,
  partition: undefined,
  toldUpTo: () => 0,
  // any timestamp is taken
  bounds: NO_BOUNDS,
  odd: nothing,
  report: nothing,
}

/** ms between two sweeps */
export const SWEEP_MS = 30_000
/** tenants that are brought up to their logs at once */
const AT_ONCE = 8
const LAG: LagLimits = { posts: 4_000, characters: 16 * 1024 * 1024, restMs: 25 }
const LIMITS: IngestLimits = { posts: 50_000, characters: 128 * 1024 * 1024 }

export function createBrokerService(dependencies: BrokerDependencies): InternalBroker {
  return new Service(dependencies)
}

class Service implements InternalBroker {
  readonly #given: CommonDependencies & Required<Pick<BrokerDependencies, 'storage' | 'every' | 'log'>>
  readonly #tenants = new Map<string, TenantBroker>()
  #stopSweeps: (() => void) | undefined
  #sweeping: Promise<void> | undefined

  constructor(dependencies: BrokerDependencies) {
    const { storage, limits, lag } = dependencies
    const log = perTenant((tenant) => new TenantLog(storage.tenant(tenant)))
    this.#given = { log, ...DEFAULTS, ...dependencies, limits: { ...LIMITS, ...limits }, lag: { ...LAG, ...lag } }
  }

  as({ tenant }: Parameters<InternalBroker['as']>[0]): ReturnType<InternalBroker['as']> {
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
    const now = this.#given.now()
    return refusedBy(() => (channel === 'events' ? readPost : readCommand)('any', body, {}, now))
  }

  async start(closing?: AbortSignal): Promise<void> {
    const tenants = [...(await this.#given.storage.tenants())]
    const open = async (): Promise<void> => {
      // names of tenants of the host itself begin with _
      for (let name = tenants.pop(); name !== undefined; name = tenants.pop()) {
        if (!name.startsWith('_')) await this.#tenant(name).open()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, open))
    closing?.addEventListener('abort', () => this.#endStreams(), { once: true })
    this.#stopSweeps = this.#given.every(SWEEP_MS, () => {
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
    for (const { gauges } of this.#tenants.values())
      for (const name of Object.keys(sum) as (keyof BrokerGauges)[]) sum[name] += gauges[name]
    return sum
  }

  #tenant(name: string): TenantBroker {
    const known = this.#tenants.get(name)
    if (known !== undefined) return known
    const { storage, log, odd, report } = this.#given
    const made = new TenantBroker({
      ...this.#given,
      tenant: name,
      store: storage.tenant(name),
      log: log(name),
      odd: (what, about, details) => odd(what, `${name} ${about}`, { tenant: name, ...details }),
      report: (what) => report(`tenant ${name}: ${what}`),
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
        this.#given.report(`tenant ${name}: the sweep is retried later: ${messageOf(error)}`)
      }
    }
    this.#sweeping = undefined
  }
}
