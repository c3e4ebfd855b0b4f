/** Plugs, data push, and runs that store nothing. */
import { Type } from 'typebox'
import { type BnGraph, type FieldFormat, type FieldType, NodeOverrideSchema } from '#core/spi'
import type { EngineEvent, Message, NextRuns, NodeOverride, Rule, TaskSettings, Template } from '#core'
import { AnyObject } from '../shared-schema.ts'
import type { LogLevel } from '../words.ts'

export type PlugFamily = 'sensors' | 'actions'

/** A plug as listings show it. */
export interface PlugEntity {
  readonly name: string
  readonly version: string
  readonly type: 'sensor' | 'actuator'
  readonly description?: string
  readonly category?: string
  /** of sensors */
  readonly states?: readonly string[]
  readonly configuration: readonly PlugField[]
  readonly rawData: readonly PlugOutput[]
}
export interface PlugField {
  readonly name: string
  readonly type: FieldType
  readonly mandatory: boolean
  readonly defaultValue?: unknown
  readonly format?: FieldFormat
  readonly description?: string
  readonly sensitive?: boolean
}
export interface PlugOutput {
  readonly parameter: string
  readonly dataType: FieldType
  readonly description?: string
  readonly unit?: string
}

/** Body of `POST /api/sensors/{name}` and of `/api/actions/{name}`. */
export const PlugCallSchema = Type.Object(
  {
    properties: Type.Optional(AnyObject),
    resource: Type.Optional(Type.String()),
    streamData: Type.Optional(AnyObject),
  },
  { title: 'plug call' },
)
export interface PlugCall {
  readonly properties?: Record<string, unknown>
  readonly resource?: string
  readonly streamData?: Readonly<Record<string, unknown>>
}
/** What led to a call, for services of the same host; over HTTP nobody can say it. */
export interface PlugCause {
  /** part of the ids of what the plug does: the same for the same work */
  readonly id?: string
  /** rules in a row that led here; default 0 */
  readonly hops?: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
}
export const PlugOutcomeSchema = Type.Object(
  {
    result: Type.Boolean(),
    state: Type.Optional(Type.String()),
    rawData: Type.Optional(Type.Unknown()),
    message: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
    log: Type.Array(AnyObject),
  },
  { title: 'PlugOutcome' },
)
/** 200 with `result: true`, 400 with `result: false`. */
export interface PlugOutcome {
  readonly result: boolean
  readonly state?: string
  readonly rawData?: unknown
  readonly message?: string
  readonly error?: string
  readonly log: readonly RunLogLine[]
}
export interface RunLogLine {
  /** ISO 8601 */
  readonly time: string
  readonly level: LogLevel
  readonly message: string
  readonly node?: string
}

/** Body of `POST /api/data`: values of a resource, or states for every task that has that node on that resource. */
export type DataPush =
  | { readonly resource: string; readonly data: PushedValue | readonly PushedValue[] }
  | { readonly resource: string; readonly nodes: readonly { readonly node: string; readonly state: string }[] }
export interface PushedValue {
  readonly parameterName: string
  readonly value: unknown
  /** epoch ms or ISO 8601 */
  readonly collectedTime?: number | string
}
export interface PushOutcome {
  /** running tasks that got a state, or whether some task took the data */
  readonly taken: boolean
  readonly tasks?: readonly string[]
}

