/** Commands that wait for their turn, and what became of those that had it. */
import type { Json } from '#kernel'
import type { CollectionSpec } from '#storage'

/** Its id orders the commands of a resource, and is the same on every attempt. */
export interface CommandJob {
  readonly resource: string
  /** as it came: `name`, `timestamp` and properties */
  readonly command: Readonly<Record<string, Json>>
  /** rules in a row that led to it */
  readonly hops: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
  /** who carries it out, and until when nobody else may: epoch ms by the clock of the store, in this session of it */
  readonly lease?: { readonly owner: string; readonly until: number; readonly session?: string }
}

export const COMMAND_JOBS: CollectionSpec<CommandJob> = {
  name: 'resource_command_jobs',
  version: 1,
  fields: { resource: { type: 'text', of: ({ resource }) => resource } },
}

/** One execution. Its id is that of the job. */
export interface CommandRecord {
  readonly resource: string
  /** the id of the job, to sort by */
  readonly order: string
  readonly shown: {
    readonly name: string
    /** ISO 8601, when it began */
    readonly executionTime: string
    /** `name:version` */
    readonly actuator?: string
    readonly result?: { readonly success: boolean; readonly message?: string; readonly rawData?: Json }
    /** of one that came to no actuator */
    readonly errorMessage?: string
  }
}

export const COMMAND_LOG: CollectionSpec<CommandRecord> = {
  name: 'resource_command_log',
  version: 1,
  fields: {
    resource: { type: 'text', of: ({ resource }) => resource },
    order: { type: 'text', of: ({ order }) => order },
  },
}
