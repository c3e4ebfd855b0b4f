/** Executes the jobs of all tenants of a store that have a handler here. Other processes may share the store. */
import { type Logger, messageOf } from '#kernel'
import type { Storage } from '#storage'
import type { Job, JobHandler, JobTimers } from './contract.ts'
import { isClosed, LEASE_MS } from './held-job.ts'
import { isReady } from './job-change.ts'
import { JobQueue } from './job-queue.ts'
import { JobPlaces, TypeRunner } from './type-runner.ts'

export interface JobRunnerOptions {
  readonly storage: Pick<Storage, 'tenant' | 'tenants'>
  /** one per type; jobs of one tree need one runner */
  readonly handlers: readonly JobHandler[]
  /** epoch ms, for displayed times */
  readonly now: () => number
  readonly newId: () => string
  readonly timers: JobTimers
  readonly places?: JobPlaces | undefined
  readonly logger?: Logger | undefined
}

export class JobRunner {
  readonly #options: JobRunnerOptions
  readonly #handlers: ReadonlyMap<string, JobHandler>
  readonly #places: JobPlaces
  readonly #queues = new Map<string, JobQueue>()
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

  /** Jobs of a tenant. Added jobs run even before `start`. */
  get open(): number {
    let count = 0
    for (const runner of this.#runners.values()) count += runner.open
    return count
  }

  /** Continues jobs of earlier processes and of other hosts. */
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

  /** Finishes or returns running jobs; the others wait for the next start or another host. */
  async start(): Promise<void> {
    await this.#scan()
  }

  /** Resolves when nothing runs or can be taken, regardless of delayed jobs and those of other hosts. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelScan()
    for (const queue of this.#queues.values()) queue.wake()
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()))
    await this.#scanning
  }

  /** Looks for open jobs of all tenants; periodically where hosts share the store. */
  async idle(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.idle()))
  }

  /** Undefined for a type without a handler here. */
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
      this.#options.logger?.error(`the search for jobs of other hosts failed: ${messageOf(error)}; it is retried`)
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
