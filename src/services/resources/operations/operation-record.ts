/** An operation over all resources of a type as it is stored: a walk along their ids. Those over lists are jobs. */
import type { CollectionSpec } from '#storage'

/** What is done to each resource or type of a list. */
export type ListAction =
  | { readonly entity: 'resource'; readonly action: 'delete'; readonly cascade?: readonly string[] }
  | { readonly entity: 'resource'; readonly action: 'patchOrInsert' }
  | { readonly entity: 'resourcetype'; readonly action: 'delete' }

interface OperationHead {
  readonly id: string
  readonly user: string
  readonly operation: { readonly entity: string; readonly action: string; readonly description: string }
  /** epoch ms */
  readonly queueTime: number
  readonly finishedTime?: number
}

/** As older versions stored it. */
interface OldListOperation extends OperationHead {
  readonly kind: 'list'
  readonly what: ListAction
  /** how many parts there are, and how many of them are done */
  readonly parts: number
  readonly done: number
}

export interface WalkOperation extends OperationHead {
  readonly kind: 'walk'
  /** id of the type */
  readonly type: string
  /** references in the metadata of the type changed too */
  readonly binds?: boolean
  /** the last resource that is done */
  readonly after?: string
  /** resources that are done, and how many there were when it began */
  readonly done: number
  readonly total: number
  /** what became of templates that could not be used: the text and for how many resources */
  readonly failed?: Readonly<Record<string, { readonly error: string; readonly count: number }>>
}

export type OperationRecord = OldListOperation | WalkOperation

export const OPERATIONS: CollectionSpec<OperationRecord> = {
  name: 'resource_operations',
  version: 1,
  fields: {
    /** `open-walk` or `finished`; before it is a job, `open-list` */
    state: { type: 'text', of: ({ kind, finishedTime }) => (finishedTime === undefined ? `open-${kind}` : 'finished') },
    type: { type: 'text', of: (record) => (record.kind === 'walk' ? record.type : undefined) },
    queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
    finishedTime: { type: 'number', of: ({ finishedTime }) => finishedTime },
  },
}
