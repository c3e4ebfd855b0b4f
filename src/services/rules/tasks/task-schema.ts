/** Schemas of the bodies and queries for tasks. */
import { Type } from 'typebox'
import {
  type BnGraph,
  BnGraphSchema,
  LOST_PARTS,
  RuleSchema,
  type TaskFromTemplate,
  TaskFromTemplateSchema,
  TaskSettingsSchema,
  type VariableDeclaration,
} from '#core/spi'
import type { Lost, Rule, TaskSettings } from '#core'
import { CHECKED, closed, type Decoded, instant, REVISION } from '#services/shared/contract'
import {
  AnyObject,
  EpochMs,
  type GraphFormat,
  pagedSchema,
  TaskStatus,
  TaskType,
  Text,
  Version,
  WireIssueSchema,
} from '../shared-schema.ts'
import { CHANGE_REHEARSAL } from '../rehearsals/rehearsal-schema.ts'

/** bytes; storage can search texts up to 2,000. A managed task's name combines template and resource: up to 1,023 */
export const MAX_TASK_NAME = 1_500
const name = Type.String({
  minLength: 1,
  maxLength: MAX_TASK_NAME,
  description: `at most ${MAX_TASK_NAME} bytes`,
  ...CHECKED,
})
const NamedRuleSchema = Type.Object(
  {
    ...RuleSchema.properties,
    task: Type.Object({ ...TaskSettingsSchema.properties, name }, { title: 'task settings' }),
  },
  { title: 'rule' },
)
const NamedTaskSchema = Type.Object({ ...TaskFromTemplateSchema.properties, name }, { title: 'task from template' })

/** The old form: settings at the top level, with the graph in `bn` form under `network`. */
const NetworkTaskSchema = Type.Object(
  { network: BnGraphSchema, ...TaskSettingsSchema.properties, name: Type.Optional(name) },
  { title: 'task with network' },
)

/** A rule whose graph is in `bn` form, settings under `task`. */
const BnTaskSchema = Type.Object(
  {
    ...BnGraphSchema.properties,
    variables: RuleSchema.properties.variables,
    task: Type.Optional(Type.Object({ ...TaskSettingsSchema.properties, name: Type.Optional(name) })),
  },
  { title: 'rule in bn form' },
)

/** Body of POST and PUT, in one of four forms that differ by `template`, `network` and `nodes`. */
export const TaskSpecificationSchema = Type.Union([NamedRuleSchema, NamedTaskSchema, BnTaskSchema, NetworkTaskSchema], {
  description: 'a rule, a rule in bn form, a template by name with settings, or settings with a network',
})

interface WithVariables {
  variables?: Readonly<Record<string, unknown>> | readonly VariableDeclaration[]
}
type BnTask = BnGraph & WithVariables & { task?: TaskSettings }
type NetworkTask = TaskSettings & { network: BnGraph }
export type TaskSpecification = (Rule & WithVariables) | TaskFromTemplate | BnTask | NetworkTask

export const CreatedTaskSchema = Type.Object(
  { ID: Text, warnings: Type.Optional(Type.Array(WireIssueSchema)) },
  { title: 'CreatedTask' },
)
export interface CreatedTask extends Decoded<typeof CreatedTaskSchema> {}

const LostSchema = Type.Unsafe<Lost>(
  Type.Object({ node: Text, what: Type.Array(Type.Enum(LOST_PARTS)) }, { title: 'Lost' }),
)

function readings(description: string) {
  return Type.Optional(
    Type.Integer({ minimum: 0, description: `${description}; absent until a message had a timestamp` }),
  )
}

