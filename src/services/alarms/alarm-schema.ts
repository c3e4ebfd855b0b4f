/** Schemas of alarms, their changes and bulk operations, with limits. */
import { Type } from 'typebox'
import {
  CHECKED,
  checked,
  closed,
  type Decoded,
  duration,
  id,
  instant,
  nullable,
  oneOrMore,
  open,
  type Problem,
  readOnly,
  refined,
  REVISION,
  text,
  word,
  worded,
} from '#services/shared/contract'
import { type Json, shown } from '#kernel'
import { STATUSES } from './life-cycle.ts'
import { HoldSchema, lifecycle, type ShownHold, suppression } from './life-schema.ts'

export const SEVERITIES = ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING'] as const
export type Severity = (typeof SEVERITIES)[number]

const MAX_NAME = 500
const MAX_TEXT = 10_000
const MAX_LEVELS = 20
const MAX_IDS = 100_000
const MAX_VALUES = 1000
const MAX_PAGE = 10_000_000
const MAX_SIZE = 1000

const Text = Type.String()
const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
const severity = word('severity', SEVERITIES)
const status = word('status', STATUSES)
const name = text(MAX_NAME)
const assignee = Type.Decode(nullable(name), (value) => (value === '' ? null : value))
const entity = worded(Type.Literal('alarm'), (value) =>
  value === 'alarm' ? [] : [{ message: `invalid entity: ${shown(value)}`, suggestion: 'it is alarm' }],
)
const ACTIONS = ['delete', 'update'] as const
const action = worded(Type.Enum(ACTIONS), (value) => {
  if (ACTIONS.some((one) => one === value)) return []
  return [{ message: `invalid action for alarm entity: ${shown(value)}`, suggestion: ACTIONS.join(' or ') }]
})
const SNOOZE =
  'end of the shelving, another way to write it: repeated raises are counted without an event; a time in the past has no effect, null removes it'

type Source = Readonly<Record<string, Json>> & { readonly id: string }

/** Optional fields that extend the platform's interface; stored and shown as sent. */
export const EXTRAS = {
  autoClearAfter: Type.Optional(
    duration('duration such as PT1H, at most 3650 days, after which the alarm is cleared unless it is raised again'),
  ),
  escalation: Type.Optional(
    closed(
      { after: duration(), severity },
      { description: 'severity that the alarm gets if it is still active at this time after its first raise' },
    ),
  ),
  dedupKey: Type.Optional(
    text(MAX_NAME, { minLength: 1, description: 'deduplication key, instead of source and type' }),
  ),
}

const NewAlarmSchema = open(
  {
    type: name,
    text: text(MAX_TEXT),
    severity,
    source: Type.Unsafe<Source>(
      Type.Object({ id }, { additionalProperties: true, description: 'id of the resource, and further fields' }),
    ),
    status: Type.Optional(status),
    timestamp: Type.Optional(instant),
    assignee: Type.Optional(assignee),
    snoozeUntil: Type.Optional(nullable(instant)),
    ...EXTRAS,
  },
  MAX_LEVELS,
  {
    title: 'new alarm',
    description: `other fields become additional properties, with at most ${MAX_LEVELS} levels`,
  },
)
export const NewAlarm = checked(NewAlarmSchema, { subject: 'the alarm' })
/** Times are epoch ms. */
export type NewAlarm = Decoded<typeof NewAlarmSchema>

/** Absent fields stay as they are; null removes a field. */
const CHANGES = {
  severity: Type.Optional(severity),
  status: Type.Optional(status),
  assignee: Type.Optional(assignee),
  snoozeUntil: Type.Optional(nullable(instant)),
}

const AttributeChangeSchema = Type.Object({
  attribute: Text,
  type: Text,
  oldValue: nullable(Text),
  newValue: nullable(Text),
})
const AuditRecordSchema = Type.Object({
  id: Text,
  type: Text,
  text: Text,
  timestamp: IsoTime,
  changes: Type.Optional(Type.Unsafe<readonly AttributeChange[]>(Type.Array(AttributeChangeSchema))),
  user: Type.Optional(Type.String({ description: 'API key, subject of a token, system/engine or system/alarms' })),
  comment: Type.Optional(Type.String({ description: 'comment, or reason of the change' })),
})
export interface AttributeChange extends Decoded<typeof AttributeChangeSchema> {}
export interface AuditRecord extends Decoded<typeof AuditRecordSchema> {}

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
    source: Type.Unsafe<Source>(Type.Object({ id: Text }, { additionalProperties: true })),
    status: Type.Enum(STATUSES),
    lifecycle,
    suppression,
    holds: Type.Optional(
      Type.Unsafe<readonly ShownHold[]>(Type.Array(HoldSchema, { description: 'what keeps the alarm from people' })),
    ),
    discarded: Type.Optional(
      Type.Literal(true, { description: 'a maintenance window discards such alarms, so this one was not created' }),
    ),
    severity: Type.Enum(SEVERITIES),
    count: Type.Integer({ minimum: 1 }),
    revision: Type.Integer({ minimum: 1, description: REVISION }),
    assignee: Type.Optional(Text),
    history: Type.Unsafe<readonly AuditRecord[]>(Type.Array(AuditRecordSchema)),
    additionalProperties: Type.Optional(Type.Unsafe<Readonly<Record<string, Json>>>(Type.Record(Text, Type.Unknown()))),
    snoozeUntil: Type.Optional(Type.String({ format: 'date-time', description: SNOOZE })),
    ...EXTRAS,
  },
  { title: 'alarm' },
)
/** An alarm in responses. Optional fields without a value are absent. Times are ISO 8601 in UTC with ms. */
export interface Alarm extends Decoded<typeof AlarmSchema> {}
export type AlarmExtras = Pick<Alarm, keyof typeof EXTRAS>

