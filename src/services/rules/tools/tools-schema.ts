/** Schemas for plugs, data push, and runs that store nothing. */
import { Type } from 'typebox'
import { type BnGraph, type FieldFormat, type FieldType, NodeOverrideSchema } from '#core/spi'
import type { Explained } from '#core/sentences'
import type { EngineEvent, Message, NextRuns, NodeOverride, Rule, TaskSettings, Template } from '#core'
import { FORBIDDEN_KEYS, shown } from '#kernel'
import { CHECKED, checked, closed, type Decoded, id, instant, refined } from '#services/shared/contract'
import { AnyObject, ISSUE_TYPES, LOG_LEVELS, type LogLevel, Text, WireIssueSchema } from '../shared-schema.ts'

export type PlugFamily = 'sensors' | 'actions'

export interface PlugEntity {
  readonly name: string
  readonly version: string
  readonly type: 'sensor' | 'actuator'
  readonly description?: string
  readonly category?: string
  readonly states?: readonly string[]
  readonly configuration: readonly PlugField[]
  readonly rawData: readonly PlugOutput[]
}
interface PlugField {
  readonly name: string
  readonly type: FieldType
  readonly mandatory: boolean
  readonly defaultValue?: unknown
  readonly format?: FieldFormat
  readonly description?: string
  readonly sensitive?: boolean
}
interface PlugOutput {
  readonly parameter: string
  readonly dataType: FieldType
  readonly description?: string
  readonly unit?: string
}

/** Body of `POST /api/sensors/{name}` and of `/api/actions/{name}`. */
const PlugCallSchema = closed(
  {
    properties: Type.Optional(Type.Record(Text, Type.Unknown(), { description: 'as the plug declares them' })),
    resource: Type.Optional(Type.String(CHECKED)),
    streamData: Type.Optional(AnyObject),
  },
  { title: 'plug call', ...CHECKED },
)
export const PlugCall = checked(PlugCallSchema, { subject: 'the call', ...ISSUE_TYPES })
export interface PlugCall extends Decoded<typeof PlugCallSchema> {}
/** Origin of a call by another service of the host; not available over HTTP. */
export interface PlugCause {
  /** becomes part of the ids of effects; the same work has the same id */
  readonly id?: string
  /** number of consecutive rules that led to this call; default 0 */
  readonly hops?: number
  /** if there are hops: id of the first arrival that led to this call */
  readonly root?: string
}

const RunLogLineSchema = Type.Object({
  time: Type.String({ description: 'ISO 8601' }),
  level: Type.Enum(LOG_LEVELS),
  message: Text,
  node: Type.Optional(Text),
})
export interface RunLogLine extends Decoded<typeof RunLogLineSchema> {}
/** 200 with `result: true`, 400 with `result: false`. */
export const PlugOutcomeSchema = Type.Object(
  {
    result: Type.Boolean(),
    state: Type.Optional(Text),
    rawData: Type.Optional(Type.Unknown()),
    message: Type.Optional(Text),
    error: Type.Optional(Text),
    log: Type.Unsafe<readonly RunLogLine[]>(Type.Array(RunLogLineSchema)),
  },
  { title: 'PlugOutcome' },
)
export interface PlugOutcome extends Decoded<typeof PlugOutcomeSchema> {}

const RuleCheckSchema = closed(
  {
    rule: Type.Record(Text, Type.Unknown(), { description: 'a rule or template, in any of its forms', ...CHECKED }),
    strict: Type.Optional(Type.Boolean({ description: 'report properties that plugs do not declare as errors' })),
  },
  { title: 'rule check', ...CHECKED },
)
/** Body of `POST /api/rules/check`. */
export const RuleCheck = checked(RuleCheckSchema, { subject: 'the check', ...ISSUE_TYPES })
export interface RuleCheck extends Decoded<typeof RuleCheckSchema> {}
export const CheckedRuleSchema = Type.Object(
  {
    valid: Type.Boolean({ description: 'false: at least one issue is an ERROR' }),
    issues: Type.Array(WireIssueSchema),
  },
  { title: 'CheckedRule' },
)
export interface CheckedRule extends Decoded<typeof CheckedRuleSchema> {}

