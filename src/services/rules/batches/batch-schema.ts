/** Schemas of batch operations on many tasks. */
import { Type } from 'typebox'
import type { NodeOverride, TaskSettings } from '#core'
import { NodeOverrideSchema } from '#core/spi'
import { isPlainObject, MAX_ID_BYTES, movedTo, refusedBy, type Rights, shown } from '#kernel'
import {
  type Checked,
  CHECKED,
  checked,
  closed,
  type Decoded,
  nullable,
  type Problem,
  refined,
} from '#services/shared/contract'
import { AnyObject, ISSUE_TYPES, IsoTime, Text, Version } from '../shared-schema.ts'
import { ReloadPreviewSchema, TASK_FILTERS, type TaskPreview } from '../tasks/task-schema.ts'

export const BATCH_ACTIONS = [
  'updatePlugins',
  'updateProperties',
  'delete',
  'start',
  'restart',
  'stop',
  'reload',
  'stopAndDelete',
] as const
export type BatchAction = (typeof BATCH_ACTIONS)[number]

const id = Type.String({ maxLength: MAX_ID_BYTES, ...CHECKED })
const MAX_IDS = 10_000

const ids = Type.Optional(
  refined(Type.Union([Type.Array(id), id]), (value) => {
    if (!Array.isArray(value) || value.length <= MAX_IDS) return []
    const message = `the list has ${value.length} ids, more than ${MAX_IDS}`
    return [{ type: 'TOO_LARGE', message, suggestion: 'use several operations' }]
  }),
)
const Scalar = Type.Union([Text, Type.Number(), Type.Boolean()])
const tag = refined(Type.Union([Text, Type.Number(), Type.Boolean(), Type.Null(), Type.Array(Scalar)]), (value) =>
  [value].flat().every((one) => ['string', 'number', 'boolean'].includes(typeof one)) || value === null
    ? []
    : [
        {
          message: `${shown(value)} is not a value of a tag`,
          suggestion: 'write a text, a number, true or false, a list of them, or null for any value',
        },
      ],
)

/** The filters of the task listing except `filter`, with `ids` as an array and `tags` as an object. */
export const BatchQuerySchema = closed(
  {
    ids,
    id: ids,
    ...TASK_FILTERS,
    resourceType: Type.Optional(Type.String({ ...TASK_FILTERS.resourceType, minLength: 1 })),
    resourceMetadataExpression: Type.Optional(
      Type.String({ ...TASK_FILTERS.resourceMetadataExpression, minLength: 1 }),
    ),
    template: Type.Optional(nullable(TASK_FILTERS.template)),
    tags: Type.Optional(
      Type.Record(Text, tag, {
        description: 'by key: a value, a list of alternatives, or null for any value. All keys must match',
      }),
    ),
    tagKeys: Type.Optional(
      Type.Array(Type.String({ maxLength: 1_000, ...CHECKED }), {
        minItems: 1,
        description: 'at least one of these keys must exist',
      }),
    ),
  },
  { title: 'batch query', ...CHECKED, patternProperties: { '^tags[.]': tag } },
)

const PluginUpdateSchema = closed(
  {
    name: Type.String({ minLength: 1 }),
    fromVersion: Type.String({ minLength: 1, description: 'exact version, or any' }),
    toVersion: Type.String({ minLength: 1, description: 'exact version', ...CHECKED }),
  },
  { title: 'plugin update' },
)
export interface PluginUpdate extends Decoded<typeof PluginUpdateSchema> {}

export const UpdatePluginsSchema = closed({ updates: Type.Array(PluginUpdateSchema, { minItems: 1 }) })

export const PROPERTIES = {
  nodes: Type.Optional(Type.Unsafe<readonly NodeOverride[]>(Type.Array(NodeOverrideSchema))),
  variables: Type.Optional(AnyObject),
  tags: Type.Optional(Type.Record(Text, Type.Unknown(), { description: 'merged; null removes a key' })),
  gatesNeedFullObservation: Type.Optional(Type.Boolean()),
  resetObservations: Type.Optional(Type.Boolean()),
  parallel: Type.Optional(Type.Boolean()),
}
const UpdatePropertiesSchema = refined(closed(PROPERTIES), (update) =>
  Object.keys(update as object).length > 0
    ? []
    : [{ message: 'does not update anything', suggestion: 'write "nodes": [...], "variables" or "tags"' }],
)
export interface PropertiesUpdate
  extends Pick<TaskSettings, 'variables'>, Omit<Decoded<typeof UpdatePropertiesSchema>, 'variables'> {}

