/** The services of one tenant of a cluster, over its store behind a fence: a host has them while it has the tenant. */
import { join } from 'node:path'
import type { FastifyReply } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import type { Storage, Store } from '../../storage/contract.ts'
import { fenceStore, takeFence, type FenceHolder } from '../../storage/fence-store.ts'
import { closeAll, makeServices, stopping } from '../make-services.ts'
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies, ServiceTable } from '../service-dependencies.ts'
import type { ServiceRegistry } from '../service-registry.ts'
import type { Timers } from '../timers.ts'
import type { GaugesOfTenant } from './summed-gauges.ts'

/** The fence of everything of a tenant. */
const FENCE = 'tenant'
/** ms for requests that are under way when the tenant goes to another host */
const PATIENCE = 4_000

export interface TenantServicesOptions {
  readonly table: ServiceTable
  /** as for a host that has all tenants */
  readonly parts: Omit<ServiceDependencies, 'serviceRegistry' | 'gauges'>
  readonly tenant: string
  readonly holder: FenceHolder
  readonly gauges: GaugesOfTenant
  readonly timers: Timers
  /** Another host has the tenant. */
  readonly lost: () => void
}

export class TenantServices {
  readonly registry: ServiceRegistry = {}
  readonly #options: TenantServicesOptions
  readonly #closing = new AbortController()
  readonly #replies = new Set<FastifyReply>()
  /** sockets that were asked to be upgraded: they never end by themselves */
  readonly #upgraded = new Set<FastifyReply>()
  #services: readonly HostedService[] = []
  #emptied: () => void = () => undefined

  private constructor(options: TenantServicesOptions) {
    this.#options = options
  }

  /** Takes the fence, then goes on with what the tenant's last host left. `FENCED` when a later host has it. */
  static async open(options: TenantServicesOptions): Promise<TenantServices> {
    const { table, parts, tenant, holder, gauges, lost } = options
    const opened = new TenantServices(options)
    try {
      const store = parts.storage.tenant(tenant)
      const fence = await takeFence(store, FENCE, holder)
      opened.#services = await makeServices(table, {
        ...parts,
        storage: storageOfOne(tenant, fenceStore(store, fence, lost), parts.storage),
        serviceRegistry: opened.registry,
        gauges: gauges.gauges,
        // who listens is the host; folders are of one tenant, as their owners believe
        config: { ...parts.config, mqtt: undefined, data: join(parts.config.data, 'tenants', `of-${tenant}`) },
      })
      for (const service of opened.#services) await service.start(opened.#closing.signal)
      return opened
    } catch (error) {
      await opened.#stop().catch(() => undefined)
      throw error
    }
  }

  /** The request is one of the tenant's until it is answered. */
  hold(reply: FastifyReply): void {
    if (reply.request.headers.upgrade !== undefined) {
      this.#upgraded.add(reply)
      reply.raw.once('close', () => this.#upgraded.delete(reply))
      return
    }
    this.#replies.add(reply)
    // it comes after the end too
    reply.raw.once('close', () => {
      this.#replies.delete(reply)
      if (this.#replies.size === 0) this.#emptied()
    })
  }

  trouble(): readonly string[] {
    return this.#services.flatMap((one) => one.trouble?.() ?? [])
  }

  warnings(): readonly string[] {
    return this.#services.flatMap((one) => one.warnings?.() ?? [])
  }

  /** Streams end, requests get their answers, and everything is flushed as far as the fence lets it. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#answered()
    await this.#stop()
    // readers were told; whoever posts comes back
    for (const { request } of this.#upgraded) request.raw.socket.destroySoon()
  }

  #answered(): Promise<void> {
    if (this.#replies.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const callOff = this.#options.timers.after(PATIENCE, () => {
        for (const { raw } of this.#replies) raw.destroy()
        resolve()
      })
      this.#emptied = () => {
        callOff()
        resolve()
      }
      for (const { raw } of this.#replies) {
        if (String(raw.getHeader('content-type') ?? '').startsWith('text/event-stream')) raw.end()
      }
    })
  }

  async #stop(): Promise<void> {
    try {
      await closeAll(stopping(this.#services))
    } finally {
      this.#options.gauges.end()
    }
  }
}

/** A storage that has one tenant. */
function storageOfOne(tenant: string, store: Store, whole: Storage): Storage {
  return {
    tenant(id) {
      if (id === tenant) return store
      throw new AppError('FENCED', `the services of tenant ${tenant} have no store of tenant ${id}`)
    },
    tenants: () => Promise.resolve([tenant]),
    close: () => Promise.resolve(),
    stats: () => whole.stats(),
  }
}

/** A storage that has none, for what stands in front of the services of tenants. */
export function storageOfNobody(whole: Storage): Storage {
  return {
    tenant(id) {
      throw new AppError('FENCED', `tenant ${id} is not open at this host; ask again in a second`)
    },
    tenants: () => Promise.resolve([]),
    close: () => Promise.resolve(),
    stats: () => whole.stats(),
  }
}