/** Fields that direct a message, and so cannot be names of values. */
const OWN_FIELDS: ReadonlySet<unknown> = new Set(['resource', 'timestamp'])
const NOT_READ = Type.Optional(Type.Unknown({ description: 'sent by clients of the platform; ignored' }))

const PushedValueSchema = closed(
  {
    parameterName: refined(Type.String({ minLength: 1 }), (name) => {
      if (OWN_FIELDS.has(name)) {
        const message = `${shown(name)} is the name of a field of the message itself`
        return [{ message, suggestion: 'choose another name' }]
      }
      return typeof name === 'string' && name !== '' && !FORBIDDEN_KEYS.has(name)
        ? []
        : [{ message: 'expected the name of a value, as text' }]
    }),
    value: Type.Unknown(),
    collectedTime: Type.Optional(instant),
    validPeriodSecs: NOT_READ,
    type: NOT_READ,
  },
  { title: 'pushed value' },
)
const NO_DATA = 'Expecting json array or object'
const DataPushSchema = closed(
  {
    resource: id,
    data: Type.Optional(
      refined(Type.Union([PushedValueSchema, Type.Array(PushedValueSchema)]), (data) =>
        typeof data === 'object' && data !== null ? [] : [{ message: NO_DATA }],
      ),
    ),
    nodes: Type.Optional(
      Type.Array(closed({ node: Type.String({ minLength: 1, description: 'label of a node' }), state: Text })),
    ),
  },
  { title: 'data push', description: 'data or nodes' },
)
/** Body of `POST /api/data`: values of a resource, or states for every task that has the node on the resource. */
export const DataPush = checked(
  refined(DataPushSchema, (push) =>
    ['data', 'nodes'].some((name) => Object.hasOwn(push as object, name)) ? [] : [{ at: '/data', message: NO_DATA }],
  ),
  { subject: 'the push', ...ISSUE_TYPES },
)
export interface DataPush extends Omit<Decoded<typeof DataPushSchema>, 'data'> {
  readonly data?: PushedValue | readonly PushedValue[]
}
export interface PushedValue extends Omit<Decoded<typeof PushedValueSchema>, 'collectedTime'> {
  /** epoch ms, or ISO 8601 */
  readonly collectedTime?: number | string
}
export interface PushOutcome {
  /** whether any task received the data; for states, only running tasks count */
  readonly taken: boolean
  readonly tasks?: readonly string[]
}

const RunMessageSchema = Type.Object(
  { resource: Type.String({ minLength: 1 }), timestamp: Type.Optional(instant) },
  { additionalProperties: true, title: 'message' },
)
const conf = closed({
  executeActuators: Type.Optional(Type.Boolean()),
  resource: Type.Optional(Type.String(CHECKED)),
  resetObservations: Type.Optional(Type.Boolean()),
  gatesNeedFullObservation: Type.Optional(Type.Boolean()),
})
const TemplateRunSchema = closed(
  {
    graph: Type.Optional(
      Type.Unsafe<Rule | Partial<Template> | BnGraph>(
        Type.Record(Text, Type.Unknown(), {
          description: 'a template, which needs no name here, or a rule',
          ...CHECKED,
        }),
      ),
    ),
    data: Type.Optional(
      Type.Array(Type.Array(RunMessageSchema), {
        description: 'each inner list is one invocation; messages with a resource',
      }),
    ),
    conf: Type.Optional(conf),
    variables: Type.Optional(AnyObject),
    nodes: Type.Optional(
      Type.Unsafe<readonly NodeOverride[]>(
        Type.Array(NodeOverrideSchema, { description: 'overrides, as in a task of a template' }),
      ),
    ),
    nodesRawData: Type.Optional(Type.Record(Text, AnyObject)),
    resourceMetaData: Type.Optional(
      Type.Record(Text, Type.Unknown(), {
        description: 'metadata of the resource, or by resource if every value is an object',
      }),
    ),
  },
  { title: 'template run', ...CHECKED },
)
/** Body of `POST /api/templates/{name}/run`, and of `/api/templates/run` with `graph`. */
export const TemplateRun = checked(TemplateRunSchema, { subject: 'the run', ...ISSUE_TYPES })
export interface TemplateRun extends Decoded<typeof TemplateRunSchema> {}
export interface TemplateRunOptions {
  readonly logLevel?: LogLevel
  /** report only this node and its ancestors */
  readonly targetNode?: string
  /** maximum number of invocations per second, in real time */
  readonly maxTps?: number
  /** run only this node, on the tick or once per list of messages, for debugging */
  readonly nodeToDebug?: string
  /** version of the stored template to run; default: the newest */
  readonly version?: number
  readonly signal?: AbortSignal
}
export interface InvocationReport {
  readonly taskId: string
  readonly invocationId: string
  readonly sensors: Readonly<Record<string, NodeReport>>
  readonly actuators: Readonly<Record<string, NodeReport>>
  readonly log: readonly RunLogLine[]
}
export interface NodeReport {
  readonly executed: boolean
  /** the node would have acted but was not called; a sensor that has the state Success is assumed to reach it */
  readonly simulated?: boolean
  readonly result?: boolean
  readonly state?: string
  readonly rawData?: unknown
  readonly message?: string
  readonly error?: string
}

