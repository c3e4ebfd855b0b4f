/**
 * Contract of the rules service, the same over HTTP (`api.ts`) and over fetch (`client.ts`).
 *
 * Errors are AppErrors: `NOT_FOUND`, `VALIDATION` (all problems at once), `WRONG_STATUS`, `RESOLUTION`,
 * `INVALID_STATE`, `PLUG_FAILED`, `TOO_LARGE`, `PRECONDITION` (another `revision` is there), `CONFLICT` (two writers at
 * once, after retries) and `CLOSED`. A specification may be any JSON: the service checks it.
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
import type { InputsPage, InputsQuery, TaskStateView } from './inputs/inputs-schema.ts'
import type { RulesQuestion } from './partitions/rules-question.ts'
import type {
  EventPage,
  QueuedRehearsal,
  Rehearsal,
  RehearsalEvents,
  RehearsalRequest,
  RehearsalSummary,
} from './rehearsals/rehearsal-schema.ts'
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

export interface RulesService {
  /** The API with the rights of that caller. Cheap: made per request. */
  as(caller: Caller): RulesApi
}

export interface InternalRules extends RulesService {
  /** Resumes running tasks and batches. Resolves when tasks accept inputs. The signal ends streams of events. */
  start(closing?: AbortSignal): Promise<void>
  /** Stops accepting work. Batches and running tasks continue at the next start. */
  stop(): Promise<void>
  gauges(): RulesGauges
  tasksByStatus(): Promise<Readonly<Record<string, number>>>
  /**
   * Restarts running tasks of the resource whose references in metadata now mean other resources. Returns their number.
   */
  rebind(resource: string): Promise<number>
  /** Deletes the kept inputs of a resource that is being deleted. */
  deleteInputs(resource: string): Promise<void>
  answer(question: RulesQuestion): Promise<unknown>
}

export interface RulesGauges {
  readonly openBatches: number
  readonly eventStreams: number
}

export interface RulesApi {
  readonly tasks: TaskApi
  readonly templates: TemplateApi
  readonly batches: BatchApi
  readonly inspection: InspectionApi
  readonly tools: ToolApi
  readonly rehearsals: RehearsalApi
}

export interface TaskApi {
  /** Rejects without storing anything when the rule or its start is invalid. */
  create(specification: TaskSpecification, options?: PostOptions): Promise<CreatedTask>
  /**
   * Keeps the id; a running task restarts, unless the specification says otherwise. Its run continues when only its
   * name or tags change.
   */
  replace(id: string, specification: TaskSpecification, options?: PostOptions & RevisionOptions): Promise<TaskEntity>
  remove(id: string, options?: RemoveOptions & RevisionOptions): Promise<void>
  start(id: string, options?: RevisionOptions): Promise<TaskEntity>
  stop(id: string, options?: RevisionOptions): Promise<TaskEntity>
  restart(id: string, options?: RevisionOptions): Promise<TaskEntity>
  /**
   * Forgets when resources were last measured, so that readings of a clock that was set back are accepted.
   * `WRONG_STATUS`.
   */
  resync(id: string): Promise<TaskEntity>
  get(id: string, options?: ShowOptions): Promise<TaskEntity>
  /** The posted body, in the requested form; default: the posted form. */
  conf(id: string, format?: GraphFormat): Promise<TaskSpecification>
  list(query: TaskQuery, options?: ShowOptions & { readonly withoutGraph?: boolean }): Promise<Page<TaskEntity>>
  count(where: TaskFilter): Promise<number>
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
  get(name: string, format?: GraphFormat, version?: number): Promise<TemplateEntity>
  versions(name: string, page: Pick<TemplateQuery, 'hits' | 'startIndex'>): Promise<Page<TemplateVersion>>
  list(query: TemplateQuery): Promise<Page<TemplateEntity>>
  upgrade(where: TemplateFilter, upgrade: TemplateUpgrade): Promise<UpgradedTemplates>
  /** The template for discovery; `NOT_FOUND` when none is marked. */
  discovery(format?: GraphFormat): Promise<TemplateEntity>
  setDiscovery(name: string): Promise<void>
  /** Runs a stored template, or the graph of the body, in virtual time; stores nothing. */
  run(name: string | undefined, run: TemplateRun, options?: TemplateRunOptions): AsyncIterable<InvocationReport>
}

