/** Puts a host of a cluster together: services for each tenant that it has, and in front of them those that routes ask. */
import { createHmac } from 'node:crypto'
import { AppError, decodedText } from '#kernel'
import type { FollowedStream } from '#services/broker/contract'
import { readBucketName } from '#services/objects'
import type { ContentStore } from '#services/objects/contract'
import { type Program, readPartitionName } from '#cluster'
import { HOST_TENANT } from '../auth/host-tenant.ts'
import type { HostedService } from '../hosted-service.ts'
import { openOwnContents } from '../wiring/make-objects.ts'
import { makeServices } from '../wiring/make-services.ts'
import type { ServiceDependencies, ServiceTable } from '../wiring/service-dependencies.ts'
import type { ServiceRegistry } from '../wiring/service-registry.ts'
import { isTenant } from '../tenant.ts'
import { machineTimers, type Timers } from '../timers.ts'
import { ClusterHost } from './cluster-host.ts'
import { PartitionCounts } from './partition-counts.ts'
import { reachTenant, type ReachTenants } from './reach-tenant.ts'
import { SummedGauges } from './summed-gauges.ts'
import type { PartitionQuestion } from './partition-questions.ts'
import { storageOfNobody, TenantServices } from './tenant-services.ts'
import { WebscriptAddresses } from './webscript-addresses.ts'

export interface ClusterOptions {
  /** what all hosts know */
  readonly secret: Uint8Array
  readonly timers: Timers | undefined
  /** what this host runs */
  readonly program: Program
  /** The clock of the database says so, epoch ms. */
  readonly compared: (database: number) => void
}

export interface Cluster {
  readonly host: ClusterHost
  /** what is mounted */
  readonly services: readonly HostedService[]
  /** of the tenants that are here */
  troubles(): readonly string[]
  warnings(): readonly string[]
}

/** `reached` of services that nothing stands in front of. */
export function itself<S extends object>(_name: keyof ServiceRegistry, service: S): S {
  return service
}

export async function makeCluster(
  services: ServiceTable,
  given: Omit<ServiceDependencies, 'serviceRegistry' | 'reached'>,
  { secret, timers = machineTimers, program, compared }: ClusterOptions,
): Promise<Cluster> {
  const keyOf = (purpose: string): Uint8Array => createHmac('sha256', secret).update(purpose).digest()
  const sharedKeys = { seal: keyOf('secrets of tenants'), objects: keyOf('addresses of objects') }
  const store = given.storage.tenant(HOST_TENANT)
  const addresses = new WebscriptAddresses(store, timers)
  const parts = {
    ...given,
    config: { ...given.config, sharedKeys },
    objectContents: await openOwnContents(given.config),
    memberUrl: () => host.url,
    tellWebscripts: (...told: Parameters<WebscriptAddresses['tell']>) => addresses.tell(...told),
  }
  const { storage, now, gauges, logger, config, objectContents } = parts
  const sums = new SummedGauges(gauges)
  const perTenant = { ...parts, objectContents: objectContents && keptOpen(objectContents), reached: itself }
  const counts = new PartitionCounts(storage, timers, logger)
  const host: ClusterHost = new ClusterHost({
    store,
    presence: storage.presence,
    tell: async (word) => storage.tell?.(word),
    tenants: () => counts.names(),
    countOf: (tenant) => counts.of(tenant),
    looked: () => counts.look(host.tenants),
    secret,
    program,
    contents: config.objects.kind === 's3' ? config.objects.url : 'files',
    now,
    compared,
    timers,
    gauges,
    logger,
    requestMs: config.limits.requestMs,
    open: (name, holder, lost) => {
      const { tenant, number } = readPartitionName(name)
      const others = {
        ask: (at: number, question: PartitionQuestion, ending: AbortSignal) =>
          host.partitions.ask(tenant, at, question, ending),
        follow: (at: number, asked: FollowedStream, signal: AbortSignal) =>
          host.streams.follow(tenant, at, asked, signal),
        handed: (at: number) => host.partitions.handed(tenant, at),
      }
      const gaugesHere = sums.of()
      return TenantServices.open({
        table: services,
        parts: perTenant,
        tenant,
        number,
        others,
        holder,
        gauges: gaugesHere,
        timers,
        lost,
      })
    },
    tenantOfPublic: (url) => tenantOfContent(url) ?? addresses.tenantOf(url),
  })
  const reach: ReachTenants = {
    of(tenant) {
      const opened = host.tenants.current(tenant)
      if (opened !== undefined) return opened.registry
      throw new AppError('FENCED', `tenant ${tenant} is not at this host any more; ask again in a second`)
    },
    isNobodys: (tenant) => host.isNobodys(tenant),
    all: () => registriesOf(host),
  }
  const mounted = await makeServices(services, {
    ...parts,
    storage: storageOfNobody(storage),
    otherHosts: host.connections,
    gauges: sums.of().gauges,
    serviceRegistry: {},
    reached: (name, service) => reachTenant(name, service, reach),
  })
  return {
    host,
    services: mounted,
    troubles: () => [...host.tenants.all()].flatMap((one) => one.trouble()),
    warnings: () => [...host.warnings(), ...[...host.tenants.all()].flatMap((one) => one.warnings())],
  }
}

function* registriesOf(host: ClusterHost): Iterable<ServiceRegistry> {
  for (const { registry } of host.tenants.all()) yield registry
}

/** A content of an object is asked for by the name of its bucket, which ends in that of its tenant. */
function tenantOfContent(url: string): string | undefined {
  const [, name = ''] = /^\/([^/?]*)/.exec(url) ?? []
  const tenant = readBucketName(decodedText(name))?.tenant
  return tenant !== undefined && isTenant(tenant) ? tenant : undefined
}

/** The same contents for services of one tenant, which end before others do. */
function keptOpen(contents: ContentStore): ContentStore {
  return {
    shown: contents.shown,
    put: (...given) => contents.put(...given),
    open: (...given) => contents.open(...given),
    copy: (...given) => contents.copy(...given),
    remove: (...given) => contents.remove(...given),
    close: () => Promise.resolve(),
  }
}
