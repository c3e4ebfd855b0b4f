/**
 * A job that this process carries out, and the lease by which it holds it. Its commits go one after the other and each
 * expects the one before, so that a former holder's are refused (JOB-2). The lease is renewed until the job is let go.
 */
import { AppError, KeyedMutex } from '#kernel'
import type { Stored, Write } from '#storage'
import type { Job, JobTimers } from './contract.ts'
import type { JobChange } from './job-change.ts'
import { isAbout, type JobDocuments } from './job-documents.ts'

/** ms for which a lease holds */
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

  /** Somebody else has it, or it is over. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** `CONFLICT` when the job is lost, or one of the writes is refused. */
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

  /** It was cancelled, or taken by somebody else: its handler is told. */
  lose(): void {
    this.#isLost = true
    this.stop()
  }

  /** Its handler is told to come to an end. */
  stop(): void {
    this.#abort.abort()
  }

  /** The lease is renewed no more. */
  letGo(): void {
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
      // the next one may come through; else the lease runs out, and then the job is lost
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
  return new AppError('CONFLICT', `job ${job} is carried out by another host, or is over: nothing of it was written`)
}

/** Whether the store or the host is shut down. */
export function isClosed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'CLOSED'
}
