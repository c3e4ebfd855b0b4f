/** Schemas of requests and responses for rehearsals, with their limits. */
import { Type } from 'typebox'
import type { DiffFiring, EngineEvent, EventType, Message, Rule, TaskSettings, Template, Why } from '#core'
import type { NodeCounts } from '#core/spi'
import { durationMs, isInstant, type Issue, isoInstant, notAnInstant } from '#kernel'
import { type RaisedFigures, RaisedFiguresSchema } from '#services/alarms/contract'
import { CHECKED, checked, closed, type Decoded, duration, id, type Problem, refined } from '#services/shared/contract'
import { AnyObject, EpochMs, ISSUE_TYPES, Text, WireIssueSchema } from '../shared-schema.ts'

export const MAX_RESOURCES = 10_000
const MAX_MESSAGES = 100_000
const MAX_VALUES = 1_000
export const MAX_EVENTS = 10_000
export const DEFAULT_EVENTS = 1_000
export const MAX_LISTED = 1_000

const EVENT_TYPES = [
  'started',
  'tick',
  'data',
  'state',
  'gate',
  'fired',
  'held',
  'result',
  'evicted',
  'log',
  'stopped',
  'failed',
] as const satisfies readonly EventType[]

const TIME_FORMS = 'epoch milliseconds, ISO 8601 such as 2026-03-01T12:00:00Z, or an age such as -30d'
const EPOCH = /^-?\d{1,16}$/

/** Converts a time, or an age before `now`, to epoch ms. Returns NaN for anything else. */
export function timeAt(given: string | number, now: number): number {
  if (typeof given === 'number') return Math.trunc(given)
  if (EPOCH.test(given)) return Number(given)
  if (!given.startsWith('-')) return isoInstant(given)
  try {
    return now - durationMs(given.slice(1))
  } catch {
    return Number.NaN
  }
}

const time = refined(
  Type.Union([Type.String({ maxLength: 64 }), Type.Number()], { description: TIME_FORMS }),
  (value) =>
    (typeof value === 'string' || typeof value === 'number') && isInstant(timeAt(value, 0))
      ? []
      : [{ message: notAnInstant(value), suggestion: `write ${TIME_FORMS}` }],
)

const message = Type.Object(
  {
    resource: Type.String({ minLength: 1 }),
    timestamp: Type.Union([Type.String({ maxLength: 64 }), Type.Number()], CHECKED),
  },
  { additionalProperties: true, title: 'stored message' },
)
const ruleDocument = Type.Record(Text, Type.Unknown(), { description: 'a rule, in any of its forms', ...CHECKED })
const name = Type.String({ minLength: 1 })
const stored = Type.String({ minLength: 1, ...CHECKED })
const RULES = {
  rule: Type.Optional(ruleDocument),
  template: Type.Optional(stored),
  templateVersion: Type.Optional(Type.Integer({ minimum: 1, description: 'default: the newest', ...CHECKED })),
  task: Type.Optional(stored),
}

function oneRule(body: unknown, isRequired: boolean): readonly Problem[] {
  const { rule, template, task, templateVersion } = body as Readonly<Record<string, unknown>>
  const given = Object.entries({ rule, template, task }).flatMap(([key, value]) => (value === undefined ? [] : [key]))
  const [, second] = given
  const problems: Problem[] = []
  if (given.length === 0 && isRequired) {
    problems.push({ at: '/rule', message: 'a rule is missing', suggestion: 'send rule, or name a template or task' })
  }
  if (second !== undefined)
    problems.push({ at: `/${second}`, message: `cannot be combined with ${given[0]}`, suggestion: 'keep one of them' })
  if (templateVersion !== undefined && template === undefined)
    problems.push({ at: '/templateVersion', message: 'requires a template', suggestion: 'name the template' })
  return problems
}

const INITIAL_STATES = ['cold', 'warm'] as const
const ORDERS = ['lived', 'time'] as const
const CALLS = ['none', 'recorded', 'live'] as const

