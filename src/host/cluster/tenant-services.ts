/** The services of one tenant of a cluster, over its store behind a fence: a host has them while it has the tenant. */
import { join } from 'node:path'
import type { FastifyReply } from 'fastify'
import { AppError, type Logger } from '#kernel'
import type { FollowedPart, FollowedStream } from '#services/broker/contract'
import { type FenceHolder, fenceStore, type Storage, type Store, takeFence } from '#storage'
import { partitionStore } from '#cluster'
import { closeAll, type OpenedService, openOwn, openShared, stopping } from '../wiring/make-services.ts'
import type { Config } from '../config.ts'
import type { HostedService } from '../hosted-service.ts'
import { served, type ServiceRegistry } from '../wiring/service-registry.ts'
import type { Timers } from '../timers.ts'
import { FirstPartition, OF_EACH_PARTITION } from './first-partition.ts'
import { readCount } from './partition-counts.ts'
import { answerAt, type HostedPartition, type PartitionQuestion } from './partition-questions.ts'
import type { TenantFigures } from '../tenant-figures.ts'

/** The fence of a partition; that of the first one is the only one of most tenants. */
export function fenceOf(number: number): string {
  return number === 0 ? 'tenant' : `tenant/${number}`
}

/** ms for requests that are under way when the tenant goes to another host */
const PATIENCE = 4_000

/** Asks other partitions of the tenant. */
interface OtherPartitions extends Pick<HostedPartition, 'follow' | 'handed'> {
  /** `ending`: this partition is given away. */
  ask(partition: number, question: PartitionQuestion, ending: AbortSignal): Promise<unknown>
}

export interface TenantServicesOptions {
  /** of the host */
  readonly services: readonly HostedService[]
  /** of all tenants */
  readonly storage: Storage
  /** of the host */
  readonly config: Config
  readonly logger: Logger
  readonly tenant: string
  /** of the tenant's partitions, from 0 */
  readonly number: number
  readonly others: OtherPartitions
  readonly holder: FenceHolder
  readonly figures: TenantFigures
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
  /** all of them; beyond the first partition some only check what they are shown */
  #made: readonly OpenedService[] = []
  /** those that work */
  #services: readonly OpenedService[] = []
  #count = 1
  #first: FirstPartition | undefined
  #emptied: () => void = () => undefined

  private constructor(options: TenantServicesOptions) {
    this.#options = options
  }

  /** Takes the fence, then goes on with what the tenant's last host left. `FENCED` when a later host has it. */
  static async open(options: TenantServicesOptions): Promise<TenantServices> {
    const { services, storage, config, tenant, number, holder, figures, lost } = options
    const opened = new TenantServices(options)
    try {
      const whole = storage.tenant(tenant)
      const fence = await takeFence(whole, fenceOf(number), holder)
      // after the fence: it changes while nobody has one
      const count = await readCount(whole)
      if (number >= count) throw new AppError('FENCED', `tenant ${tenant} has ${count} partitions, and is given more`)
      opened.#count = count
      const partition = count > 1 ? opened.#partitionOf(count) : undefined
      const store = partitionStore(whole, number)
      const folder = number === 0 ? `of-${tenant}` : `of-${tenant}~${number}`
      const { registry } = opened
      const fenced = fenceStore(store, fence, lost)
      Object.assign(registry, openOwn(services, { tenant, store: fenced, services: () => registry }))
      const made = openShared(services, {
        storage: storageOfOne(tenant, fenced, storage),
        registry,
        of: () => registry,
        ...(partition && { partition }),
        // folders are of one tenant, as their owners believe
        data: join(config.data, 'tenants', folder),
      })
      figures.began(registry)
      opened.#made = made
      opened.#services = number === 0 ? made : made.filter(({ name }) => OF_EACH_PARTITION.has(name))
      await opened.#first?.start()
      for (const service of opened.#services) await service.start?.(opened.#closing.signal)
      await opened.registry.relay?.start()
      return opened
    } catch (error) {
      await opened.#stop().catch(() => undefined)
      throw error
    }
  }

  /** partitions of the tenant when it was opened */
  get count(): number {
    return this.#count
  }

  /** What another partition of the tenant asks. `FENCED` when this ends meanwhile: it is not known whether it was done. */
  async answer(question: PartitionQuestion): Promise<unknown> {
    const { tenant, number } = this.#options
    try {
      return await answerAt(this.registry, tenant, question)
    } catch (error) {
      if (!this.#closing.signal.aborted || !(error instanceof AppError) || error.code !== 'CLOSED') throw error
      throw new AppError('FENCED', `partition ${number} of tenant ${tenant} goes to another host`, { cause: error })
    }
  }

  /** What another partition of the tenant hears. */
  follow(asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart> {
    return served(this.registry.broker).follow(this.#options.tenant, asked, signal)
  }

  #partitionOf(count: number): HostedPartition {
    const { tenant, number, others, logger } = this.#options
    const ask: HostedPartition['ask'] = (at, question) => others.ask(at, question, this.#closing.signal)
    if (number > 0) this.#first = new FirstPartition(tenant, (question) => ask(0, question), logger)
    const first = this.#first
    return {
      tenant,
      number,
      count,
      ask,
      follow: (at, asked, signal) => others.follow(at, asked, signal),
      handed: (at) => others.handed(at),
      ports: (own) => first?.ports(own) ?? own,
      first,
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
      await closeAll([() => this.registry.relay?.stop(), ...stopping(this.#made), () => this.#first?.stop()])
    } finally {
      this.#options.figures.ended(this.registry)
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