function nothingToChange(change: unknown): readonly Problem[] {
  const names = Object.keys(CHANGES)
  if (names.some((one) => Object.hasOwn(change as object, one))) return []
  return [{ message: 'does not change anything', suggestion: `set at least one of ${names.join(', ')}` }]
}

const shownOnly = Object.keys(AlarmSchema.properties).filter((one) => !Object.hasOwn(CHANGES, one))
const AlarmChangeSchema = refined(
  closed({ ...CHANGES, ...readOnly(shownOnly) }, { title: 'alarm update', minProperties: 1 }),
  nothingToChange,
)
export const AlarmChange = checked(AlarmChangeSchema, { subject: 'the update' })
const BatchChangeSchema = refined(closed(CHANGES, { minProperties: 1 }), nothingToChange)
export type AlarmChange = Decoded<typeof BatchChangeSchema>

const time = Type.Optional(instant)
const FILTERS = {
  type: Type.Optional(oneOrMore(Text, MAX_VALUES)),
  status: Type.Optional(oneOrMore(status, MAX_VALUES)),
  severity: Type.Optional(oneOrMore(severity, MAX_VALUES)),
  source: Type.Optional(oneOrMore(Text, MAX_VALUES)),
  dateFrom: time,
  dateTo: time,
  assignee: Type.Optional(name),
  lifecycle: Type.Optional(oneOrMore(lifecycle, MAX_VALUES)),
  suppression: Type.Optional(oneOrMore(suppression, MAX_VALUES)),
  commented: Type.Optional(Type.Boolean({ description: 'whether the alarm has comments' })),
}
const MOMENTS = {
  ...FILTERS,
  creationTimeFrom: time,
  creationTimeTo: time,
  lastUpdatedFrom: time,
  lastUpdatedTo: time,
  lastTriggeredFrom: time,
  lastTriggeredTo: time,
}
export const LISTING = {
  ...MOMENTS,
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SIZE })),
  sort: Type.Optional(Type.Enum(['timestamp', 'lastUpdateTime', 'lastTriggeredTime', 'creationTime'])),
  order: Type.Optional(Type.Enum(['descending', 'ascending', 'desc', 'asc'])),
  history: Type.Optional(Type.Boolean({ description: 'false omits histories' })),
}
export const TIMELINE = { ...MOMENTS, from: time, to: time }
export const COUNTED = MOMENTS
/** Parameters that select events, by the alarm after the event. */
export const SELECTED_EVENTS = {
  type: FILTERS.type,
  status: FILTERS.status,
  severity: FILTERS.severity,
  source: FILTERS.source,
  lifecycle: FILTERS.lifecycle,
  suppression: FILTERS.suppression,
}

const ListSchema = Type.Object(MOMENTS)
export type AlarmFilters = Decoded<typeof ListSchema>

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

const CauseSchema = Type.Object({
  task: Text,
  node: Text,
  effect: Text,
  trigger: Type.Optional(Text),
  hops: Type.Integer({ minimum: 0 }),
})

export const AlarmWhySchema = Type.Object(
  {
    alarm: Text,
    raisedBy: Type.String({ description: 'API key, subject of a token, or system/engine' }),
    cause: nullable(CauseSchema),
    explanation: Type.Unknown(),
    heldBack: Type.Array(Text, {
      description: 'what keeps it from people, such as: held back by window/pumps until 2026-12-01T14:00:00.000Z',
    }),
  },
  { title: 'why an alarm was raised' },
)
export interface AlarmWhy extends Decoded<typeof AlarmWhySchema> {}

const BatchQuerySchema = refined(
  closed({ ids: Type.Optional(Object.assign(oneOrMore(Text, MAX_IDS), CHECKED)), ...FILTERS }, { minProperties: 1 }),
  (query) => {
    const { ids, ...filters } = query as Readonly<Record<string, unknown>>
    const names = Object.keys(FILTERS).filter((one) => Object.hasOwn(filters, one))
    if (ids !== undefined && names.length > 0)
      return [{ at: '/ids', message: `is not allowed beside ${names.join(', ')}`, suggestion: 'use ids or filters' }]
    if (ids !== undefined || names.length > 0) return []
    const suggestion = `use ids, or at least one of ${Object.keys(FILTERS).join(', ')}`
    return [{ message: 'selects nothing', suggestion }]
  },
)

const AlarmBatchSchema = refined(
  closed(
    {
      entity,
      action,
      query: BatchQuerySchema,
      actionParameters: Type.Optional(BatchChangeSchema),
    },
    { title: 'batch operation on alarms' },
  ),
  (body) => {
    const { action, actionParameters } = body as Readonly<Record<string, unknown>>
    if (action !== 'update' || actionParameters !== undefined) return []
    return [{ at: '/actionParameters', message: 'is required' }]
  },
)
export const AlarmBatch = checked(AlarmBatchSchema, { subject: 'the batch operation' })
export type AlarmBatch = Decoded<typeof AlarmBatchSchema>

const Operation = Type.Object({
  entity: Type.Literal('alarm'),
  action: Text,
  description: Type.Optional(Text),
})
const Entries = Type.Record(Text, Type.Object({ statusCode: Type.Integer(), error: Type.Optional(Text) }))
const QueuedSchema = Type.Object({ id: Text, queueTime: IsoTime, operation: Operation })
export interface QueuedAlarmBatch extends Decoded<typeof QueuedSchema> {}

export const QueuedAlarmBatchSchema = Type.Object(
  { statusCode: Type.Literal(202), uri: Text, entity: QueuedSchema },
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