const SWEEP = Type.Unsafe<Readonly<Record<string, string | readonly unknown[]>>>(
  Type.Record(Text, Type.Union([Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_VALUES }), Type.String()]), {
    description: 'values by path, such as /sensors/0/properties/threshold or hot.threshold; text: 70..90/5',
    ...CHECKED,
  }),
)
const COMPARED = refined(closed(RULES), (side) => oneRule(side, true))
const FIELDS = {
  ...RULES,
  variables: Type.Optional(AnyObject),
  settings: Type.Optional(Type.Unsafe<TaskSettings>(AnyObject)),
  resources: Type.Optional(
    Type.Union(
      [
        Type.Array(id, { minItems: 1, maxItems: MAX_RESOURCES }),
        closed({
          resourceTypeId: Type.Optional(name),
          query: Type.Optional(Type.String({ minLength: 1, description: 'in the query language of resource lists' })),
        }),
      ],
      { description: 'default: the resource of the rule or task, or the resources of the messages' },
    ),
  ),
  source: closed({
    from: Type.Optional(time),
    until: Type.Optional(time),
    messages: Type.Optional(
      Type.Unsafe<readonly Message[]>(
        Type.Array(message, {
          minItems: 1,
          maxItems: MAX_MESSAGES,
          description: 'in order; default: stored series from `from` (default -7d) until `until` (default now)',
        }),
      ),
    ),
  }),
  initialState: Type.Optional(
    Type.Enum(INITIAL_STATES, {
      description:
        'warm: the state that the task had before `from`, the default for a task without a comparison; cold: unknown',
    }),
  ),
  order: Type.Optional(
    Type.Enum(ORDERS, {
      description:
        'lived: with the original arrivals, verdicts and downtimes, the default if inputs are kept; time: in order of time',
    }),
  ),
  calls: Type.Optional(
    Type.Enum(CALLS, {
      description:
        'none (default): calls of services fail; recorded: they have the outcomes of the live task; live: they are executed',
    }),
  ),
  seed: Type.Optional(Type.Integer()),
  events: Type.Optional(
    closed({
      types: Type.Optional(Type.Array(Type.Enum(EVENT_TYPES), { minItems: 1, description: 'default: fired' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_EVENTS, description: 'default 1000' })),
    }),
  ),
}
/** Fields of a request, and its comparison and sweep, which are optional. */
export const REHEARSAL = { fields: FIELDS, compareWith: COMPARED, sweep: SWEEP } as const

const RequestSchema = refined(
  closed(
    { ...FIELDS, compareWith: Type.Optional(COMPARED), sweep: Type.Optional(SWEEP) },
    { title: 'rehearsal request' },
  ),
  (body) => oneRule(body, true),
)
export const RehearsalRequest = checked(RequestSchema, { subject: 'the rehearsal', ...ISSUE_TYPES })
export type ReadRequest = Decoded<typeof RequestSchema>
export interface RehearsalRequest extends Omit<ReadRequest, 'rule' | 'settings' | 'compareWith'> {
  readonly rule?: Rule | Template
  readonly settings?: TaskSettings
  readonly compareWith?: {
    readonly rule?: Rule | Template
    readonly template?: string
    readonly templateVersion?: number
    readonly task?: string
  }
}

const replayed = Type.Integer({ minimum: 1, description: 'position of an input of the task' })
const ReplaySchema = closed(
  {
    at: replayed,
    message: Type.Optional({
      ...AnyObject,
      description: 'replaces the input, whose resource and timestamp are the defaults',
    }),
    remove: Type.Optional(Type.Literal(true, { description: 'true: removes the input' })),
  },
  { title: 'replay request' },
)
export const ReplayRequest = checked(
  refined(ReplaySchema, (body) => {
    const { message, remove } = body as Readonly<Record<string, unknown>>
    const isOne = (message === undefined) !== (remove === undefined)
    return isOne ? [] : [{ at: '/message', message: 'message or remove is required', suggestion: 'send one of them' }]
  }),
  { subject: 'the replay', ...ISSUE_TYPES },
)
export type ReplayRequest = Decoded<typeof ReplaySchema>

const Count = Type.Integer({ minimum: 0 })
const Fidelity = Type.Enum(['inputs', 'series', 'messages'], {
  description:
    'inputs: kept inputs as they arrived; series: samples, without nulls, objects and arrivals; messages: messages of the request',
})
export type Fidelity = Decoded<typeof Fidelity>

