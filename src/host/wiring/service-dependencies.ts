/** What a service of a host is made of, and how it is made. */
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

/** What a service of a host is made of, whatever its tenants have. */
export interface ServiceDependencies {
  /** what tenants have of the services */
  readonly tenants: Tenants
  /** whether the host has a service of that name */
  readonly serves: (name: string) => boolean
  /** figures of the host */
  readonly gauges: Gauges
  /** figures of what tenants have, as one */
  readonly figures: TenantFigures
  readonly config: Config
  /** where heavy work of requests is done, so that others do not wait for it; closed by their maker */
  readonly threads: WorkThreads
  /** Who that key pair is, for listeners without HTTP; undefined when it is wrong. `RATE_LIMITED` after too many tries. */
  readonly checkPair: CheckPair
  /** Whether this host or its issuer made the bearer token; true also when that cannot be found out. */
  readonly isToken: (token: string) => Promise<boolean>
  /** the API of this host for what runs inside of it */
  readonly ownApi: OwnApi
  /** tells the store from others, the same in all processes that ever have it: letters and digits; undefined: it does not last */
  readonly storeMark?: string | undefined
  /** of a cluster: who has the connections of tenants that this host has not */
  readonly otherHosts?: OtherHosts | undefined
  /** of a cluster: where others reach this host, as soon as it has joined */
  readonly memberUrl?: (() => string | undefined) | undefined
  /** of a cluster: tells all hosts whose webscripts have these ids, and which ids are nobody's any more */
  readonly tellWebscripts?:
    ((tenant: string, ids: readonly string[], former: readonly string[]) => Promise<void>) | undefined
  /** the host's log */
  readonly logger: Logger
  /** epoch ms; never goes back */
  readonly now: () => number
  /** Something stored was done at this time, epoch ms: `now` is not earlier. */
  readonly atLeast: (time: number) => void
  /** the plugs of this host beside the built-in ones; the same list until they are others */
  readonly plugs: () => readonly Plug[]
  /** addresses of modules that export them, for other threads; absent: these cannot have them */
  readonly plugModules?: (() => readonly string[]) | undefined
}

/** Makes a service. Nothing of it works before its `start`. */
export type MakeService = (parts: ServiceDependencies) => HostedService | Promise<HostedService>

/** The table of services, in the order in which they start; they stop in the opposite one. */
export type ServiceTable = ReadonlyMap<string, MakeService>
