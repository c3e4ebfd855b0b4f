/** A job that this process executes under a lease; each commit expects the version of the previous one (JOB-2). */
import { AppError, KeyedMutex } from '#kernel'
import type { Stored, Write } from '#storage'
import type { Job, JobTimers } from './contract.ts'
import type { JobChange } from './job-change.ts'
import { isAbout, type JobDocuments } from './job-documents.ts'

export const LEASE_MS = 15_000

export class HeldJob {
  readonly #documents: JobDocuments
  readonly #timers: Pick<JobTimers, 'later'>
  readonly #abort = new AbortController()
  readonly #order = new KeyedMutex()
  #stored: Stored<Job>
  #isLost = false
  #isLetGo = false
  #stopRenewing: () => void = () => undefined

  constructor(documents: JobDocuments, stored: Stored<Job>, timers: Pick<JobTimers, 'later'>) {
    this.#documents = documents
    this.#stored = stored
    this.#timers = timers
    this.#renewLater()
  }

  get job(): Job {
    return this.#stored.value
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get isLost(): boolean {
    return this.#isLost
  }

  change(change: JobChange, writes: readonly Write[] = []): Promise<void> {
    return this.#order.run('', async () => {
      if (this.#isLost) throw lostError(this.job.id)
      try {
        this.#stored = await this.#documents.change(this.#stored, change, writes)
      } catch (error) {
        if (!isAbout(error, this.job.id)) throw error
        this.lose()
        throw lostError(this.job.id)
      }
    })
  }

  lose(): void {
    this.#isLost = true
    this.stop()
  }

  stop(): void {
    this.#abort.abort()
  }

  release(): void {
    this.#isLetGo = true
    this.#stopRenewing()
  }

  #renewLater(): void {
    this.#stopRenewing = this.#timers.later(LEASE_MS / 3, () => {
      void this.#renew().finally(() => {
        if (!this.#isLost && !this.#isLetGo) this.#renewLater()
      })
    })
  }

  async #renew(): Promise<void> {
    try {
      const { ms, session } = await this.#documents.store.now()
      await this.change({ kind: 'renew', lease: leaseFrom(ms, session) })
    } catch {
      // the next renewal may succeed; if not, the lease expires and the job is lost
    }
  }
}

export function leaseFrom(
  ms: number,
  session: string | undefined,
): { readonly until: number; readonly session?: string } {
  return { until: ms + LEASE_MS, ...(session !== undefined && { session }) }
}

function lostError(job: string): AppError {
  return new AppError('CONFLICT', `job ${job} has ended or runs on another host; nothing was written`)
}

export function isClosed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'CLOSED'
}