const OF_PARAMETERS = { subject: 'the batch', ...ISSUE_TYPES }
const PARAMETERS: Readonly<Partial<Record<BatchAction, Checked>>> = {
  updatePlugins: checked(UpdatePluginsSchema, OF_PARAMETERS),
  updateProperties: checked(UpdatePropertiesSchema, OF_PARAMETERS),
  reload: checked(closed({ templateVersion: Type.Optional(Version) }), OF_PARAMETERS),
}
const NO_PARAMETERS = checked(closed({}), OF_PARAMETERS)

export function parameterProblems(action: BatchAction | undefined, parameters: object, at: string): readonly Problem[] {
  if (action === undefined || !BATCH_ACTIONS.includes(action)) return []
  const issues = refusedBy(() => (PARAMETERS[action] ?? NO_PARAMETERS).read(parameters))
  return issues.map((issue) => {
    const { path, fix: [operation] = [], ...said } = movedTo(issue, `${at}${issue.path}`)
    return { ...said, at: path, ...(operation && { fix: () => operation }) }
  })
}

const BatchRequestSchema = closed(
  {
    entity: Type.Enum(['task']),
    action: Type.Enum(BATCH_ACTIONS),
    query: BatchQuerySchema,
    actionParameters: Type.Optional(Type.Record(Text, Type.Unknown(), { description: 'of the action', ...CHECKED })),
  },
  { title: 'batch' },
)
export const BatchRequest = checked(
  refined(BatchRequestSchema, (request) => {
    const { action, actionParameters = {} } = request as Decoded<typeof BatchRequestSchema>
    if (!isPlainObject(actionParameters)) return []
    return parameterProblems(action, actionParameters, '/actionParameters')
  }),
  { subject: 'the batch', ...ISSUE_TYPES },
)
export interface BatchRequest extends Omit<Decoded<typeof BatchRequestSchema>, 'query'> {
  readonly query: Readonly<Record<string, unknown>>
}

export type TaskAction =
  | { readonly action: 'delete' | 'start' | 'restart' | 'stop' | 'stopAndDelete' }
  | {
      readonly action: 'reload'
      readonly templateVersion?: number
      /** for roll-outs: the version may be a draft */
      readonly takesDrafts?: boolean
    }
  | { readonly action: 'updatePlugins'; readonly updates: readonly PluginUpdate[] }
  /** `rights`: of the caller; absent: all rights */
  | { readonly action: 'updateProperties'; readonly update: PropertiesUpdate; readonly rights?: Rights | undefined }

export function removes({ action }: TaskAction): boolean {
  return action === 'delete' || action === 'stopAndDelete'
}

const OperationSchema = Type.Object({
  entity: Type.Literal('task'),
  action: Type.Enum(BATCH_ACTIONS),
  description: Text,
})
export interface BatchOperation extends Decoded<typeof OperationSchema> {}
const operation = Type.Unsafe<BatchOperation>(OperationSchema)

/** The response to `dryRun=true`, which changes nothing. Lists at most 1,000 tasks; `total` counts all. */
export const BatchPreviewSchema = Type.Object(
  {
    dryRun: Type.Literal(true),
    operation,
    total: Type.Integer(),
    tasks: Type.Unsafe<readonly TaskPreview[]>(Type.Array(ReloadPreviewSchema)),
  },
  { title: 'BatchPreview' },
)
export interface BatchPreview extends Decoded<typeof BatchPreviewSchema> {}

export const QueuedBatchSchema = Type.Object(
  {
    statusCode: Type.Literal(202),
    uri: Text,
    entity: Type.Object({ id: Text, user: Text, queueTime: IsoTime, operation }),
  },
  { title: 'QueuedBatch' },
)
export interface QueuedBatch extends Decoded<typeof QueuedBatchSchema> {}

const BatchEntrySchema = Type.Object({ statusCode: Type.Integer(), error: Type.Optional(Text) })
export interface BatchEntry extends Decoded<typeof BatchEntrySchema> {}
const entries = Type.Unsafe<Readonly<Record<string, BatchEntry>>>(Type.Record(Text, BatchEntrySchema))

/** `finishedTime` and `results` are absent while the batch runs. */
export const BatchStatusSchema = Type.Object(
  {
    id: Text,
    user: Text,
    operation,
    queueTime: IsoTime,
    finishedTime: Type.Optional(IsoTime),
    results: Type.Optional(Type.Object({ success: entries, failure: entries })),
  },
  { title: 'BatchStatus' },
)
export interface BatchStatus extends Decoded<typeof BatchStatusSchema> {}
