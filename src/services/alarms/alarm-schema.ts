/** Bodies and answers as the API page shows them. The service reads bodies itself. */
import { Type } from 'typebox'
import { REVISION } from '#services/shared'
import { SEVERITIES, STATUSES } from './words.ts'

const Text = Type.String()
const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
const Time = Type.Union([IsoTime, Type.Number({ description: 'epoch ms' })])
const AnyObject = Type.Record(Text, Type.Unknown())
const SeveritySchema = Type.Enum(SEVERITIES, { description: 'in any letter case' })
const StatusSchema = Type.Enum(STATUSES, { description: 'in any letter case' })
const Source = Type.Object({ id: Text }, { additionalProperties: true, description: 'the resource, and what else' })
const Escalation = Type.Object(
  { after: Text, severity: SeveritySchema },
  { description: 'unless acknowledged by then' },
)
const Assignee = Type.Union([Text, Type.Null()])

const extras = {
  autoClearAfter: Type.Optional(Type.String({ description: 'ISO 8601 duration after it was raised last' })),
  escalation: Type.Optional(Escalation),
  dedupKey: Type.Optional(
    Type.String({ description: 'what makes two alarms the same one, instead of source and type' }),
  ),
}

export const NewAlarmSchema = Type.Object(
  {
    type: Text,
    text: Text,
    severity: SeveritySchema,
    source: Source,
    status: Type.Optional(StatusSchema),
    timestamp: Type.Optional(Time),
    assignee: Type.Optional(Assignee),
    snoozeUntil: Type.Optional(Time),
    ...extras,
  },
  { title: 'new alarm', additionalProperties: true, description: 'other members become additional properties' },
)

export const AlarmChangeSchema = Type.Object(
  {
    severity: Type.Optional(SeveritySchema),
    status: Type.Optional(StatusSchema),
    assignee: Type.Optional(Assignee),
    snoozeUntil: Type.Optional(Type.Union([Time, Type.Null()])),
  },
  { title: 'alarm update', description: 'at least one of them' },
)

const ChangeSchema = Type.Object({
  attribute: Text,
  type: Text,
  oldValue: Type.Union([Text, Type.Null()]),
  newValue: Type.Union([Text, Type.Null()]),
})

const AuditRecordSchema = Type.Object({
  id: Text,
  type: Text,
  text: Text,
  timestamp: IsoTime,
  changes: Type.Optional(Type.Array(ChangeSchema)),
})

export const AlarmSchema = Type.Object(
  {
    id: Text,
    self: Text,
    creationTime: IsoTime,
    lastUpdateTime: IsoTime,
    lastTriggeredTime: IsoTime,
    type: Text,
    timestamp: IsoTime,
    text: Text,
    source: Source,
    status: StatusSchema,
    severity: SeveritySchema,
    count: Type.Integer({ minimum: 1 }),
    revision: Type.Integer({ minimum: 1, description: REVISION }),
    assignee: Type.Optional(Text),
    history: Type.Array(AuditRecordSchema),
    additionalProperties: Type.Optional(AnyObject),
    snoozeUntil: Type.Optional(IsoTime),
    ...extras,
  },
  { title: 'alarm' },
)

export const AlarmListSchema = Type.Object(
  {
    self: Text,
    next: Type.Optional(Text),
    previous: Type.Optional(Text),
    total: Type.Integer({ minimum: 0 }),
    alarms: Type.Array(AlarmSchema),
  },
  { title: 'alarms' },
)

export const AlarmWhySchema = Type.Object(
  {
    alarm: Text,
    raisedBy: Text,
    cause: Type.Union([
      Type.Object({
        task: Text,
        node: Text,
        effect: Text,
        trigger: Type.Optional(Text),
        hops: Type.Integer({ minimum: 0 }),
      }),
      Type.Null(),
    ]),
    explanation: Type.Unknown(),
  },
  { title: 'why an alarm was raised' },
)

const BatchQuerySchema = Type.Object({
  ids: Type.Optional(Type.Array(Text)),
  type: Type.Optional(Type.Union([Text, Type.Array(Text)])),
  status: Type.Optional(Type.Union([Text, Type.Array(Text)])),
  severity: Type.Optional(Type.Union([Text, Type.Array(Text)])),
  source: Type.Optional(Type.Union([Text, Type.Array(Text)])),
  dateFrom: Type.Optional(Type.Integer()),
  dateTo: Type.Optional(Type.Integer()),
  assignee: Type.Optional(Text),
})

export const AlarmBatchSchema = Type.Object(
  {
    entity: Type.Literal('alarm'),
    action: Type.Enum(['delete', 'update']),
    query: BatchQuerySchema,
    actionParameters: Type.Optional(AlarmChangeSchema),
  },
  { title: 'batch operation on alarms' },
)

const Operation = Type.Object({
  entity: Type.Literal('alarm'),
  action: Text,
  description: Type.Optional(Text),
})
const Entries = Type.Record(Text, Type.Object({ statusCode: Type.Integer(), error: Type.Optional(Text) }))

export const QueuedAlarmBatchSchema = Type.Object(
  {
    statusCode: Type.Literal(202),
    uri: Text,
    entity: Type.Object({ id: Text, queueTime: IsoTime, operation: Operation }),
  },
  { title: 'queued batch operation on alarms' },
)

export const AlarmBatchStatusSchema = Type.Object(
  {
    id: Text,
    user: Text,
    operation: Operation,
    queueTime: IsoTime,
    finishedTime: Type.Optional(IsoTime),
    results: Type.Optional(Type.Object({ success: Entries, failure: Entries })),
  },
  { title: 'status of a batch operation on alarms' },
)

export const ErrorSchema = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Text,
    code: Text,
    details: Type.Optional(Type.Array(Text)),
  },
  { title: 'error of the alarms service' },
)
