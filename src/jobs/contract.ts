/**
 * Durable jobs: what is to be done is stored first, and then carried out by whichever host takes it.
 *
 * JOB-1 a job that was added ends, as completed or failed; a crash neither loses it nor ends it twice
 * JOB-2 a job has one holder at a time: what a former one still wants to commit through its lease is refused
 * JOB-3 what a handler commits with its progress is written with it: after a crash the job goes on behind it
 * JOB-4 a parent is carried out after all of its children completed; one that failed for good fails it
 * JOB-5 a cancelled job ends with all of its descendants, whoever carries them out
 * JOB-6 each change of state is an event in the log of the tenant, in the same commit
 * JOB-7 the jobs of a serial type are carried out one after the other within a tenant, oldest first
 *
 * Leases and delays go by the clock of the store; times that are shown go by that of the host that writes them.
 * Not in here: what a job means to its service, and how it is shown over HTTP.
 *
 * Errors are AppErrors: `VALIDATION` (all problems of a new job at once), `NOT_FOUND`, `CONFLICT` (an id that is taken, a
 * job that is over), `CLOSED`.
 */
import type { Json } from '#kernel'
import type { Store, Write } from '#storage'

/** The last two are final. A job with a priority is `prioritized` where others are `waiting`. */
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
  /** one that the runner has a handler for */
  readonly type: string
  /** default: a new one; an id that is taken is a `CONFLICT` */
  readonly id?: string
  /** for its handler: plain JSON; default `{}` */
  readonly data?: object
  /** who asked for it */
  readonly user?: string
  /** what it can be found by: at most 20 */
  readonly labels?: readonly string[]
  /** 1 is the most urgent; 0 (default) has none and comes before all that have one */
  readonly priority?: number
  /** ms before it may begin; not together with children */
  readonly delay?: number
  /** what has to complete before it begins; a tree has at most 1,000 jobs, 10 generations deep */
  readonly children?: readonly NewJob[]
  /** what it is about, for a handler of items */
  readonly items?: readonly Json[]
}

/** A job as it is stored. Times are epoch ms. */
export interface Job {
  readonly id: string
  readonly type: string
  readonly state: JobState
  readonly data: object
  readonly user?: string
  readonly labels?: readonly string[]
  /** jobs that wait for it: the root first, its parent last */
  readonly ancestors: readonly string[]
  /** that did not complete yet */
  readonly childrenLeft: number
  readonly priority: number
  /** its place among those of its priority: epoch µs at which it was added, never the same twice in one process */
  readonly order: number
  readonly queueTime: number
  /** when it began first */
  readonly processedTime?: number
  readonly finishedTime?: number
  /** how often it was taken */
  readonly attemptsStarted: number
  /** how often it came to an end, good or bad */
  readonly attemptsMade: number
  /** leases that ran out since it last got on */
  readonly stalls: number
  /** of an active one */
  readonly lease?: Lease
  /** of a delayed one, by the clock of the store */
  readonly dueTime?: number
  readonly progress?: Progress
  /** how its items are stored */
  readonly items?: { readonly batches: number; readonly batchSize: number }
  readonly result?: Json
  /** why it failed, or why its last attempt did */
  readonly failedReason?: string
  readonly isCancelled?: true
  /** when it is let go with all of its tree; of a root that is over */
  readonly removeTime?: number
}

/** Until when nobody else may take the job, by the clock of the store; free before that when its session is over. */
export interface Lease {
  readonly until: number
  readonly session?: string
}

export interface Progress {
  readonly done: number
  readonly total: number
  /** how many ended how, such as `{ "204": 17, "404": 1 }` */
  readonly ended?: Readonly<Record<string, number>>
}

/** What became of an item of a job. */
export interface ItemOutcome {
  /** as of an answer over HTTP: 400 and more are failures */
  readonly statusCode: number
  readonly error?: string
}

/** A change of a job as it stands in the log. */
export interface JobEvent {
  /** the state that it has now, or `progress` */
  readonly event: JobState | 'progress'
  readonly job: string
  readonly type: string
  readonly ancestors: readonly string[]
  /** epoch ms */
  readonly time: number
  /** the state before; absent for a new job */
  readonly prev?: JobState
  readonly progress?: Progress
  readonly result?: Json
  readonly failedReason?: string
  /** of `delayed` */
  readonly dueTime?: number
}

/** What carries jobs of one type out, and how. */
export interface JobHandler {
  readonly type: string
  /** how often it is tried; default 1. An attempt that finds the store away is never the last one */
  readonly attempts?: number
  /** ms before the second attempt, doubled for each further one up to `most`; default 1 s and 1 min */
  readonly backoff?: { readonly delay: number; readonly most: number }
  /** within a tenant one job at a time, whatever the number of hosts */
  readonly isSerial?: boolean
  /** jobs at a time on this host, of all tenants; default 100 */
  readonly concurrency?: number
  /** ms for which a job that is over is kept; default 7 days */
  readonly keepMs?: number
  /** items of one commit, for a handler of items; default 200 */
  readonly batchSize?: number
  /**
   * Carries a job out. It may be called again for the same job, on this host or another: after a crash, a stop or a
   * failed attempt. What it throws is a failed attempt, but for `CLOSED`, which leaves the job for later.
   */
  run(context: JobContext): Promise<JobOutcome>
}

export interface JobContext {
  readonly tenant: string
  readonly store: Store
  /** as it was taken */
  readonly job: Job
  /** It was taken before: what comes behind its stored progress may have been done already. */
  readonly isRepeat: boolean
  /** aborted when the host stops, the job was cancelled, or somebody else has it */
  readonly signal: AbortSignal
  /** Commits progress, and with it what else is given (JOB-3). `CONFLICT` when the lease is lost: `signal` is aborted. */
  progress(progress: Progress, writes?: readonly Write[]): Promise<void>
  /** Lets others have the loop. */
  breathe(): Promise<void>
  /** Its children, oldest first; all of them completed when it had some as it was taken. */
  children(): Promise<readonly Job[]>
}

export type JobOutcome =
  /** `writes` are committed with its end */
  | {
      readonly kind: 'completed'
      readonly result?: Json
      readonly progress?: Progress
      readonly writes?: readonly Write[]
    }
  /** for good: it is not tried again */
  | { readonly kind: 'failed'; readonly reason: string }
  /** it is carried out again when these completed */
  | { readonly kind: 'waiting-children'; readonly children: readonly NewJob[] }
  /** left for later: the host stops */
  | { readonly kind: 'released' }

/** The machine's time and chance; a test drives them by hand. */
export interface JobTimers {
  /** Does the work after so many ms; gives how to call it off. */
  later(ms: number, work: () => void): () => void
  /** Lets others have the loop. */
  breathe(): Promise<void>
  /** from 0 up to 1 */
  random(): number
}
