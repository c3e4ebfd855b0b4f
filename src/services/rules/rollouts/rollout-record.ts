/** The stored records of roll-outs and of their tasks. */
import type { Rights } from '#kernel'
import type { CollectionSpec } from '#storage'
import type { RolloutMode, RolloutStatus, StopCondition } from './rollout-schema.ts'

export interface RolloutRecord {
  readonly id: string
  readonly template: string
  readonly version: number
  readonly mode: RolloutMode
  readonly status: RolloutStatus
  readonly user: string
  /** epoch ms */
  readonly createTime: number
  readonly finishedTime?: number
  readonly reason?: string
  readonly note?: string
  readonly percent?: number
  readonly resources?: readonly string[]
  /** ms */
  readonly tolerance: number
  readonly stop?: StopCondition
  /** who promoted it, with whose rights the version is published */
  readonly by?: { readonly user: string; readonly rights?: Rights }
  /** the version that was published before, once this one is to be published */
  readonly replaced?: number
}

/** Statuses in which the roll-out works, or a version runs because of it. */
export const OPEN = ['starting', 'running', 'promoting', 'rollingBack', 'stopping'] as const

export function isOpen({ status }: RolloutRecord): boolean {
  return (OPEN as readonly string[]).includes(status)
}

export const ROLLOUTS: CollectionSpec<RolloutRecord> = {
  name: 'rollouts',
  version: 1,
  audited: true,
  fields: {
    template: { type: 'text', of: ({ template }) => template },
    status: { type: 'text', of: ({ status }) => status },
    createTime: { type: 'number', of: ({ createTime }) => createTime },
  },
  together: [['template', 'createTime']],
}

/** A task of a roll-out; its id is that of the shadow, which exists while `source` is present. */
export interface RolloutTaskRecord {
  readonly rollout: string
  readonly task: string
  /** version of the task before it was moved */
  readonly from?: number
  readonly moved?: boolean
  readonly error?: string
  /** what the shadow runs: counts its starts, source and settings as of a task */
  readonly epoch?: number
  readonly source?: string
  /** state of the live task that the shadow was begun for */
  readonly of?: string
  readonly rights?: Rights
}

export const ROLLOUT_TASKS: CollectionSpec<RolloutTaskRecord> = {
  name: 'rollout_tasks',
  version: 1,
  fields: {
    rollout: { type: 'text', of: ({ rollout }) => rollout },
    task: { type: 'text', of: ({ task }) => task },
    source: { type: 'text', of: ({ source }) => source },
    moved: { type: 'text', of: ({ moved }) => (moved === true ? 'true' : undefined) },
    failed: { type: 'text', of: ({ error }) => (error === undefined ? undefined : 'true') },
  },
}
