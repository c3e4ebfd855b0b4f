/** Bodies and queries of tasks. */
import { Type, type Static } from 'typebox'
import {
  type BnGraph,
  BnGraphSchema,
  LOST_PARTS,
  RuleSchema,
  type TaskFromTemplate,
  TaskFromTemplateSchema,
  TaskSettingsSchema,
  type TaskType,
  type VariableDeclaration,
} from '#core/spi'
import type { Lost, Rule, TaskSettings } from '#core'
import {
  AnyObject,
  EpochMs,
  pagedSchema,
  TaskStatusSchema,
  TaskTypeSchema,
  WireIssueSchema,
  type WireIssue,
} from '../shared-schema.ts'
import type { GraphFormat, TaskStatusName } from '../shared-schema.ts'
import { REVISION } from '#services/shared'

/** The old form: settings at the top, the graph in `bn` form under `network`. */
export const NetworkTaskSchema = Type.Object(
  { network: BnGraphSchema, ...TaskSettingsSchema.properties },
  { title: 'task with network' },
)

/** A rule whose graph is in `bn` form, settings under `task`. */
export const BnTaskSchema = Type.Object(
  {
    ...BnGraphSchema.properties,
    variables: RuleSchema.properties.variables,
    task: Type.Optional(TaskSettingsSchema),
  },
  { title: 'rule in bn form' },
)

/** The body of POST and PUT: any of the four forms, told apart by `template`, `network` and `nodes`. */
export const TaskSpecificationSchema = Type.Union(
  [RuleSchema, TaskFromTemplateSchema, BnTaskSchema, NetworkTaskSchema],
  { description: 'a rule, a rule in bn form, a template by name with settings, or settings with a network' },
)

/** Of a rule: values by name, or declarations, as in a template. */
interface WithVariables {
  variables?: Readonly<Record<string, unknown>> | readonly VariableDeclaration[]
}
export type BnTask = BnGraph & WithVariables & { task?: TaskSettings }
export type NetworkTask = TaskSettings & { network: BnGraph }
export type TaskSpecification = (Rule & WithVariables) | TaskFromTemplate | BnTask | NetworkTask

/** What creation answers. */
export const CreatedTaskSchema = Type.Object(
  { ID: Type.String(), warnings: Type.Optional(Type.Array(WireIssueSchema)) },
  { title: 'CreatedTask' },
)
export interface CreatedTask {
  readonly ID: string
  readonly warnings?: readonly WireIssue[]
}

const LostSchema = Type.Object({ node: Type.String(), what: Type.Array(Type.Enum(LOST_PARTS)) }, { title: 'Lost' })

function readings(description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, description: `${description}; once a message was stamped` }))
}

export const HealthSchema = Type.Object(
  {
    errorsCount: Type.Integer({ minimum: 0, description: 'failed among the last 64 invocations' }),
    errorsRate: Type.Number({ minimum: 0, maximum: 1 }),
    dropped: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'inputs and calls of actuators dropped in this run, since too many waited',
      }),
    ),
    late: readings('readings that came after a newer one of their sensor'),
    duplicate: readings('messages that were taken before'),
    skewed: readings('readings from before the time of the task that were not late: taken at its time'),
    forgotten: readings('readings that are not known any more if they come again, as too many were remembered'),
    waiting: Type.Optional(
      Type.Object(
        {
          inputs: Type.Integer(),
          effects: Type.Integer(),
          since: Type.Optional(Type.Number({ description: 'epoch ms' })),
        },
        { title: 'Waiting', description: 'while the task is behind: what waits, and the time of the input at hand' },
      ),
    ),
  },
  { title: 'Health' },
)

/** A task as GET, PUT, start and stop give it. */
export const TaskEntitySchema = Type.Object(
  {
    ID: Type.String(),
    name: Type.String(),
    status: TaskStatusSchema,
    user: Type.String(),
    createTime: EpochMs,
    lastUpdateTime: Type.Optional(EpochMs),
    revision: Type.Integer({ minimum: 0, description: REVISION }),
    template: Type.Optional(Type.String({ description: 'absent for a task whose rule came with the request' })),
    templateVersion: Type.Optional(Type.Integer({ minimum: 1, description: 'of the template that it is made of' })),
    resource: Type.Optional(Type.String()),
    resourceIds: Type.Array(Type.String()),
    type: TaskTypeSchema,
    frequency: Type.Optional(Type.Number({ description: 'ms, of a periodic task' })),
    cron: Type.Optional(Type.String()),
    rrule: Type.Optional(Type.String()),
    timeZone: Type.Optional(Type.String()),
    misfire: Type.Optional(Type.String()),
    overlap: Type.Optional(Type.String()),
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
    nodes: Type.Optional(Type.Array(AnyObject, { description: 'bn only: nodes with their states of now' })),
    lost: Type.Optional(
      Type.Array(LostSchema, { description: 'answer to a change of a running task: what touched nodes lost by it' }),
    ),
    warnings: Type.Optional(Type.Array(WireIssueSchema, { description: 'answer to a change by PUT' })),
  },
  { title: 'Task' },
)