const SimulationSchema = closed(
  {
    rule: Type.Optional(Type.Record(Text, Type.Unknown(), { description: 'in any of its forms', ...CHECKED })),
    template: Type.Optional(Type.String({ minLength: 1, ...CHECKED })),
    messages: Type.Optional(
      Type.Unsafe<readonly Message[]>(
        Type.Array(AnyObject, { description: 'in order, each with resource and timestamp' }),
      ),
    ),
    from: Type.Optional(instant),
    until: Type.Optional(instant),
    resource: Type.Optional(Text),
    variables: Type.Optional(AnyObject),
    settings: Type.Optional(Type.Unsafe<TaskSettings>(AnyObject)),
    metadata: Type.Optional(Type.Record(Text, AnyObject)),
    executeActuators: Type.Optional(
      Type.Boolean({
        description: 'default false: plugs with outside effects are not called, and are listed in `simulated`',
      }),
    ),
    seed: Type.Optional(Type.Integer()),
    explain: Type.Optional(Type.String({ description: 'a node to explain at the end' })),
  },
  { title: 'simulation', ...CHECKED },
)
/** Body of `POST /api/tasks/simulate`, which runs the messages in virtual time. */
export const Simulation = checked(
  refined(SimulationSchema, (body) => {
    const { rule, template } = body as ReadSimulation
    if (rule !== undefined || template !== undefined) return []
    return [
      { at: '/rule', message: 'a rule is missing', suggestion: 'send it, or set "template" to a stored template' },
    ]
  }),
  { subject: 'the simulation', ...ISSUE_TYPES },
)
/** Times are epoch ms. */
export type ReadSimulation = Decoded<typeof SimulationSchema>
/** Times are epoch ms or ISO 8601. */
export interface Simulation extends Omit<ReadSimulation, 'from' | 'until' | 'rule' | 'settings'> {
  readonly rule?: Rule | Template
  readonly settings?: TaskSettings
  readonly from?: number | string
  readonly until?: number | string
}
export interface SimulationResult {
  readonly messages: number
  /** number of messages that were older than the clock */
  readonly late: number
  /** ISO 8601 */
  readonly from: string
  readonly until: string
  readonly events: readonly EngineEvent[]
  /** number of events not listed, because of the limit of 10,000 */
  readonly left: number
  /** labels of nodes that were simulated instead of acting, sorted by name */
  readonly simulated: readonly string[]
  readonly explanation?: Explained
}

export interface NextRunsQuery {
  readonly expression: string
  readonly zone?: string
  readonly from?: number
  /** 1 to 10,000, default 10 */
  readonly count?: number
  readonly gap?: 'shift' | 'skip'
  readonly overlap?: 'first' | 'second' | 'both'
}
export type NextRunsAnswer = NextRuns
