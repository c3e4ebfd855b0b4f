/** An operation over all resources of a type as it is stored: a walk along their ids. Those over lists are jobs. */
import type { CollectionSpec } from '#storage'

export interface WalkOperation {
  readonly id: string
  readonly user: string
  readonly operation: { readonly entity: string; readonly action: string; readonly description: string }
  /** epoch ms */
  readonly queueTime: number
  readonly finishedTime?: number
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

export const OPERATIONS: CollectionSpec<WalkOperation> = {
  name: 'resource_operations',
  version: 1,
  fields: {
    state: { type: 'text', of: ({ finishedTime }) => (finishedTime === undefined ? 'open-walk' : 'finished') },
    type: { type: 'text', of: ({ type }) => type },
    queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
    finishedTime: { type: 'number', of: ({ finishedTime }) => finishedTime },
  },
}
