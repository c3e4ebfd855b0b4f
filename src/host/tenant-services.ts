/**
 * Opens and closes the services of one tenant over its store. A single host does so for each of its tenants, a cluster
 * host for each tenant it owns, protected by a fence.
 */
import type { FastifyReply } from 'fastify'
import type { Logger } from '#kernel'
import { type FenceHolder, fenceStore, type Storage, type Store, takeFence } from '#storage'
import type { HostedService } from './hosted-service.ts'
import type { TenantFigures } from './tenant-figures.ts'
import type { Timers } from './timers.ts'
import { closeAll } from './wiring/make-services.ts'
import type { ServiceRegistry } from './wiring/service-registry.ts'
import type { TenantLife } from './wiring/tenant-service.ts'

/** How long requests may continue when their tenant moves to another host, in ms */
const PATIENCE = 4_000

/** Name of the fence of a tenant in its store */
const FENCE = 'tenant'

/** Ownership of a tenant, protected by a fence. */
export interface Tenure {
  readonly holder: FenceHolder
  readonly lost: () => void
}

export interface TenantServicesOptions {
  readonly services: readonly HostedService[]
  readonly storage: Storage
  readonly tenant: string
  readonly figures: TenantFigures
  readonly timers: Timers
  readonly logger: Logger
  readonly tenure?: Tenure
}

interface OpenedService extends TenantLife {
  readonly name: string
}

export class TenantServices {
  readonly registry: ServiceRegistry = {}
  readonly #options: TenantServicesOptions
  readonly #closing = new AbortController()
  readonly #replies = new Set<FastifyReply>()
  /** Upgraded sockets, which never close by themselves */
  readonly #upgraded = new Set<FastifyReply>()
  #services: readonly OpenedService[] = []
  #emptied: () => void = () => undefined
  #stopping: string | undefined

  private constructor(options: TenantServicesOptions) {
    this.#options = options
  }

  /** Takes the fence, if there is a tenure, then recovers. Throws `FENCED` when a later host owns the tenant. */
  static async open(options: TenantServicesOptions): Promise<TenantServices> {
    const { storage, tenant, tenure } = options
    const opened = new TenantServices(options)
    try {
      const whole = storage.tenant(tenant)
      opened.#make(tenure === undefined ? whole : await opened.#fenced(whole, tenure))
      await opened.#start()
      return opened
    } catch (error) {
      await opened.#stop().catch(() => undefined)
      throw error
    }
  }

  get stopping(): string | undefined {
    return this.#stopping
  }

  async #fenced(whole: Store, { holder, lost }: Tenure): Promise<Store> {
    return fenceStore(whole, await takeFence(whole, FENCE, holder), lost)
  }

  #make(store: Store): void {
    const { services, tenant, figures } = this.#options
    const { registry } = this
    const made: OpenedService[] = []
    // assigned first, so that services made before a failure are stopped
    this.#services = made
    for (const { name, open } of services) {
      const one = open?.({ tenant, store, services: registry })
      if (one === undefined) continue
      Object.assign(registry, one.provides)
      const { life } = one
      if (life !== undefined) made.push({ name, ...bound(life) })
    }
    figures.began(registry, tenant)
  }

  async #start(): Promise<void> {
    for (const service of this.#services) await service.start?.(this.#closing.signal)
  }

  hold(reply: FastifyReply): void {
    if (reply.request.headers.upgrade !== undefined) {
      this.#upgraded.add(reply)
      reply.raw.once('close', () => this.#upgraded.delete(reply))
      return
    }
    this.#replies.add(reply)
    // `close` is also emitted after `finish`
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

  end(): void {
    this.#closing.abort()
  }

  async close(): Promise<void> {
    this.end()
    await this.#answered()
    await this.#stop()
    // the services have notified readers; senders reconnect
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
    const steps = this.#services.toReversed().map(({ name, stop }) => () => {
      this.#stopping = name
      return stop?.()
    })
    try {
      await closeAll(steps)
    } finally {
      this.#stopping = undefined
      this.#options.figures.ended(this.registry)
    }
  }
}

function bound(life: TenantLife): TenantLife {
  return {
    trouble: () => life.trouble?.(),
    warnings: () => life.warnings?.() ?? [],
    start: async (closing) => life.start?.(closing),
    stop: () => life.stop?.(),
  }
}