export interface BatchApi {
  queue(request: BatchRequest): Promise<QueuedBatch>
  /** Queues it and waits for its end, or the stop of the host. */
  run(request: BatchRequest): Promise<BatchStatus>
  preview(request: BatchRequest): Promise<BatchPreview>
  get(id: string): Promise<BatchStatus>
  previewReload(id: string, options?: ReloadOptions): Promise<TaskPreview>
  /** Makes one task again from its template's newest version, or from the named one. */
  reload(id: string, options?: ReloadOptions & RevisionOptions): Promise<TaskEntity>
}

export interface InspectionApi {
  node(id: string, node: string): Promise<RuntimeNode>
  states(id: string, node: string): Promise<readonly string[]>
  push(id: string, node: string, push: NodePush): Promise<RuntimeNode>
  command(id: string, node: string, command: NodeCommand): Promise<RuntimeNode>
  explain(id: string, node: string): Promise<Explanation>
  log(query: TaskLogQuery): Promise<TaskLogPage>
  /** From now on, or after `lastEventId`; ends with the signal, or when the task is deleted. */
  events(id: string, options: EventStreamOptions): AsyncIterable<StreamEvent>
  deliveries(id: string, query: DeliveryQuery): Promise<readonly Delivery[]>
  /** Inputs that are kept of the task, oldest first, with what fired for them. */
  inputs(id: string, query?: InputsQuery): Promise<InputsPage>
  /** The task at an instant, epoch ms; without: now. `NOT_FOUND` for an instant of which no inputs are kept. */
  state(id: string, at?: number): Promise<TaskStateView>
}

export interface ToolApi {
  plugs(family: PlugFamily): Promise<readonly PlugEntity[]>
  plug(family: PlugFamily, name: string, version?: string): Promise<PlugEntity>
  versions(family: PlugFamily, name: string): Promise<readonly PlugEntity[]>
  /** Runs one plug once. A failed run is an ordinary outcome. */
  call(
    family: PlugFamily,
    name: string,
    version: string | undefined,
    call: PlugCall,
    cause?: PlugCause,
  ): Promise<PlugOutcome>
  push(data: DataPush): Promise<PushOutcome>
  /** Accepts a simulation as JSON bytes too, and answers a long one so. */
  simulate(simulation: Simulation | Uint8Array): Promise<SimulationResult | Uint8Array>
  nextRuns(query: NextRunsQuery): Promise<NextRunsAnswer>
  /** The variables that a graph reads, in either form, declared or not. */
  variables(graph: unknown): Promise<readonly FoundVariable[]>
}

/** Rehearsals of rules. Errors: `VALIDATION` with all problems, `NOT_FOUND`, `TOO_LARGE`, `RATE_LIMITED`. */
export interface RehearsalApi {
  /** The answer, or where it will be when it takes longer than two seconds. */
  run(request: RehearsalRequest): Promise<Rehearsal | QueuedRehearsal>
  get(id: string): Promise<Rehearsal>
  events(id: string, page?: EventPage): Promise<RehearsalEvents>
  /** Cancels it, or removes it when it has ended. */
  remove(id: string): Promise<void>
  /** Of a task, newest first, at most 100. */
  ofTask(id: string): Promise<readonly RehearsalSummary[]>
}

export type { FoundVariable }

export type { Explanation } from '#core'
export type { Caller, Page } from '#kernel'
export type { ResourceFinder } from './tasks/resource-filter.ts'
export type { PostOptions } from './templates/post-checks.ts'
export type { GraphFormat } from './shared-schema.ts'
export type * from './batches/batch-schema.ts'
export type * from './inputs/inputs-schema.ts'
export type * from './inspection/inspection-schema.ts'
export type * from './rehearsals/rehearsal-schema.ts'
export type * from './tasks/task-schema.ts'
export type * from './templates/template-schema.ts'
export type * from './tools/tools-schema.ts'
