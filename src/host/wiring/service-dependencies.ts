/** Defines the dependencies and factories of hosted services. */
import type { Logger } from '#kernel'
import type { Plug } from '#plug'
import type { OtherHosts } from '#services/broker'
import type { Store } from '#storage'
import type { CheckPair } from '../auth/check-pair.ts'
import type { DeviceCertificates } from '../auth/device-certificates.ts'
import type { OpenStreams } from '../auth/open-streams.ts'
import type { Certificates } from '../certificates.ts'
import type { Config } from '../config.ts'
import type { Gauges } from '../gauges.ts'
import type { InternalClient } from '../internal-client.ts'
import type { TenantFigures } from '../tenant-figures.ts'
import type { Tenants } from './service-registry.ts'
import type { WorkThreads } from '../work/work-threads.ts'
import type { HostedService } from '../hosted-service.ts'

export interface ServiceDependencies {
  readonly tenants: Tenants
  readonly serves: (name: string) => boolean
  /** Store of the host itself, with its keys */
  readonly hostStore: Store
  readonly gauges: Gauges
  readonly figures: TenantFigures
  /** absent: the host speaks no TLS */
  readonly certificates?: Certificates | undefined
  readonly config: Config
  readonly threads: WorkThreads
  /** undefined for a wrong pair. Throws `RATE_LIMITED` after too many attempts. */
  readonly checkPair: CheckPair
  readonly openStreams: Pick<OpenStreams, 'add'>
  /** absent: the host does not ask for certificates of devices */
  readonly devices?: DeviceCertificates | undefined
  /** Whether this host or its issuer signed the bearer token; also true when that cannot be determined */
  readonly isToken: (token: string) => Promise<boolean>
  readonly internalClient: InternalClient
  /** Stable identifier of the store, made of letters and digits; undefined: the store is volatile */
  readonly storeMark?: string | undefined
  readonly otherHosts?: OtherHosts | undefined
  /** In a cluster: returns this host's address once it has joined */
  readonly memberUrl?: (() => string | undefined) | undefined
  readonly tellWebscripts?:
    ((tenant: string, ids: readonly string[], former: readonly string[]) => Promise<void>) | undefined
  readonly logger: Logger
  /** Returns epoch ms; never goes backwards */
  readonly now: () => number
  /** Advances `now` to a stored time, epoch ms. */
  readonly atLeast: (time: number) => void
  /** Returns the plugs in addition to the built-in ones: the same list until a plug changes */
  readonly plugs: () => readonly Plug[]
  /** Returns the module addresses of these plugs for threads; absent: threads cannot load the plugs */
  readonly plugModules?: (() => readonly string[]) | undefined
}

export type MakeService = (parts: ServiceDependencies) => HostedService | Promise<HostedService>

/** Services in the order of their start; they stop in reverse order. */
export type ServiceTable = ReadonlyMap<string, MakeService>