const CoverageItemSchema = Type.Object({
  resource: Type.Union([Text, Type.Null()], { description: 'null: the nodes of the rule have their own resources' }),
  fidelity: Fidelity,
  initialState: Type.Enum(INITIAL_STATES),
  messages: Count,
  from: Type.Union([EpochMs, Type.Null()], { description: 'first message' }),
  until: Type.Union([EpochMs, Type.Null()], { description: 'last message' }),
  gaps: Type.Unsafe<readonly { readonly from: number; readonly until: number }[]>(
    Type.Array(Type.Object({ from: EpochMs, until: EpochMs }), {
      description: 'the longest gaps of more than ten times the usual gap, at most 10',
    }),
  ),
  metrics: Type.Record(Text, Type.Object({ count: Count })),
  newest: Type.Optional(
    Type.Number({ description: 'without messages: epoch ms of the newest stored sample of the resource, if any' }),
  ),
})
export interface CoverageItem extends Decoded<typeof CoverageItemSchema> {}

const FiringSchema = Type.Object({
  time: EpochMs,
  resource: Type.Union([Text, Type.Null()]),
  node: Text,
  source: Text,
  why: Type.Optional(Type.Unsafe<Why>(AnyObject)),
})
export interface RehearsedFiring extends Decoded<typeof FiringSchema> {}

const EffectSchema = Type.Object({
  time: EpochMs,
  resource: Type.Union([Text, Type.Null()]),
  node: Text,
  plug: Text,
  properties: AnyObject,
  alarm: Type.Optional(Type.Enum(['raised', 'repeated', 'cleared'], { description: 'effects of plugs for alarms' })),
})
export interface RehearsedEffect extends Decoded<typeof EffectSchema> {}

const DifferenceSchema = Type.Object({
  time: EpochMs,
  resource: Type.Union([Text, Type.Null()]),
  node: Text,
  by: Type.Optional(Type.Integer({ description: 'for a moved firing: ms, negative if the rule fires earlier' })),
  firing: Type.Optional(Type.Unsafe<DiffFiring>(AnyObject)),
  other: Type.Optional(Type.Unsafe<DiffFiring>(AnyObject)),
})
export interface RehearsedDifference extends Decoded<typeof DifferenceSchema> {}
export const Differences = Type.Unsafe<readonly RehearsedDifference[]>(Type.Array(DifferenceSchema))

const SweepRowSchema = Type.Object({
  values: AnyObject,
  firings: Count,
  alarms: Count,
  perDay: Type.Union([Type.Number(), Type.Null()], { description: 'firings per 24 hours' }),
  issue: Type.Optional(Type.Unsafe<Issue>(WireIssueSchema)),
})
export interface SweepOutcome extends Decoded<typeof SweepRowSchema> {}

