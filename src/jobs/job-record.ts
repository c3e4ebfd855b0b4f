/** Defines how jobs are stored: documents, batches of items, and a log of events. */
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
    open: { type: 'text', of: (job) => (isOver(job.state) ? undefined : job.type) },
    ready: { type: 'text', of: (job) => (isReady(job.state) ? job.type : undefined) },
    lookTime: { type: 'number', of: ({ dueTime, lease }) => dueTime ?? lease?.until },
    removeTime: { type: 'number', of: ({ removeTime }) => removeTime },
  },
  together: [
    ['ready', 'priority', 'order'],
    ['type', 'lookTime'],
  ],
}

export interface JobBatch {
  /** the items; replaced by their keys once done */
  readonly items: readonly Json[]
  /** outcomes in the order of `items`; present once the batch is done */
  readonly outcomes?: readonly ItemOutcome[]
}

export const JOB_BATCHES: CollectionSpec<JobBatch> = { name: 'job_batches', version: 1, fields: {} }

/** The last started job of a serial type. The document's id is the type. */
export interface JobTurn {
  readonly job: string
}

export const JOB_TURNS: CollectionSpec<JobTurn> = { name: 'job_turns', version: 1, fields: {} }

export const JOB_LOG = 'jobs'

export function batchId(job: string, number: number): string {
  return `${job}/${number}`
}
