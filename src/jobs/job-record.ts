/** Jobs as they are stored: documents of their own, their items in batches, and a log of what happened to them. */
import type { Json } from '#kernel'
import type { CollectionSpec } from '#storage'
import { isOver, isReady } from './job-change.ts'
import type { ItemOutcome, Job } from './contract.ts'

export const JOBS: CollectionSpec<Job> = {
  name: 'jobs',
  version: 1,
  fields: {
    type: { type: 'text', of: ({ type }) => type },
    state: { type: 'text', of: ({ state }) => state },
    labels: { type: 'texts', of: ({ labels }) => labels ?? [] },
    ancestors: { type: 'texts', of: ({ ancestors }) => ancestors },
    parent: { type: 'text', of: ({ ancestors }) => ancestors.at(-1) },
    queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
    priority: { type: 'number', of: ({ priority }) => priority },
    order: { type: 'number', of: ({ order }) => order },
    /** the type of one that is not over */
    open: { type: 'text', of: (job) => (isOver(job.state) ? undefined : job.type) },
    /** the type of one that may be taken */
    ready: { type: 'text', of: (job) => (isReady(job.state) ? job.type : undefined) },
    /** when somebody has to look at it: it is due, or its lease has run out; by the clock of the store */
    lookTime: { type: 'number', of: ({ dueTime, lease }) => dueTime ?? lease?.until },
    removeTime: { type: 'number', of: ({ removeTime }) => removeTime },
  },
  together: [
    ['ready', 'priority', 'order'],
    ['type', 'lookTime'],
  ],
}

/** Some of the items of a job. Its id is the job's and its number. */
export interface JobBatch {
  /** once they are done: their keys */
  readonly items: readonly Json[]
  /** what became of them, in the order of `items`, once they are done */
  readonly outcomes?: readonly ItemOutcome[]
}

export const JOB_BATCHES: CollectionSpec<JobBatch> = { name: 'job_batches', version: 1, fields: {} }

/** Which job of a serial type was taken last. Its id is the type. */
export interface JobTurn {
  readonly job: string
}

export const JOB_TURNS: CollectionSpec<JobTurn> = { name: 'job_turns', version: 1, fields: {} }

/** The log of events of jobs has one partition. */
export const JOB_LOG = 'jobs'
export const PARTITION = 0

export function batchId(job: string, number: number): string {
  return `${job}/${number}`
}
