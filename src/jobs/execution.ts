/** Executes one job and records the result or error of its handler as a change of the job. */
import { AppError, isAway, type Logger, messageOf } from '#kernel'
import { MAX_IN_TREE } from './check-job.ts'
import type { JobContext, JobHandler, JobOutcome, JobTimers, NewJob } from './contract.ts'
import { isClosed, type HeldJob } from './held-job.ts'
import type { AddedJobs, JobQueue } from './job-queue.ts'

export interface ExecutionDependencies {
  readonly tenant: string
  readonly handler: JobHandler
  readonly queue: JobQueue
  readonly timers: JobTimers
  readonly logger: Logger | undefined
  readonly isStopped: () => boolean
}

interface FailedAttempt {
  readonly kind: 'attempt-failed'
  readonly error: unknown
}

export const BACKOFF = { delay: 1_000, most: 60_000 }
/** ms before a failed operation is retried */
export const AGAIN_MS = 2_000
const LONGEST_REASON = 2_000

export class Execution {
  readonly #held: HeldJob
  readonly #dependencies: ExecutionDependencies

  constructor(held: HeldJob, dependencies: ExecutionDependencies) {
    this.#held = held
    this.#dependencies = dependencies
  }

  async run(): Promise<void> {
    await this.#dependencies.timers.breathe()
    const outcome = await this.#outcome()
    try {
      await this.#settle(outcome).catch((error: unknown) => {
        if (isClosed(error)) throw error
        return this.#settle({ kind: 'attempt-failed', error })
      })
    } catch (error) {
      // the lease will expire, and then the job runs again
      if (!this.#held.isLost && !isClosed(error))
        this.#log('error', `its result was not stored: ${messageOf(error)}; the job runs again when its lease expires`)
    }
    if (this.#held.isLost)
      this.#log('warn', 'it was cancelled or taken over by another host; its last changes are not stored')
  }

  async #outcome(): Promise<JobOutcome | FailedAttempt> {
    if (this.#dependencies.isStopped()) return { kind: 'released' }
    const { handler, queue, tenant, timers } = this.#dependencies
    const { documents } = queue
    const { job, signal } = this.#held
    const context: JobContext = {
      tenant,
      store: documents.store,
      job,
      isRepeat: job.attemptsStarted > 1,
      signal,
      progress: (progress, writes) => this.#held.change({ kind: 'progress', progress }, writes),
      breathe: () => timers.breathe(),
      children: () => documents.children(job.id),
    }
    try {
      const { type, id, user } = job
      const actor = user === undefined ? undefined : { tenant, user, path: `jobs/${type}/${id}` }
      const { actingAs } = documents.store
      return await (actingAs === undefined ? handler.run(context) : actingAs(actor, () => handler.run(context)))
    } catch (error) {
      return isClosed(error) || this.#dependencies.isStopped()
        ? { kind: 'released' }
        : { kind: 'attempt-failed', error }
    }
  }

  async #settle(outcome: JobOutcome | FailedAttempt): Promise<void> {
    if (this.#held.isLost) return
    const { documents } = this.#dependencies.queue
    const ending = documents.ending(this.#held.job)
    switch (outcome.kind) {
      case 'completed': {
        const { result, progress, writes } = outcome
        return this.#held.change({ kind: 'complete', result, progress, ...ending }, writes)
      }
      case 'failed':
        return this.#held.change({ kind: 'fail', reason: outcome.reason, ...ending })
      case 'waiting-children':
        return this.#addChildren(outcome.children)
      case 'released':
        return this.#release()
      case 'attempt-failed':
        return this.#attemptFailed(outcome.error)
    }
  }

  async #release(): Promise<void> {
    if (this.#dependencies.isStopped()) return this.#held.change({ kind: 'release' })
    const { ms } = await this.#dependencies.queue.documents.store.now()
    return this.#held.change({ kind: 'postpone', dueTime: ms + AGAIN_MS })
  }

  async #attemptFailed(error: unknown): Promise<void> {
    const { handler, queue, timers } = this.#dependencies
    const { documents } = queue
    const { attempts = 1, backoff = BACKOFF } = handler
    const { attemptsMade } = this.#held.job
    const reason = messageOf(error).slice(0, LONGEST_REASON)
    if (attemptsMade + 1 >= attempts) {
      // while the store is unreachable, no attempt counts as the last
      if (isAway(error)) return this.#release()
      this.#log('error', `failed: ${reason}`)
      return this.#held.change({ kind: 'fail', reason, ...documents.ending(this.#held.job) })
    }
    const most = Math.min(backoff.most, backoff.delay * 2 ** attemptsMade)
    // jitter, so that jobs that failed together are not retried together
    const pause = Math.ceil(most * (0.5 + timers.random() / 2))
    this.#log('warn', `${reason}; retrying in ${pause} ms`)
    const { ms } = await documents.store.now()
    return this.#held.change({ kind: 'retry', dueTime: ms + pause, reason })
  }

  async #addChildren(children: readonly NewJob[]): Promise<void> {
    const { queue } = this.#dependencies
    const { id, ancestors } = this.#held.job
    const below = [...ancestors, id]
    const added: AddedJobs[] = []
    for (const child of children) added.push(await queue.adding(child, below))
    const jobs = added.flatMap((one) => one.jobs)
    const inTree = await queue.documents.jobs.count([{ field: 'ancestors', op: 'eq', value: below[0] ?? id }])
    if (inTree + jobs.length >= MAX_IN_TREE) {
      throw new AppError(
        'VALIDATION',
        `the tree of the job would have more than ${MAX_IN_TREE} jobs; use several trees`,
      )
    }
    const writes = added.flatMap((one) => one.writes)
    await this.#held.change({ kind: 'wait-for-children', children: children.length }, writes)
    for (const one of added) queue.added(one)
  }

  #log(level: keyof Logger, what: string): void {
    const { type, id } = this.#held.job
    this.#dependencies.logger?.[level](`${type} job ${id} of tenant ${this.#dependencies.tenant}: ${what}`)
  }
}
