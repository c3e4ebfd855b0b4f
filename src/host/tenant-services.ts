/**
 * Opens and closes the services of one tenant over its store. A single host does so for each of its tenants, a cluster
 * host for each tenant it owns, protected by a fence.
 */
import type { FastifyReply } from 'fastify'
import { partitionStore } from '#cluster'
import { AppError, type Logger } from '#kernel'
import type { FollowedPart, FollowedStream } from '#services/broker/contract'
import { type FenceHolder, fenceStore, type Storage, type Store, takeFence } from '#storage'
import { FirstPartition, OF_EACH_PARTITION } from './cluster/first-partition.ts'
import { fenceOf, readCount } from './cluster/partition-counts.ts'
import { answerAt, type HostedPartition, type PartitionQuestion } from './cluster/partition-questions.ts'
import type { HostedService } from './hosted-service.ts'
import type { TenantFigures } from './tenant-figures.ts'
import type { Timers } from './timers.ts'
import { closeAll } from './wiring/make-services.ts'
import { served, type ServiceRegistry } from './wiring/service-registry.ts'
import type { TenantLife } from './wiring/tenant-service.ts'

/** How long requests may continue when their tenant moves to another host, in ms */
const PATIENCE = 4_000

interface OtherPartitions extends Pick<HostedPartition, 'follow' | 'handed'> {
  ask(partition: number, question: PartitionQuestion, ending: AbortSignal): Promise<unknown>
}

/** Ownership of one partition of a tenant, protected by a fence. */
export interface Tenure {
  readonly number: number
  readonly others: OtherPartitions
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
  /** All services; those outside the first partition may only check what they see */
  #made: readonly OpenedService[] = []
  #services: readonly OpenedService[] = []
  #count = 1
  #first: FirstPartition | undefined
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

  get count(): number {
    return this.#count
  }

  get stopping(): string | undefined {
    return this.#stopping
  }

  async #fenced(whole: Store, { number, holder, lost }: Tenure): Promise<Store> {
    const fence = await takeFence(whole, fenceOf(number), holder)
    // read after taking the fence: the count cannot change while this host holds it
    this.#count = await readCount(whole)
    if (number >= this.#count) {
      const text = `tenant ${this.#options.tenant} has ${this.#count} partitions, and more are being added`
      throw new AppError('FENCED', text)
    }
    return fenceStore(partitionStore(whole, number), fence, lost)
  }

  #make(store: Store): void {
    const { services, tenant, tenure, figures } = this.#options
    const { registry } = this
    const partition = tenure !== undefined && this.#count > 1 ? this.#partitionOf(tenure) : undefined
    const made: OpenedService[] = []
    // assigned first, so that services made before a failure are stopped
    this.#made = made
    for (const { name, open } of services) {
      const one = open?.({ tenant, store, services: registry, ...(partition && { partition }) })
      if (one === undefined) continue
      Object.assign(registry, one.provides)
      const { life } = one
      if (life !== undefined) made.push({ name, ...bound(life) })
    }
    figures.began(registry)
    const isFirst = (tenure?.number ?? 0) === 0
    this.#services = isFirst ? made : made.filter(({ name }) => OF_EACH_PARTITION.has(name))
  }

  async #start(): Promise<void> {
    await this.#first?.start()
    for (const service of this.#services) await service.start?.(this.#closing.signal)
    await this.registry.relay?.start()
  }

  /** Throws `FENCED` when this partition closes meanwhile; the outcome is then unknown. */
  async answer(question: PartitionQuestion): Promise<unknown> {
    const { tenant, tenure } = this.#options
    try {
      return await answerAt(this.registry, tenant, question)
    } catch (error) {
      if (!this.#closing.signal.aborted || !(error instanceof AppError) || error.code !== 'CLOSED') throw error
      const text = `partition ${tenure?.number ?? 0} of tenant ${tenant} moves to another host`
      throw new AppError('FENCED', text, { cause: error })
    }
  }

  follow(asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart> {
    return served(this.registry.broker).follow(asked, signal)
  }

  #partitionOf({ number, others }: Tenure): HostedPartition {
    const { tenant, logger } = this.#options
    const ask: HostedPartition['ask'] = (at, question) => others.ask(at, question, this.#closing.signal)
    if (number > 0) this.#first = new FirstPartition(tenant, (question) => ask(0, question), logger)
    const first = this.#first
    return {
      tenant,
      number,
      count: this.#count,
      ask,
      follow: (at, asked, signal) => others.follow(at, asked, signal),
      handed: (at) => others.handed(at),
      ports: (own) => first?.ports(own) ?? own,
      first,
    }
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
    const steps = this.#made.toReversed().map(({ name, stop }) => () => {
      this.#stopping = name
      return stop?.()
    })
    try {
      await closeAll([() => this.registry.relay?.stop(), ...steps, () => this.#first?.stop()])
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
