/** Executes those jobs of one tenant whose type has a handler in this process. Other processes may share the store. */
import { type Logger, messageOf } from '#kernel'
import type { Store } from '#storage'
import type { Job, JobHandler, JobTimers } from './contract.ts'
import { isClosed, LEASE_MS } from './held-job.ts'
import { isReady } from './job-change.ts'
import { JobQueue } from './job-queue.ts'
import { JobSlots, TypeRunner } from './type-runner.ts'

export interface JobRunnerOptions {
  readonly tenant: string
  readonly store: Store
  /** one handler per type; all jobs of a tree must use the same runner */
  readonly handlers: readonly JobHandler[]
  /** epoch ms, for displayed times */
  readonly now: () => number
  readonly newId: () => string
  readonly timers: JobTimers
  readonly slots?: JobSlots | undefined
  readonly logger?: Logger | undefined
}

export class JobRunner {
  readonly queue: JobQueue
  readonly #options: JobRunnerOptions
  readonly #handlers: ReadonlyMap<string, JobHandler>
  readonly #slots: JobSlots
  readonly #runners = new Map<string, TypeRunner>()
  #lastOrder = 0
  #isStopped = false
  #scanning: Promise<void> = Promise.resolve()
  #cancelScan: () => void = () => undefined

  constructor(options: JobRunnerOptions) {
    const { store, newId, now, timers } = options
    this.#options = options
    this.#handlers = new Map(options.handlers.map((handler) => [handler.type, handler]))
    this.#slots = options.slots ?? new JobSlots()
    this.queue = new JobQueue(store, {
      handlers: this.#handlers,
      newId,
      now,
      nextOrder: () => (this.#lastOrder = Math.max(this.#lastOrder + 1, now() * 1_000)),
      timers,
      committed: (jobs) => this.#committed(jobs),
      isStopped: () => this.#isStopped,
    })
  }

  get open(): number {
    let count = 0
    for (const runner of this.#runners.values()) count += runner.open
    return count
  }

  async start(): Promise<void> {
    await this.#scan()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelScan()
    this.queue.wake()
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()))
    await this.#scanning
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.idle()))
  }

  async #scan(): Promise<void> {
    const { documents } = this.queue
    const { session } = await documents.store.now()
    for (const type of (await documents.open()).keys()) this.#runner(type)?.wake()
    if (session === undefined && !this.#isStopped)
      this.#cancelScan = this.#options.timers.later(LEASE_MS, () => this.#scanAgain())
  }

  #scanAgain(): void {
    this.#scanning = this.#scan().catch((error: unknown) => {
      if (this.#isStopped || isClosed(error)) return
      this.#options.logger?.error(`the search for jobs of other hosts failed: ${messageOf(error)}; it is retried`)
      this.#cancelScan = this.#options.timers.later(LEASE_MS, () => this.#scanAgain())
    })
  }

  #committed(jobs: readonly Job[]): void {
    for (const { id, type, state, isCancelled } of jobs) {
      const runner = this.#runner(type)
      if (isReady(state) || state === 'delayed') runner?.wake()
      if (isCancelled === true) runner?.cancelled(id)
    }
  }

  #runner(type: string): TypeRunner | undefined {
    const known = this.#runners.get(type)
    if (known !== undefined) return known
    const handler = this.#handlers.get(type)
    if (handler === undefined) return undefined
    const { tenant, timers, logger } = this.#options
    const runner = new TypeRunner({
      tenant,
      handler,
      queue: this.queue,
      slots: this.#slots.of(handler),
      timers,
      logger,
    })
    this.#runners.set(type, runner)
    return runner
  }
}
