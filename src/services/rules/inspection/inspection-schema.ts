/** A look into a task at work: nodes, log, events, deliveries. */
import { Type, type Static } from 'typebox'
import type { EngineEvent } from '#core'
import { AnyObject, EpochMs, IsoTime } from '../shared-schema.ts'
import { LOG_LEVELS, type LogLevel } from '../words.ts'

export const RuntimeNodeSchema = Type.Object(
  {
    name: Type.String(),
    states: Type.Array(Type.Record(Type.String(), Type.Number()), { description: 'one state per object' }),
    mostLikelyState: Type.Union([Type.Object({ state: Type.String(), probability: Type.Number() }), Type.Null()]),
    sensor: Type.Optional(
      Type.Object({ name: Type.String(), version: Type.Optional(Type.String()), label: Type.String() }),
    ),
    properties: Type.Optional(AnyObject),
    rawData: Type.Optional(Type.Unknown()),
    collectedTime: Type.Optional(EpochMs),
    error: Type.Optional(Type.Object({ time: EpochMs, message: Type.String() })),
  },
  { title: 'RuntimeNode' },
)
export interface RuntimeNode {
  readonly name: string
  readonly states: readonly Readonly<Record<string, number>>[]
  readonly mostLikelyState: { readonly state: string; readonly probability: number } | null
  readonly sensor?: { readonly name: string; readonly version?: string; readonly label: string }
  readonly properties?: Readonly<Record<string, unknown>>
  readonly rawData?: unknown
  readonly collectedTime?: number
  readonly error?: { readonly time: number; readonly message: string }
}

/** PATCH of a node; at least one of the two. */
export const NodePushSchema = Type.Object(
  { state: Type.Optional(Type.String({ minLength: 1 })), rawData: Type.Optional(AnyObject) },
  { title: 'push' },
)
export interface NodePush {
  readonly state?: string
  readonly rawData?: Record<string, unknown>
}

/** POST of a node: `state=OPEN` or `operation=start` as a form or text; also as JSON. */
export type NodeCommand =
  | { readonly state: string; readonly operation?: never }
  | { readonly operation: 'start' | 'resume'; readonly state?: never }

export const TaskLogQuerySchema = Type.Object(
  {
    taskId: Type.String({ minLength: 1 }),
    logLevel: Type.Optional(Type.Enum(LOG_LEVELS, { description: 'this level and those above it' })),
    messageContains: Type.Optional(Type.String()),
    from: Type.Optional(Type.Union([Type.Number(), Type.String()], { description: 'epoch ms or ISO 8601' })),
    until: Type.Optional(Type.Union([Type.Number(), Type.String()])),
    pageToken: Type.Optional(Type.String()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  },
  { title: 'task log query' },
)
/** Times are epoch ms, `from` included, `until` not. */
export interface TaskLogQuery {
  readonly taskId: string
  readonly logLevel?: LogLevel
  readonly messageContains?: string
  readonly from?: number
  readonly until?: number
  readonly pageToken?: string
  /** default 100 */
  readonly limit?: number
}

export const TaskLogSchema = Type.Object(
  {
    logs: Type.Array(
      Type.Object({
        time: IsoTime,
        at: Type.Optional(IsoTime),
        level: Type.Enum(LOG_LEVELS),
        message: Type.String(),
        node: Type.Optional(Type.String()),
        taskId: Type.String(),
      }),
    ),
    pageToken: Type.Optional(Type.String({ description: 'for the next, older page' })),
  },
  { title: 'TaskLog' },
)
export type TaskLogPage = Static<typeof TaskLogSchema>
export type TaskLogLine = TaskLogPage['logs'][number]

/** One event of a task's stream. `id` is what `Last-Event-ID` takes. */
export interface StreamEvent {
  readonly id: string
  readonly event: EngineEvent | GapEvent
}

/** Told first when events after the asked `Last-Event-ID` are no longer kept. */
export interface GapEvent {
  readonly type: 'gap'
  readonly task: string
  readonly time: number
}

export interface EventStreamOptions {
  readonly lastEventId?: string
  readonly signal: AbortSignal
}

export const DeliverySchema = Type.Object(
  {
    id: Type.String(),
    node: Type.String(),
    plug: Type.String({ description: 'name:version' }),
    status: Type.Enum(['pending', 'retrying', 'delivered', 'dead']),
    attempts: Type.Integer({ minimum: 0 }),
    createTime: EpochMs,
    lastAttemptTime: Type.Optional(EpochMs),
    nextAttemptTime: Type.Optional(EpochMs),
    message: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  },
  { title: 'Delivery' },
)
