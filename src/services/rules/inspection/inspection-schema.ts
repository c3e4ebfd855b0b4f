/** Schemas for inspecting running tasks: nodes, log, events, deliveries. */
import { Type } from 'typebox'
import type { EngineEvent } from '#core'
import { CHECKED, checked, closed, type Decoded, instant, refined } from '#services/shared/contract'
import { AnyObject, EpochMs, ISSUE_TYPES, IsoTime, LOG_LEVELS, Text } from '../shared-schema.ts'

export const RuntimeNodeSchema = Type.Object(
  {
    name: Text,
    states: Type.Array(Type.Record(Text, Type.Number()), { description: 'one state per object' }),
    mostLikelyState: Type.Union([Type.Object({ state: Text, probability: Type.Number() }), Type.Null()]),
    members: Type.Optional(
      Type.Object(
        { count: Type.Integer(), known: Type.Integer() },
        { description: 'of a node with one state per member of a group: members, and those with a known state' },
      ),
    ),
    sensor: Type.Optional(Type.Object({ name: Text, version: Type.Optional(Text), label: Text })),
    properties: Type.Optional(AnyObject),
    rawData: Type.Optional(Type.Unknown()),
    collectedTime: Type.Optional(EpochMs),
    error: Type.Optional(Type.Object({ time: EpochMs, message: Text })),
  },
  { title: 'RuntimeNode' },
)
export interface RuntimeNode extends Decoded<typeof RuntimeNodeSchema> {}

const state = Type.Optional(Type.String({ minLength: 1, description: 'a state of the node', ...CHECKED }))

const NodePushSchema = closed(
  { state, rawData: Type.Optional(AnyObject) },
  { title: 'push', minProperties: 1, description: 'required, at least one of the two' },
)
export const NodePush = checked(NodePushSchema, { subject: 'the push', ...ISSUE_TYPES })
export interface NodePush extends Decoded<typeof NodePushSchema> {}

/** Body of a POST to a node: `state=OPEN` or `operation=start`, sent as a form, as text or as JSON. */
const NodeCommandSchema = closed(
  { state, operation: Type.Optional(Type.Enum(['start', 'resume'])) },
  { minProperties: 1, description: 'one of the two' },
)
export const NodeCommand = checked(
  refined(NodeCommandSchema, (fields) => {
    if (Object.keys(fields as object).length === 1 || !Object.hasOwn(fields as object, 'state')) return []
    return [{ message: 'expected state=<state>, operation=start or operation=resume' }]
  }),
  { subject: 'the command', ...ISSUE_TYPES },
)
export interface NodeCommand extends Decoded<typeof NodeCommandSchema> {}

export const TASK_LOG = {
  taskId: Type.String({ minLength: 1 }),
  logLevel: Type.Optional(Type.Enum(LOG_LEVELS, { description: 'this level and above' })),
  messageContains: Type.Optional(Text),
  from: Type.Optional(instant),
  until: Type.Optional(instant),
  pageToken: Type.Optional(Text),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'default 100' })),
}
const TaskLogQuerySchema = closed(TASK_LOG, { title: 'task log query' })
export const TaskLogQuery = checked(TaskLogQuerySchema, { subject: 'the query', ...ISSUE_TYPES })
/** Times are epoch ms; `from` is inclusive, `until` exclusive. */
export interface TaskLogQuery extends Decoded<typeof TaskLogQuerySchema> {}

export const TaskLogSchema = Type.Object(
  {
    logs: Type.Array(
      Type.Object({
        time: IsoTime,
        at: Type.Optional(IsoTime),
        level: Type.Enum(LOG_LEVELS),
        message: Text,
        node: Type.Optional(Text),
        taskId: Text,
      }),
    ),
    pageToken: Type.Optional(Type.String({ description: 'token of the next, older page' })),
  },
  { title: 'TaskLog' },
)
export interface TaskLogPage extends Decoded<typeof TaskLogSchema> {}
export type TaskLogLine = TaskLogPage['logs'][number]

/** One event in a task's stream. Clients send its `id` back as `Last-Event-ID`. */
export interface StreamEvent {
  readonly id: string
  readonly event: EngineEvent | GapEvent
}

/** Sent first if events after the requested `Last-Event-ID` are no longer kept. */
export interface GapEvent {
  readonly type: 'gap'
  readonly task: string
  readonly time: number
}

export interface EventStreamOptions {
  readonly lastEventId?: string
  readonly signal: AbortSignal
}

export const DeliveryStatus = Type.Enum(['pending', 'retrying', 'delivered', 'dead'])
export const DeliverySchema = Type.Object(
  {
    id: Type.String({ description: 'the same on every attempt' }),
    node: Text,
    plug: Type.String({ description: 'name:version' }),
    status: DeliveryStatus,
    attempts: Type.Integer({ minimum: 0 }),
    createTime: EpochMs,
    lastAttemptTime: Type.Optional(EpochMs),
    nextAttemptTime: Type.Optional(EpochMs),
    message: Type.Optional(Text),
    error: Type.Optional(Text),
  },
  { title: 'Delivery' },
)
/** An actuator call and its progress. Times are epoch ms; `createTime` is the time of the input that fired the call. */
export interface Delivery extends Decoded<typeof DeliverySchema> {}
export const DeliveriesSchema = Type.Object(
  {
    values: Type.Unsafe<readonly Delivery[]>(Type.Array(DeliverySchema)),
    next: Type.Optional(Type.String({ description: '`after` of the next page; absent on the last one' })),
  },
  { title: 'TaskDeliveries' },
)
const TaskDeliverySchema = Type.Object(
  { ...DeliverySchema.properties, task: Type.String({ description: 'id of the task' }) },
  { title: 'DeliveryOfTask' },
)
export interface TaskDelivery extends Delivery {
  readonly task: string
}
export const AllDeliveriesSchema = Type.Object(
  {
    values: Type.Unsafe<readonly TaskDelivery[]>(Type.Array(TaskDeliverySchema)),
    next: Type.Optional(Type.String({ description: '`after` of the next page; absent on the last one' })),
  },
  { title: 'DeliveriesOfTasks' },
)
export interface AllDeliveries extends Decoded<typeof AllDeliveriesSchema> {}
export interface DeliveryPage extends Decoded<typeof DeliveriesSchema> {}
export interface DeliveryQuery {
  readonly limit: number
  readonly status?: Delivery['status']
  /** only deliveries that the list has after the delivery with this id, so older ones */
  readonly after?: string
}
