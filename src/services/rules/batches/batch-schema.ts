/** Operations on many tasks. */
import { Type } from 'typebox'
import type { NodeOverride } from '#core'
import { AnyObject, IsoTime, TaskStatusSchema, TaskTypeSchema } from '../shared-schema.ts'
import type { TaskFilter, TaskPreview } from '../tasks/task-schema.ts'
import { BATCH_ACTIONS, type BatchAction } from '../words.ts'

/** `query`: the filters of the task listing but `filter`; `ids` as a list, `tags` as an object. */
export const BatchQuerySchema = Type.Object(
  {
    ids: Type.Optional(Type.Union([Type.Array(Type.String()), Type.String()])),
    id: Type.Optional(Type.Union([Type.Array(Type.String()), Type.String()])),
    name: Type.Optional(Type.String()),
    resource: Type.Optional(Type.String()),
    resourceType: Type.Optional(Type.String({ minLength: 1 })),
    resourceMetadataExpression: Type.Optional(Type.String({ minLength: 1 })),
    type: Type.Optional(TaskTypeSchema),
    status: Type.Optional(TaskStatusSchema),
    template: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    templateVersion: Type.Optional(Type.Integer({ minimum: 1 })),
    plugin: Type.Optional(Type.String()),
    user: Type.Optional(Type.String()),
    finishedBefore: Type.Optional(Type.Number()),
    createdAfter: Type.Optional(Type.Number()),
    createdBefore: Type.Optional(Type.Number()),
    tags: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'a value, or a list of which one is enough, by key; null: there is the key. All keys must fit',
      }),
    ),
    tagKeys: Type.Optional(Type.Array(Type.String(), { minItems: 1, description: 'one of these keys is enough' })),
  },
  { title: 'batch query' },
)

const PluginUpdateSchema = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    fromVersion: Type.String({ minLength: 1, description: 'exact version, or any' }),
    toVersion: Type.String({ minLength: 1, description: 'exact version' }),
  },
  { title: 'plugin update' },
)
export interface PluginUpdate {
  readonly name: string
  readonly fromVersion: string
  readonly toVersion: string
}

export const UpdatePluginsSchema = Type.Object(
  { updates: Type.Array(PluginUpdateSchema, { minItems: 1 }) },
  { title: 'actionParameters of updatePlugins' },
)

export const ReloadSchema = Type.Object(
  { templateVersion: Type.Optional(Type.Integer({ minimum: 1, description: 'default: the newest version' })) },
  { title: 'actionParameters of reload' },
)

export const UpdatePropertiesSchema = Type.Object(
  {
    nodes: Type.Optional(Type.Array(AnyObject)),
    variables: Type.Optional(AnyObject),
    tags: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'merged; null removes a key' })),
    gatesNeedFullObservation: Type.Optional(Type.Boolean()),
    resetObservations: Type.Optional(Type.Boolean()),
    parallel: Type.Optional(Type.Boolean()),
  },
  { title: 'actionParameters of updateProperties' },
)
export interface PropertiesUpdate {
  readonly nodes?: readonly NodeOverride[]
  readonly variables?: Readonly<Record<string, unknown>>
  readonly tags?: Readonly<Record<string, unknown>>
  readonly gatesNeedFullObservation?: boolean
  readonly resetObservations?: boolean
  readonly parallel?: boolean
}

export const BatchRequestSchema = Type.Object(
  {
    entity: Type.Enum(['task']),
    action: Type.Enum(BATCH_ACTIONS),
    query: BatchQuerySchema,
    actionParameters: Type.Optional(AnyObject),
  },
  { title: 'batch' },
)
/** As it is posted. */
export interface BatchRequest {
  readonly entity: 'task'
  readonly action: BatchAction
  readonly query: Readonly<Record<string, unknown>>
  readonly actionParameters?: Readonly<Record<string, unknown>>
}

/** What is done to each task, read from a request. */
export type TaskAction =
  | { readonly action: 'delete' | 'start' | 'restart' | 'stop' | 'stopAndDelete' }
  | { readonly action: 'reload'; readonly templateVersion?: number }
  | { readonly action: 'updatePlugins'; readonly updates: readonly PluginUpdate[] }
  | { readonly action: 'updateProperties'; readonly update: PropertiesUpdate }

export interface ReadBatch {
  readonly where: TaskFilter
  readonly action: TaskAction
}

const operation = {
  entity: Type.Literal('task'),
  action: Type.Enum(BATCH_ACTIONS),
  description: Type.Optional(Type.String()),
}

/** 200: what the operation would do. */
export const BatchPreviewSchema = Type.Object(
  {
    dryRun: Type.Literal(true),
    operation: Type.Object(operation),
    total: Type.Integer(),
    tasks: Type.Array(AnyObject),
  },
  { title: 'BatchPreview' },
)

/** 202. */
export const QueuedBatchSchema = Type.Object(
  {
    statusCode: Type.Literal(202),
    uri: Type.String(),
    entity: Type.Object({
      id: Type.String(),
      user: Type.Optional(Type.String()),
      queueTime: IsoTime,
      operation: Type.Object(operation),
    }),
  },
  { title: 'QueuedBatch' },
)
export interface BatchOperation {
  readonly entity: 'task'
  readonly action: BatchAction
  readonly description: string
}
export interface QueuedBatch {
  readonly statusCode: 202
  readonly uri: string
  readonly entity: {
    readonly id: string
    readonly user: string
    readonly queueTime: string
    readonly operation: BatchOperation
  }
}

export const BatchEntrySchema = Type.Object({ statusCode: Type.Integer(), error: Type.Optional(Type.String()) })
export interface BatchEntry {
  readonly statusCode: number
  readonly error?: string
}

export const BatchStatusSchema = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    operation: Type.Object(operation),
    queueTime: IsoTime,
    finishedTime: Type.Optional(IsoTime),
    results: Type.Optional(
      Type.Object({
        success: Type.Record(Type.String(), BatchEntrySchema),
        failure: Type.Record(Type.String(), BatchEntrySchema),
      }),
    ),
  },
  { title: 'BatchStatus' },
)
/** While it runs there is neither `finishedTime` nor `results`. */
export interface BatchStatus {
  readonly id: string
  readonly user: string
  readonly operation: BatchOperation
  readonly queueTime: string
  readonly finishedTime?: string
  readonly results?: {
    readonly success: Readonly<Record<string, BatchEntry>>
    readonly failure: Readonly<Record<string, BatchEntry>>
  }
}

/** 200, for `dryRun=true`: nothing was changed. At most 1,000 tasks are looked into; `total` counts all. */
export interface BatchPreview {
  readonly dryRun: true
  readonly operation: BatchOperation
  readonly total: number
  readonly tasks: readonly TaskPreview[]
}
