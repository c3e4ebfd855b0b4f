/**
 * The jobs of all tenants of a store, carried out by this process, as far as it has handlers for them. Other processes may
 * do the same over the same store.
 */
import { type Logger, messageOf } from '#kernel'
import type { Storage } from '#storage'
import type { Job, JobHandler, JobTimers } from './contract.ts'
import { isClosed, LEASE_MS } from './held-job.ts'
import { isReady } from './job-change.ts'
import { JobQueue } from './job-queue.ts'
import { JobPlaces, TypeRunner } from './type-runner.ts'

export interface JobRunnerOptions {
  readonly storage: Pick<Storage, 'tenant' | 'tenants'>
  /** one for each type; the jobs of one tree have theirs in one runner */
  readonly handlers: readonly JobHandler[]
  /** epoch ms, for times that are shown */
  readonly now: () => number
  /** never the same twice */
  readonly newId: () => string
  readonly timers: JobTimers
  /** those of the host, where several runners share them */
  readonly places?: JobPlaces | undefined
  readonly logger?: Logger | undefined
}

export class JobRunner {
  readonly #options: JobRunnerOptions
  readonly #handlers: ReadonlyMap<string, JobHandler>
  readonly #places: JobPlaces
  readonly #queues = new Map<string, JobQueue>()
  /** by tenant and type */
  readonly #runners = new Map<string, TypeRunner>()
  #lastOrder = 0
  #isStopped = false
  #scanning: Promise<void> = Promise.resolve()
  #cancelScan: () => void = () => undefined

  constructor(options: JobRunnerOptions) {
    this.#options = options
    this.#handlers = new Map(options.handlers.map((handler) => [handler.type, handler]))
    this.#places = options.places ?? new JobPlaces()
  }

  /** jobs that are not over, as far as this process knows */
  get open(): number {
    let count = 0
    for (const runner of this.#runners.values()) count += runner.open
    return count
  }

  /** The jobs of a tenant. What is added is carried out, also before `start`. */
  queue(tenant: string): JobQueue {
    const known = this.#queues.get(tenant)
    if (known !== undefined) return known
    const { storage, newId, now, timers } = this.#options
    const queue: JobQueue = new JobQueue(storage.tenant(tenant), {
      handlers: this.#handlers,
      newId,
      now,
      nextOrder: () => (this.#lastOrder = Math.max(this.#lastOrder + 1, now() * 1_000)),
      timers,
      committed: (jobs) => this.#committed(tenant, queue, jobs),
      isStopped: () => this.#isStopped,
    })
    this.#queues.set(tenant, queue)
    return queue
  }

  /** Goes on with what the last process left, and with what others leave. */
  async start(): Promise<void> {
    await this.#scan()
  }

  /** Jobs under way come to an end or are given back; the others are left for the next start, or for other hosts. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelScan()
    for (const queue of this.#queues.values()) queue.wake()
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()))
    await this.#scanning
  }

  /** Resolves when nothing is under way and nothing can be taken: what is delayed, or another host's, is not waited for. */
  async idle(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.idle()))
  }

  /** Looks for open jobs of all tenants; where hosts share the store, again and again. */
  async #scan(): Promise<void> {
    const { storage } = this.#options
    let isShared = true
    for (const tenant of await storage.tenants()) {
      if (this.#isStopped) return
      const queue = this.queue(tenant)
      const { session } = await queue.documents.store.now()
      isShared = session === undefined
      for (const type of (await queue.documents.open()).keys()) this.#runner(tenant, queue, type)?.wake()
    }
    if (isShared && !this.#isStopped) this.#cancelScan = this.#options.timers.later(LEASE_MS, () => this.#scanAgain())
  }

  #scanAgain(): void {
    this.#scanning = this.#scan().catch((error: unknown) => {
      if (this.#isStopped || isClosed(error)) return
      this.#options.logger?.error(`jobs of other hosts could not be looked for: ${messageOf(error)}; they are later`)
      this.#cancelScan = this.#options.timers.later(LEASE_MS, () => this.#scanAgain())
    })
  }

  #committed(tenant: string, queue: JobQueue, jobs: readonly Job[]): void {
    for (const { id, type, state, isCancelled } of jobs) {
      const runner = this.#runner(tenant, queue, type)
      if (isReady(state) || state === 'delayed') runner?.wake()
      if (isCancelled === true) runner?.cancelled(id)
    }
  }

  /** Undefined for a type that others carry out. */
  #runner(tenant: string, queue: JobQueue, type: string): TypeRunner | undefined {
    const key = `${tenant}\n${type}`
    const known = this.#runners.get(key)
    if (known !== undefined) return known
    const handler = this.#handlers.get(type)
    if (handler === undefined) return undefined
    const { timers, logger } = this.#options
    const places = this.#places.of(handler)
    const runner = new TypeRunner({ tenant, handler, queue, places, timers, logger })
    this.#runners.set(key, runner)
    return runner
  }
}
