/** Puts a host of a cluster together: services for each tenant that it has, and in front of them those that routes ask. */
import { createHmac } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import { CALL_BASES } from '../../services/webscripts/routes/routing.ts'
import { HOST_TENANT } from '../auth/host-tenant.ts'
import { readPartitionName } from '../../partitions/partition.ts'
import type { HostedService } from '../hosted-service.ts'
import { makeServices } from '../make-services.ts'
import type { ServiceDependencies, ServiceTable } from '../service-dependencies.ts'
import type { ServiceRegistry } from '../service-registry.ts'
import { isTenant } from '../tenant.ts'
import { machineTimers, type Timers } from '../timers.ts'
import { ownVersion } from '../version.ts'
import { ClusterHost } from './cluster-host.ts'
import { OF_ONE_HOST } from './member-options.ts'
import { PartitionCounts } from './partition-counts.ts'
import { reachTenant, type ReachTenants } from './reach-tenant.ts'
import { SummedGauges } from './summed-gauges.ts'
import type { PartitionQuestion } from './partition-questions.ts'
import { storageOfNobody, TenantServices } from './tenant-services.ts'

export interface ClusterOptions {
  /** what all hosts know */
  readonly secret: Uint8Array
  readonly timers: Timers | undefined
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
  { secret, timers = machineTimers }: ClusterOptions,
): Promise<Cluster> {
  const sealKey = createHmac('sha256', secret).update('secrets of tenants').digest()
  const parts = { ...given, config: { ...given.config, sealKey } }
  const { storage, now, gauges, logger, config } = parts
  const table = new Map([...services].filter(([name]) => !OF_ONE_HOST.has(name)))
  const sums = new SummedGauges(gauges)
  const perTenant = { ...parts, reached: itself }
  const store = storage.tenant(HOST_TENANT)
  const counts = new PartitionCounts(storage, timers, logger)
  const host = new ClusterHost({
    store,
    presence: storage.presence,
    tell: async (word) => storage.tell?.(word),
    tenants: () => counts.names(),
    countOf: (tenant) => counts.of(tenant),
    looked: () => counts.look(host.tenants),
    secret,
    version: ownVersion(),
    now,
    timers,
    gauges,
    logger,
    requestMs: config.limits.requestMs,
    open: (name, holder, lost) => {
      const { tenant, number } = readPartitionName(name)
      const others = {
        ask: (at: number, question: PartitionQuestion) => host.partitions.ask(tenant, at, question),
        handed: (at: number) => host.partitions.handed(tenant, at),
      }
      const gaugesHere = sums.of()
      return TenantServices.open({
        table,
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
    tenantOfPublic: (url) => tenantOfWebscript(url, registriesOf(host)),
  })
  const reach: ReachTenants = {
    of(tenant) {
      const opened = host.tenants.current(tenant)
      if (opened !== undefined) return opened.registry
      throw new AppError('FENCED', `tenant ${tenant} is not at this host any more; ask again in a second`)
    },
    all: () => registriesOf(host),
  }
  const mounted = await makeServices(table, {
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
    warnings: () => [...host.tenants.all()].flatMap((one) => one.warnings()),
  }
}

function* registriesOf(host: ClusterHost): Iterable<ServiceRegistry> {
  for (const { registry } of host.tenants.all()) yield registry
}

/** Who calls a webscript says in its address whose it is, by tenant and name or by its id. */
function tenantOfWebscript(url: string, registries: Iterable<ServiceRegistry>): string | undefined {
  const base = CALL_BASES.find((one) => url.startsWith(`${one}/`))
  if (base === undefined) return undefined
  const [, first = ''] = /^\/([^/?]*)/.exec(url.slice(base.length)) ?? []
  for (const { functions } of registries) {
    const found = functions?.webscriptOf(first)
    if (found !== undefined) return found.tenant
  }
  return isTenant(first) ? first : undefined
}
