/** Composes a cluster member from its own services and the services of each tenant that it owns. */
import { createHmac } from 'node:crypto'
import type { Program } from '#cluster'
import { AppError, decodedText, LruCache } from '#kernel'
import { tenantOfLink } from '#services/notification'
import { readBucketName } from '#services/objects'
import { CALL_BASES } from '#services/webscripts'
import type { CollectionSpec, Storage, Store } from '#storage'
import { HOST_TENANT } from '../auth/host-tenant.ts'
import type { HostedService } from '../hosted-service.ts'
import { TenantServices } from '../tenant-services.ts'
import { isTenant } from '../tenant.ts'
import { machineTimers, type Timers } from '../timers.ts'
import { makeServices } from '../wiring/make-services.ts'
import type { ServiceDependencies, ServiceTable } from '../wiring/service-dependencies.ts'
import type { ServiceRegistry, Tenants } from '../wiring/service-registry.ts'
import { ClusterHost } from './cluster-host.ts'

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
  const host: ClusterHost = new ClusterHost({
    store,
    presence: storage.presence,
    tell: async (word) => storage.notify?.(word),
    tenants: () => storage.tenants(),
    secret,
    program,
    contents: config.objects.kind === 's3' ? config.objects.url : 'files',
    now,
    compared,
    timers,
    gauges,
    logger,
    requestMs: config.limits.requestMs,
    open: (tenant, holder, lost) =>
      TenantServices.open({ services, storage, tenant, figures, timers, logger, tenure: { holder, lost } }),
    tenantOfPublic: (url) => tenantOfContent(url) ?? tenantOfLink(url) ?? addresses.tenantOf(url),
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

const ADDRESSES: CollectionSpec<{ readonly tenant: string }> = { name: 'webscript_addresses', version: 1, fields: {} }
const ID = /^[0-9a-f]{32}$/
const MAX_KNOWN = 100_000
const AT_ONCE = 500
/** How long an id is cached as unknown, in ms */
const NOBODYS_MS = 1_000

/**
 * Finds the owners of webscripts called by id, for hosts that do not have their tenants. A tenant's owner writes the
 * ids of its webscripts to the shared store; other hosts look there and cache the result. An id is derived from tenant
 * and name, so it always belongs to the same tenant.
 */
class WebscriptAddresses {
  readonly #addresses: ReturnType<typeof collectionOf>
  readonly #timers: Pick<Timers, 'elapsed'>
  readonly #tenants = new LruCache<string, string>(MAX_KNOWN)
  readonly #nobodys = new LruCache<string, number>(MAX_KNOWN)

  constructor(store: Store, timers: Pick<Timers, 'elapsed'>) {
    this.#addresses = collectionOf(store)
    this.#timers = timers
  }

  /** Resolves when all hosts see the change. */
  async tell(tenant: string, ids: readonly string[], former: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE)
      const known = new Set((await this.#addresses.getMany(some)).map(({ id }) => id))
      for (const id of some) if (!known.has(id)) await this.#addresses.put(id, { tenant })
    }
    for (const id of former) await this.#addresses.delete(id)
  }

  /** The tenant of an address with tenant and name, or with an id; undefined for other addresses. */
  tenantOf(url: string): string | undefined | Promise<string | undefined> {
    const base = CALL_BASES.find((one) => url.startsWith(`${one}/`))
    if (base === undefined) return undefined
    const [, written = ''] = /^\/([^/?]*)/.exec(url.slice(base.length)) ?? []
    const first = decodedText(written)
    const named = isTenant(first) ? first : undefined
    if (!ID.test(first)) return named
    return this.#tenants.get(first) ?? this.#looked(first).then((found) => found ?? named)
  }

  async #looked(id: string): Promise<string | undefined> {
    const since = this.#nobodys.get(id)
    if (since !== undefined && this.#timers.elapsed() - since < NOBODYS_MS) return undefined
    const found = (await this.#addresses.get(id))?.value.tenant
    if (found === undefined) this.#nobodys.set(id, this.#timers.elapsed())
    else this.#tenants.set(id, found)
    return found
  }
}

function collectionOf(store: Store) {
  return store.collection(ADDRESSES)
}
