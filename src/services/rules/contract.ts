/**
 * The rules service as others see it: what may be asked and what comes back.
 * The same over HTTP (`api.ts`) and over fetch (`client.ts`).
 *
 * Errors are AppErrors: `NOT_FOUND`, `VALIDATION` (all problems at once), `WRONG_STATUS`, `RESOLUTION`,
 * `INVALID_STATE`, `PLUG_FAILED`, `TOO_LARGE`, `PRECONDITION` (another `revision` is there), `CONFLICT` (two writers at once, tried again in vain) and `CLOSED`.
 * Whatever comes from outside is read by the service itself: a specification may be any JSON.
 */
import type { Explanation } from '#core'
import type { Caller, Page, RevisionOptions } from '#kernel'
import type { BatchPreview, BatchRequest, BatchStatus, QueuedBatch } from './batches/batch-schema.ts'
import type {
  Delivery,
  DeliveryQuery,
  EventStreamOptions,
  NodeCommand,
  NodePush,
  RuntimeNode,
  StreamEvent,
  TaskLogPage,
  TaskLogQuery,
} from './inspection/inspection-schema.ts'
import type { RulesQuestion } from './partitions/rules-question.ts'
import type { RehearsalApi } from './rehearsals/rehearsals.ts'
import type { FoundVariable } from '#core/spi'
import type { PostOptions } from './templates/post-checks.ts'
import type { GraphFormat } from './shared-schema.ts'
import type {
  CreatedTask,
  ReloadOptions,
  RemoveOptions,
  ShowOptions,
  TaskEntity,
  TaskFilter,
  TaskPreview,
  TaskQuery,
  TaskRunRecord,
  TaskSpecification,
} from './tasks/task-schema.ts'
import type {
  CreatedTemplate,
  TemplateEntity,
  TemplateFilter,
  TemplateQuery,
  TemplateSpecification,
  TemplateUpgrade,
  TemplateVersion,
  UpgradedTemplates,
} from './templates/template-schema.ts'
import type {
  DataPush,
  InvocationReport,
  NextRunsAnswer,
  NextRunsQuery,
  PlugCall,
  PlugCause,
  PlugEntity,
  PlugFamily,
  PlugOutcome,
  PushOutcome,
  Simulation,
  SimulationResult,
  TemplateRun,
  TemplateRunOptions,
} from './tools/tools-schema.ts'

/** The service as callers reach it. */
export interface RulesService {
  /** Everything as that caller may see it. Cheap: ask for each request. */
  as(caller: Caller): RulesApi
}

/** The service inside the host: what its neighbours and the host call. */
export interface InternalRules extends RulesService {
  /**
   * Goes on with what ran and with batches that were under way. Resolves when tasks take inputs. When the signal
   * aborts, streams of events end.
   */
  start(closing?: AbortSignal): Promise<void>
  /** No new work; batches go on at the next start. Running tasks stay as they are stored. */
  stop(): Promise<void>
  gauges(): RulesGauges
  /** Counts of tasks by status. */
  tasksByStatus(): Promise<Readonly<Record<string, number>>>
  /**
   * After references in a resource's metadata changed: running tasks of the resource whose nodes would be bound to other
   * resources now start anew. Gives how many.
   */
  rebind(resource: string): Promise<number>
  /** Of a service that has one of several partitions of the tenant: what another of them asks. */
  answer(question: RulesQuestion): Promise<unknown>
}

/** Figures for /metrics. */
export interface RulesGauges {
  readonly openBatches: number
  readonly eventStreams: number
}

/** What one caller can do. */
export interface RulesApi {
  readonly tasks: TaskApi
  readonly templates: TemplateApi
  readonly batches: BatchApi
  readonly inspection: InspectionApi
  readonly tools: ToolApi
  readonly rehearsals: RehearsalApi
}

/** Tasks one by one, and lists of them. */
export interface TaskApi {
  /** Nothing is stored when the rule or its start is refused. */
  create(specification: TaskSpecification, options?: PostOptions): Promise<CreatedTask>
  /** Keeps the id; a task that ran runs again, unless the specification says otherwise. Its run goes on when only its name or tags change. */
  replace(id: string, specification: TaskSpecification, options?: PostOptions & RevisionOptions): Promise<TaskEntity>
  remove(id: string, options?: RemoveOptions & RevisionOptions): Promise<void>
  start(id: string, options?: RevisionOptions): Promise<TaskEntity>
  stop(id: string, options?: RevisionOptions): Promise<TaskEntity>
  /** Stops a task that runs, and starts it. */
  restart(id: string, options?: RevisionOptions): Promise<TaskEntity>
  /** Forgets when resources were measured last, so that readings of a clock that went back are taken again. `WRONG_STATUS`. */
  resync(id: string): Promise<TaskEntity>
  get(id: string, options?: ShowOptions): Promise<TaskEntity>
  /** What was posted, in the form asked for; the form it was posted in, when none is. */
  conf(id: string, format?: GraphFormat): Promise<TaskSpecification>
  list(query: TaskQuery, options?: ShowOptions & { readonly withoutGraph?: boolean }): Promise<Page<TaskEntity>>
  count(where: TaskFilter): Promise<number>
  /** Runs of a task, newest first; the last 20. */
  runs(id: string): Promise<readonly TaskRunRecord[]>
}

