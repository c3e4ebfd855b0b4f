/** Dependencies and factories of hosted services. */
import type { Logger } from '#kernel'
import type { Plug } from '#plug'
import type { OtherHosts } from '#services/broker'
import type { CheckPair } from '../auth/check-pair.ts'
import type { Config } from '../config.ts'
import type { Gauges } from '../gauges.ts'
import type { OwnApi } from '../own-api.ts'
import type { TenantFigures } from '../tenant-figures.ts'
import type { Tenants } from './service-registry.ts'
import type { WorkThreads } from '../work/work-threads.ts'
import type { HostedService } from '../hosted-service.ts'

export interface ServiceDependencies {
  readonly tenants: Tenants
  readonly serves: (name: string) => boolean
  readonly gauges: Gauges
  readonly figures: TenantFigures
  readonly config: Config
  readonly threads: WorkThreads
  /**
   * Caller of a key pair, for listeners without HTTP; undefined for a wrong one. Throws `RATE_LIMITED` after too many
   * tries.
   */
  readonly checkPair: CheckPair
  /** Whether this host or its issuer signed the bearer token; true also when that cannot be determined */
  readonly isToken: (token: string) => Promise<boolean>
  readonly ownApi: OwnApi
  /** Stable identifier of the store, letters and digits; undefined: the store is volatile */
  readonly storeMark?: string | undefined
  readonly otherHosts?: OtherHosts | undefined
  /** Cluster: address of this host, once it has joined */
  readonly memberUrl?: (() => string | undefined) | undefined
  readonly tellWebscripts?:
    ((tenant: string, ids: readonly string[], former: readonly string[]) => Promise<void>) | undefined
  readonly logger: Logger
  /** Epoch ms; never goes backwards */
  readonly now: () => number
  /** Advances `now` to a stored time, epoch ms. */
  readonly atLeast: (time: number) => void
  /** Plugs besides the built-in ones; the same list until it changes */
  readonly plugs: () => readonly Plug[]
  /** Module addresses of these plugs for threads; absent: threads cannot load them */
  readonly plugModules?: (() => readonly string[]) | undefined
}

/** Factory of a service, which works from its `start` on. */
export type MakeService = (parts: ServiceDependencies) => HostedService | Promise<HostedService>

/** Services in the order of their start; they stop in reverse. */
export type ServiceTable = ReadonlyMap<string, MakeService>