/** Body of `POST /api/templates/{name}/run`, and of `/api/templates/run` with `graph`. */
export const TemplateRunSchema = Type.Object(
  {
    graph: Type.Optional(AnyObject),
    data: Type.Optional(
      Type.Array(Type.Array(AnyObject), { description: 'each inner list is one invocation; messages with a resource' }),
    ),
    conf: Type.Optional(
      Type.Object({
        executeActuators: Type.Optional(Type.Boolean()),
        resource: Type.Optional(Type.String()),
        resetObservations: Type.Optional(Type.Boolean()),
        gatesNeedFullObservation: Type.Optional(Type.Boolean()),
      }),
    ),
    variables: Type.Optional(AnyObject),
    nodes: Type.Optional(Type.Array(NodeOverrideSchema, { description: 'overrides, as in a task of a template' })),
    nodesRawData: Type.Optional(Type.Record(Type.String(), AnyObject)),
    resourceMetaData: Type.Optional(AnyObject),
  },
  { title: 'template run' },
)
export interface TemplateRun {
  /** a template, which needs no name here, or a rule with its settings */
  readonly graph?: Rule | Partial<Template> | BnGraph
  readonly data?: readonly (readonly Message[])[]
  readonly conf?: {
    readonly executeActuators?: boolean
    readonly resource?: string
    readonly resetObservations?: boolean
    readonly gatesNeedFullObservation?: boolean
  }
  readonly variables?: Record<string, unknown>
  readonly nodes?: readonly NodeOverride[]
  readonly nodesRawData?: Readonly<Record<string, Record<string, unknown>>>
  /** metadata of the resource, or by resource when every value is an object */
  readonly resourceMetaData?: Readonly<Record<string, unknown>>
}
export interface TemplateRunOptions {
  readonly logLevel?: LogLevel
  /** only this node, and what leads to it, is reported */
  readonly targetNode?: string
  /** invocations a second at most, in real time */
  readonly maxTps?: number
  /** debug: only this node runs, on the tick or for each list of messages */
  readonly nodeToDebug?: string
  /** of a stored template: the version to run; default: the newest */
  readonly version?: number
  readonly signal?: AbortSignal
}
/** One line of the answer: what one invocation did. */
export interface InvocationReport {
  readonly taskId: string
  /** a number from 1, as text */
  readonly invocationId: string
  readonly sensors: Readonly<Record<string, NodeReport>>
  readonly actuators: Readonly<Record<string, NodeReport>>
  readonly log: readonly RunLogLine[]
}
export interface NodeReport {
  readonly executed: boolean
  /** it would have acted and was not called; a sensor that has the state Success is taken as that */
  readonly simulated?: boolean
  readonly result?: boolean
  readonly state?: string
  readonly rawData?: unknown
  readonly message?: string
  readonly error?: string
}

/** Body of `POST /api/tasks/simulate`: virtual time over the messages given. */
export const SimulationSchema = Type.Object(
  {
    rule: Type.Optional(AnyObject),
    template: Type.Optional(Type.String()),
    messages: Type.Optional(Type.Array(AnyObject, { description: 'in order, each with resource and timestamp' })),
    from: Type.Optional(Type.Union([Type.Number(), Type.String()], { description: 'epoch ms or ISO 8601' })),
    until: Type.Optional(Type.Union([Type.Number(), Type.String()])),
    resource: Type.Optional(Type.String()),
    variables: Type.Optional(AnyObject),
    settings: Type.Optional(AnyObject),
    metadata: Type.Optional(Type.Record(Type.String(), AnyObject)),
    executeActuators: Type.Optional(
      Type.Boolean({
        description: 'default false: what would change something outside is not called, and named in `simulated`',
      }),
    ),
    seed: Type.Optional(Type.Integer()),
    explain: Type.Optional(Type.String({ description: 'a node to explain at the end' })),
  },
  { title: 'simulation' },
)
export interface Simulation {
  readonly rule?: Rule | Template
  readonly template?: string
  readonly messages?: readonly Message[]
  readonly from?: number | string
  readonly until?: number | string
  readonly resource?: string
  readonly variables?: Record<string, unknown>
  readonly settings?: TaskSettings
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly executeActuators?: boolean
  readonly seed?: number
  readonly explain?: string
}
export interface SimulationResult {
  readonly messages: number
  /** messages older than the clock */
  readonly late: number
  /** ISO 8601 */
  readonly from: string
  readonly until: string
  readonly events: readonly EngineEvent[]
  /** events beyond the bound of 10,000 that are not listed */
  readonly left: number
  /** labels of the nodes that would have acted and were not called, by name */
  readonly simulated: readonly string[]
  readonly explanation?: unknown
}

/** Query of `GET /api/schedules/next`. */
export interface NextRunsQuery {
  readonly expression: string
  readonly zone?: string
  /** epoch ms, default now */
  readonly from?: number
  /** 1 to 10,000, default 10 */
  readonly count?: number
  readonly gap?: 'shift' | 'skip'
  readonly overlap?: 'first' | 'second' | 'both'
}
export type NextRunsAnswer = NextRuns
