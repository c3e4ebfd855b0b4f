/**
 * An operation that goes on after its request, as it is stored: over a list of things, in parts that are finished one
 * after the other, or over all resources of a type, by a walk along their ids.
 */
import type { Json } from '../../../kernel/json.ts'
import type { CollectionSpec } from '../../../storage/contract.ts'

/** What is done to each thing of a list. */
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

export interface ListOperation extends OperationHead {
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

export type OperationRecord = ListOperation | WalkOperation

export const OPERATIONS: CollectionSpec<OperationRecord> = {
  name: 'resource_operations',
  version: 1,
  fields: {
    /** `open-list`, `open-walk` or `finished` */
    state: { type: 'text', of: ({ kind, finishedTime }) => (finishedTime === undefined ? `open-${kind}` : 'finished') },
    type: { type: 'text', of: (record) => (record.kind === 'walk' ? record.type : undefined) },
    queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
    finishedTime: { type: 'number', of: ({ finishedTime }) => finishedTime },
  },
}

/** Some of the things of a list, and what became of them once the part is done. Its id is the operation's and its number. */
export interface OperationPart {
  readonly ids: readonly string[]
  /** of `patchOrInsert`: in the order of `ids` */
  readonly bodies?: readonly Json[]
  /** in the order of `ids` */
  readonly results?: readonly OperationEntry[]
}

export interface OperationEntry {
  readonly statusCode: number
  readonly error?: string
}

export const OPERATION_PARTS: CollectionSpec<OperationPart> = {
  name: 'resource_operation_parts',
  version: 1,
  fields: {},
}

export function partId(operation: string, number: number): string {
  return `${operation}/${number}`
}
