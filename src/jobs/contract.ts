/**
 * Durable jobs: stored first, then executed by the host that takes them.
 *
 * JOB-1 every added job ends, as completed or failed; a crash neither loses it nor ends it twice
 * JOB-2 a job has one holder at a time: commits of a former holder through its lease are rejected
 * JOB-3 what a handler commits with its progress is written atomically with it: after a crash the job continues after
 *   that point
 * JOB-4 a parent runs after all of its children have completed; a child that failed for good fails it
 * JOB-5 a cancelled job ends with all of its descendants, on whichever host they run
 * JOB-6 each change of state is an event in the log of the tenant, in the same commit
 * JOB-7 jobs of a serial type run one at a time within a tenant, oldest first
 *
 * Leases and delays use the clock of the store; displayed times use that of the host. This room knows nothing of HTTP
 * or of what a job means.
 *
 * Errors are AppErrors: `VALIDATION` (all problems of a new job at once), `NOT_FOUND`, `CONFLICT` (an id in use, a
 * finished job), `CLOSED`.
 */
import type { Json } from '#kernel'
import type { Store, Write } from '#storage'

/** States of a job; the last two are final. A waiting job with a priority is `prioritized`. */
export const JOB_STATES = [
  'waiting',
  'prioritized',
  'delayed',
  'waiting-children',
  'active',
  'completed',
  'failed',
] as const
export type JobState = (typeof JOB_STATES)[number]

export interface NewJob {
  readonly type: string
  /** id of the job; default: a new id. `CONFLICT` when the id is in use */
  readonly id?: string
  /** input for the handler: plain JSON; default `{}` */
  readonly data?: object
  readonly user?: string
  /** labels for searching, at most 20 */
  readonly labels?: readonly string[]
  /** 1 is the most urgent; 0 (default) means none, and such jobs run before all others */
  readonly priority?: number
  /** ms before the job may start; not together with children */
  readonly delay?: number
  /** jobs that must complete before this one; at most 1,000 jobs, 10 generations deep */
  readonly children?: readonly NewJob[]
  readonly items?: readonly Json[]
}

/** A stored job. Times are epoch ms. */
export interface Job {
  readonly id: string
  readonly type: string
  readonly state: JobState
  readonly data: object
  readonly user?: string
  readonly labels?: readonly string[]
  /** jobs that wait for this one: the root first, the parent last */
  readonly ancestors: readonly string[]
  readonly childrenLeft: number
  readonly priority: number
  /** position among jobs of equal priority: epoch µs when it was added, unique within a process */
  readonly order: number
  readonly queueTime: number
  readonly processedTime?: number
  readonly finishedTime?: number
  readonly attemptsStarted: number
  /** number of finished attempts, successful or not */
  readonly attemptsMade: number
  /** number of leases that expired since the last progress */
  readonly stalls: number
  /** lease of an active job */
  readonly lease?: Lease
  readonly dueTime?: number
  readonly progress?: Progress
  readonly items?: { readonly batches: number; readonly batchSize: number }
  readonly result?: Json
  /** reason why the job, or its last attempt, failed */
  readonly failedReason?: string
  readonly isCancelled?: true
  /** time at which a finished root is removed with its tree */
  readonly removeTime?: number
}

/** Exclusive hold of a job until a time on the store's clock; ends earlier if its session ends. */
export interface Lease {
  readonly until: number
  readonly session?: string
}

export interface Progress {
  readonly done: number
  readonly total: number
  /** number of ended items by status code, such as `{ "204": 17, "404": 1 }` */
  readonly ended?: Readonly<Record<string, number>>
}

export interface ItemOutcome {
  /** HTTP status of the item: 400 and above are failures */
  readonly statusCode: number
  readonly error?: string
}

/** A change of a job, as logged. */
export interface JobEvent {
  /** the new state, or `progress` */
  readonly event: JobState | 'progress'
  readonly job: string
  readonly type: string
  readonly ancestors: readonly string[]
  readonly time: number
  /** the previous state; absent for a new job */
  readonly prev?: JobState
  readonly progress?: Progress
  readonly result?: Json
  readonly failedReason?: string
  readonly dueTime?: number
}

export interface JobHandler {
  readonly type: string
  /** maximum number of attempts; default 1. An attempt that fails because the store is unreachable never counts as the last */
  readonly attempts?: number
  /** ms before the second attempt, doubled for each further attempt up to `most`; default 1 s and 1 min */
  readonly backoff?: { readonly delay: number; readonly most: number }
  /** run one job at a time within a tenant, across all hosts */
  readonly isSerial?: boolean
  /** maximum number of concurrent jobs on this host, across all tenants; default 100 */
  readonly concurrency?: number
  /** ms before a finished job is removed; default 7 days */
  readonly keepMs?: number
  /** items per commit, when the handler processes items; default 200 */
  readonly batchSize?: number
  /**
   * Executes a job. The same job may run again, also on another host, after a crash, a stop or a failed attempt.
   * Throwing makes the attempt fail, except for `CLOSED`, which postpones the job.
   */
  run(context: JobContext): Promise<JobOutcome>
}

export interface JobContext {
  readonly tenant: string
  readonly store: Store
  /** the job as it was when it started */
  readonly job: Job
  /** true when the job ran before, so work after its stored progress may already be done */
  readonly isRepeat: boolean
  /** aborts when the host stops, the job is cancelled, or its lease is lost */
  readonly signal: AbortSignal
  /**
   * Commits progress together with the given writes (JOB-3). Throws `CONFLICT` when the lease is lost; `signal` then
   * aborts too.
   */
  progress(progress: Progress, writes?: readonly Write[]): Promise<void>
  breathe(): Promise<void>
  /** Returns the children, all completed, oldest first. */
  children(): Promise<readonly Job[]>
}

export type JobOutcome =
  /** completed; `writes` are committed together with this end */
  | {
      readonly kind: 'completed'
      readonly result?: Json
      readonly progress?: Progress
      readonly writes?: readonly Write[]
    }
  /** failed for good, without another attempt */
  | { readonly kind: 'failed'; readonly reason: string }
  /** runs again when these children have completed */
  | { readonly kind: 'waiting-children'; readonly children: readonly NewJob[] }
  /** postponed because the host is stopping */
  | { readonly kind: 'released' }

/** Clock and randomness, which tests simulate. */
export interface JobTimers {
  /** Runs `work` after ms, and returns a function that cancels it. */
  later(ms: number, work: () => void): () => void
  breathe(): Promise<void>
  random(): number
}