export interface TaskEntity {
  readonly ID: string
  readonly name: string
  readonly status: TaskStatusName
  readonly user: string
  readonly createTime: number
  readonly lastUpdateTime?: number
  /** raised by every change, also of its status: the ETag */
  readonly revision: number
  readonly template?: string
  readonly templateVersion?: number
  readonly resource?: string
  readonly resourceIds: readonly string[]
  readonly type: TaskType
  readonly frequency?: number
  readonly cron?: string
  readonly rrule?: string
  readonly timeZone?: string
  readonly misfire?: string
  readonly overlap?: string
  readonly resetObservations: boolean
  readonly parallel: boolean
  readonly gatesNeedFullObservation: boolean
  readonly tags: Readonly<Record<string, unknown>>
  readonly variables?: Readonly<Record<string, unknown>>
  readonly startTime?: number
  readonly lastExecutionTime?: number
  readonly finishedTime?: number
  readonly nextTick?: number
  readonly invocationCount: number
  readonly error?: string
  readonly health?: Static<typeof HealthSchema>
  readonly network?: Readonly<Record<string, unknown>>
  readonly nodes?: readonly Readonly<Record<string, unknown>>[]
  /** in the answer to a change of a running task: what nodes that it touched lost by it */
  readonly lost?: readonly Lost[]
  /** in the answer to `replace` */
  readonly warnings?: readonly WireIssue[]
}

export const PagedTasksSchema = pagedSchema(TaskEntitySchema, 'PagedTasks')

/** One run of a task, newest first. */
export const TaskRunSchema = Type.Object(
  {
    run: Type.Integer({ minimum: 1 }),
    startTime: EpochMs,
    finishedTime: Type.Optional(EpochMs),
    status: TaskStatusSchema,
    error: Type.Optional(Type.String()),
  },
  { title: 'TaskRun' },
)
export type TaskRunRecord = Static<typeof TaskRunSchema>

/** What a listing and the query of a batch select by. All that are given must hold. */
export interface TaskFilter {
  /** `*` is any text */
  readonly name?: string
  /** the task's resource or one of its nodes' */
  readonly resource?: string
  /** one of these; not over HTTP */
  readonly resources?: readonly string[]
  /** id of the type of one of the task's resources */
  readonly resourceType?: string
  /** what the metadata of one of the task's resources says, in the language of whoever keeps resources */
  readonly resourceMetadataExpression?: string
  readonly type?: TaskType
  readonly status?: TaskStatusName
  readonly ids?: readonly string[]
  /** `name`, `name:version` or `name@version` */
  readonly plugin?: string
  /** null: tasks without a template */
  readonly template?: string | null
  readonly templateVersion?: number
  readonly user?: string
  /** epoch ms */
  readonly finishedBefore?: number
  readonly createdAfter?: number
  readonly createdBefore?: number
  /** each key must fit, with one of the values that are given for it; without a value the key is enough */
  readonly tags?: readonly TagFilter[]
  /** there is a tag with one of these keys */
  readonly tagKeys?: readonly string[]
  /** words that stand somewhere in name, id, resource, template, user or tags; not in a batch */
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
  /** default: the newest */
  readonly templateVersion?: number
}

export interface RemoveOptions {
  /** a running task is stopped first */
  readonly forceStop?: boolean
}

/** What `reload` would change. */
export const ReloadPreviewSchema = Type.Object(
  {
    ID: Type.String(),
    name: Type.String(),
    changed: Type.Boolean(),
    changes: Type.Array(
      Type.Object({ path: Type.String(), from: Type.Optional(Type.Unknown()), to: Type.Optional(Type.Unknown()) }),
    ),
    templateVersion: Type.Optional(Type.Integer({ minimum: 1, description: 'that the task would be made of' })),
    lost: Type.Optional(
      Type.Array(LostSchema, {
        description: 'of a task that runs: the nodes that would begin anew, and what each would lose by that',
      }),
    ),
    error: Type.Optional(Type.String({ description: 'why it would fail' })),
  },
  { title: 'TaskPreview' },
)
/** `path`: JSON pointer into the task with its simplified graph; an absent `from` or `to` means there is nothing. */
export interface TaskPreview {
  readonly ID: string
  readonly name: string
  readonly changed: boolean
  readonly changes: readonly DocumentChange[]
  /** of an update: the version of its template that the task would be made of */
  readonly templateVersion?: number
  /** of an update of a task that runs: the nodes that would begin anew, and what each would lose by that */
  readonly lost?: readonly Lost[]
  readonly error?: string
}
export interface DocumentChange {
  readonly path: string
  readonly from?: unknown
  readonly to?: unknown
}