const HealthSchema = Type.Object(
  {
    errorsCount: Type.Integer({ minimum: 0, description: 'failed among the last 64 invocations' }),
    errorsRate: Type.Number({ minimum: 0, maximum: 1 }),
    dropped: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'inputs and actuator calls dropped in this run because too many waited',
      }),
    ),
    late: readings('readings that arrived after a newer reading of their sensor'),
    duplicate: readings('messages that were already processed'),
    skewed: readings('readings older than the time of the task but not late, which were processed at its time'),
    forgotten: readings('readings whose repetition is no longer recognized, because too many were remembered'),
    waiting: Type.Optional(
      Type.Object(
        {
          inputs: Type.Integer(),
          effects: Type.Integer(),
          since: Type.Optional(Type.Number({ description: 'epoch ms' })),
        },
        {
          title: 'Waiting',
          description: 'while the task is behind: number of waiting inputs, and the time of the current input',
        },
      ),
    ),
  },
  { title: 'Health' },
)

export const TaskEntitySchema = Type.Object(
  {
    ID: Text,
    name: Text,
    status: TaskStatus,
    user: Text,
    createTime: EpochMs,
    lastUpdateTime: Type.Optional(EpochMs),
    revision: Type.Integer({ minimum: 0, description: REVISION }),
    template: Type.Optional(Type.String({ description: 'absent for a task created from a rule' })),
    templateVersion: Type.Optional(Type.Integer({ minimum: 1, description: 'name of its template' })),
    version: Type.Optional(
      Type.Integer({ minimum: 1, description: 'of a task without a template; raised by each change of its rule' }),
    ),
    note: Type.Optional(Type.String({ description: 'why this version was made' })),
    resource: Type.Optional(Text),
    resourceIds: Type.Array(Text),
    type: TaskType,
    frequency: Type.Optional(Type.Number({ description: 'ms, of a periodic task' })),
    cron: Type.Optional(Text),
    rrule: Type.Optional(Text),
    timeZone: Type.Optional(Text),
    misfire: Type.Optional(Text),
    overlap: Type.Optional(Text),
    resetObservations: Type.Boolean(),
    parallel: Type.Boolean(),
    gatesNeedFullObservation: Type.Boolean(),
    tags: AnyObject,
    variables: Type.Optional(AnyObject),
    startTime: Type.Optional(EpochMs),
    lastExecutionTime: Type.Optional(EpochMs),
    finishedTime: Type.Optional(EpochMs),
    nextTick: Type.Optional(EpochMs),
    invocationCount: Type.Integer({ minimum: 0 }),
    error: Type.Optional(Type.String({ description: 'why the task failed' })),
    health: Type.Optional(HealthSchema),
    network: Type.Optional(AnyObject),
    nodes: Type.Optional(Type.Array(AnyObject, { description: 'only for bn: nodes with their current states' })),
    lost: Type.Optional(
      Type.Array(LostSchema, { description: 'response to a change of a running task: what changed nodes lost' }),
    ),
    warnings: Type.Optional(Type.Array(WireIssueSchema, { description: 'response to a change with PUT' })),
    ...CHANGE_REHEARSAL,
  },
  { title: 'Task' },
)

export interface TaskEntity extends Decoded<typeof TaskEntitySchema> {}

export const PagedTasksSchema = pagedSchema(TaskEntitySchema, 'PagedTasks')

export const TaskRunSchema = Type.Object(
  {
    run: Type.Integer({ minimum: 1 }),
    startTime: EpochMs,
    finishedTime: Type.Optional(EpochMs),
    status: TaskStatus,
    error: Type.Optional(Text),
  },
  { title: 'TaskRun' },
)
export interface TaskRunRecord extends Decoded<typeof TaskRunSchema> {}

const filter = (description?: string) =>
  Type.String({ maxLength: 2_000, ...(description !== undefined && { description }), ...CHECKED })