export interface TemplateApi {
  create(specification: TemplateSpecification, options?: PostOptions): Promise<CreatedTemplate>
  /** Tasks made of it stay as they are until they are reloaded. */
  replace(
    name: string,
    specification: TemplateSpecification,
    options?: PostOptions & RevisionOptions,
  ): Promise<TemplateEntity>
  /** `WRONG_STATUS` while tasks use it. */
  remove(name: string, options?: RevisionOptions): Promise<void>
  copy(name: string, newName: string): Promise<TemplateEntity>
  /** As it was in that version, when one is named. */
  get(name: string, format?: GraphFormat, version?: number): Promise<TemplateEntity>
  /** The versions that are kept, newest first. */
  versions(name: string, page: Pick<TemplateQuery, 'hits' | 'startIndex'>): Promise<Page<TemplateVersion>>
  list(query: TemplateQuery): Promise<Page<TemplateEntity>>
  upgrade(where: TemplateFilter, upgrade: TemplateUpgrade): Promise<UpgradedTemplates>
  /** The template that discovery uses; `NOT_FOUND` when none is marked. */
  discovery(format?: GraphFormat): Promise<TemplateEntity>
  setDiscovery(name: string): Promise<void>
  /** Runs a stored template, or the graph of the body, in virtual time; nothing is stored. */
  run(name: string | undefined, run: TemplateRun, options?: TemplateRunOptions): AsyncIterable<InvocationReport>
}

/** Operations on many tasks. */
export interface BatchApi {
  queue(request: BatchRequest): Promise<QueuedBatch>
  /** Queues it and waits until it is over, or the host stops. */
  run(request: BatchRequest): Promise<BatchStatus>
  preview(request: BatchRequest): Promise<BatchPreview>
  get(id: string): Promise<BatchStatus>
  /** What the reload of one task would change. */
  previewReload(id: string, options?: ReloadOptions): Promise<TaskPreview>
  /** Does it at once: one task made anew from its template's newest version, or from the one that is named. */
  reload(id: string, options?: ReloadOptions & RevisionOptions): Promise<TaskEntity>
}

export interface InspectionApi {
  node(id: string, node: string): Promise<RuntimeNode>
  /** The states that a node can have; none for an actuator. */
  states(id: string, node: string): Promise<readonly string[]>
  push(id: string, node: string, push: NodePush): Promise<RuntimeNode>
  command(id: string, node: string, command: NodeCommand): Promise<RuntimeNode>
  explain(id: string, node: string): Promise<Explanation>
  log(query: TaskLogQuery): Promise<TaskLogPage>
  /** From now on, or after `lastEventId`; ends with the signal, or when the task is deleted. */
  events(id: string, options: EventStreamOptions): AsyncIterable<StreamEvent>
  deliveries(id: string, query: DeliveryQuery): Promise<readonly Delivery[]>
}

/** What needs no task. */
export interface ToolApi {
  plugs(family: PlugFamily): Promise<readonly PlugEntity[]>
  /** The newest version when none is given. */
  plug(family: PlugFamily, name: string, version?: string): Promise<PlugEntity>
  versions(family: PlugFamily, name: string): Promise<readonly PlugEntity[]>
  /** Runs one plug once. That it fails is an ordinary outcome. */
  call(
    family: PlugFamily,
    name: string,
    version: string | undefined,
    call: PlugCall,
    cause?: PlugCause,
  ): Promise<PlugOutcome>
  push(data: DataPush): Promise<PushOutcome>
  /** Of a simulation as JSON too. A long one is also answered so, written where it was done. */
  simulate(simulation: Simulation | Uint8Array): Promise<SimulationResult | Uint8Array>
  nextRuns(query: NextRunsQuery): Promise<NextRunsAnswer>
  /** The variables that a graph reads, in either form, declared or not. */
  variables(graph: unknown): Promise<readonly FoundVariable[]>
}

export type { FoundVariable }

export type { Explanation } from '#core'
export type { Caller, Page } from '#kernel'
export type { ResourceFinder } from './tasks/resource-filter.ts'
export type { PostOptions } from './templates/post-checks.ts'
export type { GraphFormat } from './shared-schema.ts'
export type * from './batches/batch-schema.ts'
export type * from './inspection/inspection-schema.ts'
export type * from './rehearsals/rehearsal-schema.ts'
export type { RehearsalApi } from './rehearsals/rehearsals.ts'
export type * from './tasks/task-schema.ts'
export type * from './templates/template-schema.ts'
export type * from './tools/tools-schema.ts'
