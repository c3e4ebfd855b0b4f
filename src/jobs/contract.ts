/**
 * Durable jobs: stored first, then executed by the host that takes them.
 *
 * JOB-1 every added job ends, as completed or failed; a crash neither loses it nor ends it twice
 * JOB-2 a job has one holder at a time: commits of a former holder through its lease are rejected
 * JOB-3 what a handler commits with its progress is written with it: after a crash the job continues behind it
 * JOB-4 a parent runs after all of its children have completed; a child that failed for good fails it
 * JOB-5 a cancelled job ends with all of its descendants, on whichever host they run
 * JOB-6 each change of state is an event in the log of the tenant, in the same commit
 * JOB-7 the jobs of a serial type run one after the other within a tenant, oldest first
 *
 * Leases and delays use the clock of the store; displayed times use that of the host.
 * Independent of the meaning of a job and of HTTP.
 *
 * Errors are AppErrors: `VALIDATION` (all problems of a new job at once), `NOT_FOUND`, `CONFLICT` (an id in use, a
 * finished job), `CLOSED`.
 */
import type { Json } from '#kernel'
import type { Store, Write } from '#storage'

/** The last two are final. A waiting job with a priority is `prioritized`. */
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
  /** default: a new one; `CONFLICT` when in use */
  readonly id?: string
  /** input of its handler: plain JSON; default `{}` */
  readonly data?: object
  readonly user?: string
  /** for searching, at most 20 */
  readonly labels?: readonly string[]
  /** 1 is the most urgent; 0 (default) means none and comes before all others */
  readonly priority?: number
  /** ms; not together with children */
  readonly delay?: number
  /** jobs that must complete first; use at most 1,000 jobs, 10 generations deep */
  readonly children?: readonly NewJob[]
  readonly items?: readonly Json[]
}

/** Stored job. Times are epoch ms. */
export interface Job {
  readonly id: string
  readonly type: string
  readonly state: JobState
  readonly data: object
  readonly user?: string
  readonly labels?: readonly string[]
  /** jobs that wait for it: the root first, its parent last */
  readonly ancestors: readonly string[]
  readonly childrenLeft: number
  readonly priority: number
  /** position within its priority: epoch µs of its addition, unique within a process */
  readonly order: number
  readonly queueTime: number
  readonly processedTime?: number
  readonly finishedTime?: number
  readonly attemptsStarted: number
  /** finished attempts, with or without success */
  readonly attemptsMade: number
  /** expired leases since its last progress */
  readonly stalls: number
  /** of an active job */
  readonly lease?: Lease
  readonly dueTime?: number
  readonly progress?: Progress
  readonly items?: { readonly batches: number; readonly batchSize: number }
  readonly result?: Json
  /** of the job, or of its last attempt */
  readonly failedReason?: string
  readonly isCancelled?: true
  /** when a finished root is removed with its tree */
  readonly removeTime?: number
}

/** Exclusive hold of a job, by the clock of the store; it ends early with its session. */
export interface Lease {
  readonly until: number
  readonly session?: string
}

export interface Progress {
  readonly done: number
  readonly total: number
  /** number of items by status, such as `{ "204": 17, "404": 1 }` */
  readonly ended?: Readonly<Record<string, number>>
}

export interface ItemOutcome {
  /** as in HTTP: 400 and above are failures */
  readonly statusCode: number
  readonly error?: string
}

/** Change of a job in the log. */
export interface JobEvent {
  /** new state, or `progress` */
  readonly event: JobState | 'progress'
  readonly job: string
  readonly type: string
  readonly ancestors: readonly string[]
  readonly time: number
  /** previous state; absent for a new job */
  readonly prev?: JobState
  readonly progress?: Progress
  readonly result?: Json
  readonly failedReason?: string
  readonly dueTime?: number
}

export interface JobHandler {
  readonly type: string
  /** attempts; default 1. An attempt that fails because the store is unreachable is never the last one */
  readonly attempts?: number
  /** ms before the second attempt, doubled for each further one up to `most`; default 1 s and 1 min */
  readonly backoff?: { readonly delay: number; readonly most: number }
  /** one job at a time within a tenant, over all hosts */
  readonly isSerial?: boolean
  /** concurrent jobs on this host, of all tenants; default 100 */
  readonly concurrency?: number
  /** ms before a finished job is removed; default 7 days */
  readonly keepMs?: number
  /** items per commit, for a handler of items; default 200 */
  readonly batchSize?: number
  /**
   * Executes a job, possibly again and on another host: after a crash, a stop or a failed attempt. An error is a failed
   * attempt, except `CLOSED`, which postpones the job.
   */
  run(context: JobContext): Promise<JobOutcome>
}

export interface JobContext {
  readonly tenant: string
  readonly store: Store
  /** as of its start */
  readonly job: Job
  /** The job ran before: work behind its stored progress may already be done. */
  readonly isRepeat: boolean
  /** aborts when the host stops, the job is cancelled, or its lease is lost */
  readonly signal: AbortSignal
  /**
   * Commits progress together with the given writes (JOB-3). `CONFLICT` when the lease is lost; `signal` is then
   * aborted.
   */
  progress(progress: Progress, writes?: readonly Write[]): Promise<void>
  breathe(): Promise<void>
  /** Its children, oldest first, all completed. */
  children(): Promise<readonly Job[]>
}

export type JobOutcome =
  /** committed with its end */
  | {
      readonly kind: 'completed'
      readonly result?: Json
      readonly progress?: Progress
      readonly writes?: readonly Write[]
    }
  /** final, without another attempt */
  | { readonly kind: 'failed'; readonly reason: string }
  /** runs again when these have completed */
  | { readonly kind: 'waiting-children'; readonly children: readonly NewJob[] }
  /** postponed, since the host stops */
  | { readonly kind: 'released' }

/** Clock and randomness; simulated in tests. */
export interface JobTimers {
  /** Runs `work` after ms; returns a function that cancels it. */
  later(ms: number, work: () => void): () => void
  breathe(): Promise<void>
  random(): number
}