export const TASK_FILTERS = {
  name: Type.Optional(filter('* is any text')),
  resource: Type.Optional(filter('resource of the task or one of its nodes')),
  resourceType: Type.Optional(filter('type of one of its resources')),
  resourceMetadataExpression: Type.Optional(filter('about one of its resources')),
  type: Type.Optional(TaskType),
  status: Type.Optional(TaskStatus),
  plugin: Type.Optional(filter('name or name:version')),
  template: Type.Optional(filter('null: tasks without a template')),
  templateVersion: Type.Optional(Version),
  user: Type.Optional(filter()),
  createdAfter: Type.Optional(instant),
  createdBefore: Type.Optional(instant),
  finishedBefore: Type.Optional(instant),
}
const FiltersSchema = closed(TASK_FILTERS)

/** Times are epoch ms. */
export interface TaskFilter extends Omit<Decoded<typeof FiltersSchema>, 'template'> {
  /** null: tasks that were not made from a template */
  readonly template?: string | null
  /** tasks bound to any of these resources; not available over HTTP */
  readonly resources?: readonly string[]
  readonly ids?: readonly string[]
  /** the task must have each of these tags, with one of the listed values if any are listed */
  readonly tags?: readonly TagFilter[]
  /** the task must have a tag with one of these keys */
  readonly tagKeys?: readonly string[]
  /** words to find in name, id, resource, template, user or tags; not available in a batch */
  readonly filter?: string
}

export interface TagFilter {
  readonly key: string
  readonly value?: string
}

export interface TaskQuery {
  readonly where: TaskFilter
  /** 0 to 100 */
  readonly hits: number
  readonly startIndex: number
}

export interface ShowOptions {
  readonly format: GraphFormat
  readonly includeHealth?: boolean
}

export interface ReloadOptions {
  readonly templateVersion?: number
  /** duration before now, over which the change is rehearsed first */
  readonly rehearse?: string
}

export interface RemoveOptions {
  readonly forceStop?: boolean
}

const ChangeSchema = Type.Object({
  path: Type.String({ description: 'JSON pointer into the task with its simplified graph' }),
  from: Type.Optional(Type.Unknown()),
  to: Type.Optional(Type.Unknown()),
})
/** An absent `from` or `to` means that the document on that side has no value at the path. */
export interface DocumentChange extends Decoded<typeof ChangeSchema> {}

export const ReloadPreviewSchema = Type.Object(
  {
    ID: Text,
    name: Text,
    changed: Type.Boolean(),
    changes: Type.Unsafe<readonly DocumentChange[]>(Type.Array(ChangeSchema)),
    templateVersion: Type.Optional(Type.Integer({ minimum: 1, description: 'from which the task would be created' })),
    lost: Type.Optional(
      Type.Array(LostSchema, {
        description: 'of a running task: the nodes that would restart, and the state that each would lose',
      }),
    ),
    error: Type.Optional(Type.String({ description: 'reason why it would fail' })),
    ...CHANGE_REHEARSAL,
  },
  { title: 'TaskPreview' },
)
export interface TaskPreview extends Decoded<typeof ReloadPreviewSchema> {}

export const TaskVersionSchema = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    user: Type.String({ description: 'author' }),
    createTime: EpochMs,
    note: Type.Optional(Type.String({ description: 'why it was made' })),
  },
  { title: 'TaskVersion' },
)
export interface TaskVersion extends Decoded<typeof TaskVersionSchema> {}
export const PagedTaskVersionsSchema = pagedSchema(TaskVersionSchema, 'PagedTaskVersions')

export const TaskVersionDetailSchema = Type.Object(
  {
    ...TaskVersionSchema.properties,
    rule: Type.Record(Text, Type.Unknown(), { description: 'with exact plug versions, and its settings' }),
    against: Type.Optional(Type.Integer({ minimum: 1, description: 'the version that changes refer to' })),
    changes: Type.Unsafe<readonly DocumentChange[]>(Type.Array(ChangeSchema)),
    restoring: ReloadPreviewSchema,
  },
  { title: 'TaskVersionDetail' },
)
export interface TaskVersionDetail extends Decoded<typeof TaskVersionDetailSchema> {}