const Alarms = Type.Object({
  raised: Count,
  cleared: Count,
  figures: Type.Optional(
    Type.Unsafe<RaisedFigures>({
      ...RaisedFiguresSchema,
      description: 'of the raised alarms, for one operator; absent above 100,000 alarms',
    }),
  ),
})
const RehearsalAnswerSchema = Type.Object(
  {
    coverage: Type.Object({
      summary: Type.String({ description: 'for example: 2 of 40 resources had data' }),
      resources: Type.Object({ matched: Count, withData: Count }),
      items: Type.Unsafe<readonly CoverageItem[]>(
        Type.Array(CoverageItemSchema, { description: 'at most 1,000, resources without data first' }),
      ),
      missingMetrics: Type.Unsafe<readonly string[]>(
        Type.Array(Text, { description: 'metrics that the rule reads but no resource has' }),
      ),
      messages: Count,
      late: Type.Integer({ minimum: 0, description: 'messages older than the clock' }),
      from: EpochMs,
      until: EpochMs,
    }),
    fidelity: Fidelity,
    firings: Type.Unsafe<readonly RehearsedFiring[]>(Type.Array(FiringSchema)),
    counts: Type.Object({ firings: Count, effects: Count, events: Count }),
    alarms: Alarms,
    effects: Type.Unsafe<readonly RehearsedEffect[]>(
      Type.Array(EffectSchema, { description: 'rendered but not executed' }),
    ),
    nodes: Type.Unsafe<readonly NodeCounts[]>(
      Type.Array(
        Type.Object({
          node: Text,
          runs: Count,
          changes: Count,
          errors: Count,
          fired: Count,
          held: Type.Record(Text, Count, { description: 'by reason' }),
        }),
      ),
    ),
    calls: Type.Object({
      mode: Type.Enum(CALLS),
      notMade: Type.Record(Text, Count, { description: 'number by service and method' }),
      current: Type.Record(Text, Count, {
        description:
          'number of calls that returned current data instead of data as of the input, by service and method',
      }),
    }),
    events: Type.Optional(Type.Unsafe<readonly EngineEvent[]>(Type.Array(AnyObject))),
    comparison: Type.Optional(
      Type.Object({
        added: Differences,
        removed: Differences,
        moved: Differences,
        counts: Type.Object({ equal: Count, added: Count, removed: Count, moved: Count }),
      }),
    ),
    sweep: Type.Optional(Type.Unsafe<readonly SweepOutcome[]>(Type.Array(SweepRowSchema))),
    truncated: Type.Boolean({ description: 'true: a list has more entries than are shown' }),
    next: Type.Optional(Type.String({ description: 'path of further events' })),
    keptSince: Type.Optional(Type.Integer({ description: 'of a replay: epoch ms from which inputs are complete' })),
  },
  { title: 'RehearsalAnswer' },
)
export interface RehearsalAnswer extends Decoded<typeof RehearsalAnswerSchema> {}

const REHEARSAL_STATUS = ['running', 'done', 'empty', 'failed', 'cancelled', 'interrupted'] as const

const HEAD = {
  id: Text,
  status: Type.Enum(REHEARSAL_STATUS, {
    description: 'empty: none of the resources had messages; interrupted: the host ended meanwhile',
  }),
  user: Text,
  task: Type.Optional(Type.String({ description: 'the rehearsed task' })),
  createTime: EpochMs,
  finishedTime: Type.Optional(EpochMs),
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  error: Type.Optional(Text),
}
export const RehearsalSummarySchema = Type.Object(HEAD, { title: 'RehearsalSummary' })
export interface RehearsalSummary extends Decoded<typeof RehearsalSummarySchema> {}
export const RehearsalSchema = Type.Object(
  { ...HEAD, ...Type.Partial(RehearsalAnswerSchema).properties },
  { title: 'Rehearsal' },
)
export interface Rehearsal extends RehearsalSummary, Partial<RehearsalAnswer> {}

export const QueuedRehearsalSchema = Type.Object({ id: Text, uri: Text }, { title: 'QueuedRehearsal' })
export interface QueuedRehearsal extends Decoded<typeof QueuedRehearsalSchema> {}

/** Query of a change: a duration before now, over which the change is compared with the live version. */
export const REHEARSE = {
  rehearse: Type.Optional(duration('compare with the live version over stored data of this duration, such as 7d')),
}
export const CHANGE_REHEARSAL = {
  rehearsal: Type.Optional(
    Type.Unsafe<Rehearsal | QueuedRehearsal>(
      Type.Object(
        { id: Text },
        {
          additionalProperties: true,
          description: 'response to a change with rehearse: as from POST /api/rehearsals',
        },
      ),
    ),
  ),
}

export const EVENT_PAGE = {
  after: Type.Optional(Type.Integer({ minimum: 0, description: 'number of events to skip' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LISTED, description: 'default 1000' })),
}
export const RehearsalEventsSchema = Type.Object(
  {
    values: Type.Unsafe<readonly EngineEvent[]>(Type.Array(AnyObject)),
    total: Count,
    next: Type.Optional(Type.String({ description: 'path of the next page' })),
  },
  { title: 'RehearsalEvents' },
)
export interface RehearsalEvents extends Decoded<typeof RehearsalEventsSchema> {}
export interface EventPage {
  readonly after?: number | undefined
  readonly limit?: number | undefined
}
