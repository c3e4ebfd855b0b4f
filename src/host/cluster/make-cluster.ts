/** Composes a cluster member from its own services and the services of each tenant that it owns. */
import { createHmac } from 'node:crypto'
import { AppError, decodedText } from '#kernel'
import type { FollowedStream } from '#services/broker/contract'
import { readBucketName } from '#services/objects'
import { type Program, readPartitionName } from '#cluster'
import type { Storage } from '#storage'
import { HOST_TENANT } from '../auth/host-tenant.ts'
import type { HostedService } from '../hosted-service.ts'
import { makeServices } from '../wiring/make-services.ts'
import type { ServiceDependencies, ServiceTable } from '../wiring/service-dependencies.ts'
import type { ServiceRegistry, Tenants } from '../wiring/service-registry.ts'
import { TenantServices } from '../tenant-services.ts'
import { isTenant } from '../tenant.ts'
import { machineTimers, type Timers } from '../timers.ts'
import { ClusterHost } from './cluster-host.ts'
import { PartitionCounts } from './partition-counts.ts'
import type { PartitionQuestion } from './partition-questions.ts'
import { WebscriptAddresses } from './webscript-addresses.ts'

export interface ClusterOptions {
  readonly storage: Storage
  readonly secret: Uint8Array
  readonly timers: Timers | undefined
  readonly program: Program
  /** Receives the database's time in epoch ms. */
  readonly compared: (database: number) => void
}

export interface Cluster {
  readonly host: ClusterHost
  readonly services: readonly HostedService[]
  readonly tenants: Tenants
  troubles(): readonly string[]
  warnings(): readonly string[]
}

export async function makeCluster(
  table: ServiceTable,
  given: Omit<ServiceDependencies, 'tenants' | 'serves'>,
  { storage, secret, timers = machineTimers, program, compared }: ClusterOptions,
): Promise<Cluster> {
  const keyOf = (purpose: string): Uint8Array => createHmac('sha256', secret).update(purpose).digest()
  const sharedKeys = { seal: keyOf('secrets of tenants'), objects: keyOf('addresses of objects') }
  const store = storage.tenant(HOST_TENANT)
  const addresses = new WebscriptAddresses(store, timers)
  const { now, gauges, figures, logger } = given
  const config = { ...given.config, sharedKeys }
  const counts = new PartitionCounts(storage, timers, logger)
  const host: ClusterHost = new ClusterHost({
    store,
    presence: storage.presence,
    tell: async (word) => storage.notify?.(word),
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
      return TenantServices.open({
        services,
        storage,
        tenant,
        figures,
        timers,
        logger,
        tenure: { number, others, holder, lost },
      })
    },
    tenantOfPublic: (url) => tenantOfContent(url) ?? addresses.tenantOf(url),
  })
  const of = (tenant: string): ServiceRegistry => {
    const opened = host.tenants.current(tenant)
    if (opened !== undefined) return opened.registry
    throw new AppError('FENCED', `tenant ${tenant} has moved to another host; retry in a second`)
  }
  const tenants: Tenants = {
    of,
    find: (tenant) => (host.isNobodys(tenant) ? undefined : of(tenant)),
    opened: (tenant) => host.tenants.opened(tenant),
    all: () => registriesOf(host),
  }
  const services = await makeServices(table, {
    ...given,
    config,
    tenants,
    memberUrl: () => host.url,
    tellWebscripts: (...told) => addresses.tell(...told),
    otherHosts: host.connections,
  })
  return {
    host,
    services,
    tenants,
    troubles: () => [...host.tenants.all()].flatMap((one) => one.trouble()),
    warnings: () => [...host.warnings(), ...[...host.tenants.all()].flatMap((one) => one.warnings())],
  }
}

function* registriesOf(host: ClusterHost): Iterable<ServiceRegistry> {
  for (const { registry } of host.tenants.all()) yield registry
}

function tenantOfContent(url: string): string | undefined {
  const [, name = ''] = /^\/([^/?]*)/.exec(url) ?? []
  const tenant = readBucketName(decodedText(name))?.tenant
  return tenant !== undefined && isTenant(tenant) ? tenant : undefined
}
