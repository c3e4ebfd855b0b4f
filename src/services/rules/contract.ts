/**
 * Contract of the rules service, identical over HTTP (`api.ts`) and over fetch (`client.ts`).
 *
 * Errors are AppErrors: `NOT_FOUND`, `VALIDATION` (all problems at once), `WRONG_STATUS`, `RESOLUTION`,
 * `INVALID_STATE`, `PLUG_FAILED`, `TOO_LARGE`, `PRECONDITION` (the stored `revision` differs), `CONFLICT` (concurrent
 * writers, after retries) and `CLOSED`. A specification may be any JSON: the service checks it.
 */
import type { Explained } from '#core/sentences'
import type { Caller, Page, RevisionOptions, Rights } from '#kernel'
import type { BatchPreview, BatchRequest, BatchStatus, QueuedBatch } from './batches/batch-schema.ts'
import type {
  AllDeliveries,
  Delivery,
  DeliveryPage,
  DeliveryQuery,
  EventStreamOptions,
  NodeCommand,
  NodePush,
  RuntimeNode,
  StreamEvent,
  TaskLogPage,
  TaskLogQuery,
} from './inspection/inspection-schema.ts'
export type { FiringListener, TaskFiring } from './durable/firing-tap.ts'
import type { InputsPage, InputsQuery, TaskStateView } from './inputs/inputs-schema.ts'
import type {
  EventPage,
  QueuedRehearsal,
  Rehearsal,
  RehearsalEvents,
  RehearsalRequest,
  ReplayRequest,
  RehearsalSummary,
} from './rehearsals/rehearsal-schema.ts'
import type { Rollout, RolloutPreview, RolloutRequest, RolloutSummary } from './rollouts/rollout-schema.ts'
import type { FoundVariable } from '#core/spi'
import type { DraftOptions, NoteOptions, PostOptions } from './templates/post-checks.ts'
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
  TaskVersion,
  TaskVersionDetail,
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
  CheckedRule,
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
  RuleCheck,
  Simulation,
  SimulationResult,
  TemplateRun,
  TemplateRunOptions,
} from './tools/tools-schema.ts'

export interface RulesService {
  /** Returns the API with the caller's rights. Cheap: called for each request. */
  as(caller: Caller): RulesApi
}

export interface InternalRules extends RulesService {
  /** Resumes running tasks and batches. Resolves when tasks accept inputs. The signal ends event streams. */
  start(closing?: AbortSignal): Promise<void>
  /** Stops accepting work. Batches and running tasks continue at the next start. */
  stop(): Promise<void>
  gauges(): RulesGauges
  tasksByStatus(): Promise<Readonly<Record<string, number>>>
  /** Returns the rights of a running task; undefined: all rights. */
  rightsOf(task: string): Rights | undefined
  /**
   * Restarts running tasks of the resource if references in its metadata now lead to other resources. Returns how many
   * restarted.
   */
  rebind(resource: string): Promise<number>
  /** Deletes the kept inputs of a resource that is being deleted. */
  deleteInputs(resource: string): Promise<void>
}

export interface RulesGauges {
  readonly openBatches: number
  readonly eventStreams: number
  /** since the start of the process */
  readonly failedRehearsals: number
}

export interface RulesApi {
  readonly tasks: TaskApi
  readonly templates: TemplateApi
  readonly batches: BatchApi
  readonly inspection: InspectionApi
  readonly tools: ToolApi
  readonly rehearsals: RehearsalApi
  readonly rollouts: RolloutApi
}

export interface TaskApi {
  /** Rejects without storing anything when the rule or its start is invalid. */
  create(specification: TaskSpecification, options?: PostOptions & NoteOptions): Promise<CreatedTask>
  /** Keeps the id. A running task restarts, unless the specification says otherwise or only its name or tags change. */
  replace(
    id: string,
    specification: TaskSpecification,
    options?: PostOptions & NoteOptions & RevisionOptions,
  ): Promise<TaskEntity>
  remove(id: string, options?: RemoveOptions & RevisionOptions): Promise<void>
  start(id: string, options?: RevisionOptions): Promise<TaskEntity>
  stop(id: string, options?: RevisionOptions): Promise<TaskEntity>
  restart(id: string, options?: RevisionOptions): Promise<TaskEntity>
  /**
   * Makes the task forget when its resources were last measured, so that it accepts readings after a clock was set
   * back. Throws `WRONG_STATUS`.
   */
  resync(id: string): Promise<TaskEntity>
  get(id: string, options?: ShowOptions): Promise<TaskEntity>
  /** Returns the posted body in the requested form; default: as posted. */
  conf(id: string, format?: GraphFormat): Promise<TaskSpecification>
  list(query: TaskQuery, options?: ShowOptions & { readonly withoutGraph?: boolean }): Promise<Page<TaskEntity>>
  count(where: TaskFilter): Promise<number>
  runs(id: string): Promise<readonly TaskRunRecord[]>
  /**
   * Lists the kept versions of a task without a template, newest first. Throws `WRONG_STATUS` for a task made from a
   * template.
   */
  versions(id: string, page: Pick<TaskQuery, 'hits' | 'startIndex'>): Promise<Page<TaskVersion>>
  /** Shows a version, its changes since `against` (default: the version before), and what restoring it would change. */
  version(id: string, version: number, against?: number): Promise<TaskVersionDetail>
  /** Makes a new version from an older one, with the rights of the caller. */
  restore(id: string, version: number, options?: NoteOptions & RevisionOptions): Promise<TaskEntity>
}

export interface TemplateApi {
  create(specification: TemplateSpecification, options?: PostOptions & DraftOptions): Promise<CreatedTemplate>
  /**
   * Existing tasks stay as they are until they are reloaded. `rehearse`: compares with the tasks as they are. `draft`:
   * stores a version that runs only in rehearsals and roll-outs, beside the published one.
   */
  replace(
    name: string,
    specification: TemplateSpecification,
    options?: PostOptions & DraftOptions & RevisionOptions & Pick<ReloadOptions, 'rehearse'>,
  ): Promise<TemplateEntity>
  /** Makes a draft the version of which new tasks are made. Throws `WRONG_STATUS` for a version that is not a draft. */
  publish(name: string, version: number, options?: RevisionOptions): Promise<TemplateEntity>
  /** Throws `WRONG_STATUS` while tasks use the template. */
  remove(name: string, options?: RevisionOptions): Promise<void>
  copy(name: string, newName: string): Promise<TemplateEntity>
  get(name: string, format?: GraphFormat, version?: number): Promise<TemplateEntity>
  versions(name: string, page: Pick<TemplateQuery, 'hits' | 'startIndex'>): Promise<Page<TemplateVersion>>
  list(query: TemplateQuery): Promise<Page<TemplateEntity>>
  upgrade(where: TemplateFilter, upgrade: TemplateUpgrade): Promise<UpgradedTemplates>
  /** Returns the template for discovery. Throws `NOT_FOUND` if none is marked. */
  discovery(format?: GraphFormat): Promise<TemplateEntity>
  setDiscovery(name: string): Promise<void>
  /** Runs a stored template, or the graph in the body, in virtual time. Stores nothing. */
  run(name: string | undefined, run: TemplateRun, options?: TemplateRunOptions): AsyncIterable<InvocationReport>
}

export interface BatchApi {
  queue(request: BatchRequest): Promise<QueuedBatch>
  /** Queues the batch and waits until it ends or the host stops. */
  run(request: BatchRequest): Promise<BatchStatus>
  preview(request: BatchRequest): Promise<BatchPreview>
  get(id: string): Promise<BatchStatus>
  previewReload(id: string, options?: ReloadOptions): Promise<TaskPreview>
  /**
   * Returns the changes that `tasks.replace` would make, and the state that a running task would lose. Changes nothing.
   */
  previewReplace(id: string, specification: TaskSpecification): Promise<TaskPreview>
  /** Makes a task again from the newest version of its template, or from the given version. */
  reload(id: string, options?: ReloadOptions & RevisionOptions): Promise<TaskEntity>
}

export interface InspectionApi {
  node(id: string, node: string): Promise<RuntimeNode>
  states(id: string, node: string): Promise<readonly string[]>
  push(id: string, node: string, push: NodePush): Promise<RuntimeNode>
  command(id: string, node: string, command: NodeCommand): Promise<RuntimeNode>
  /**
   * Explains any node of a task at an instant (epoch ms; default: now), with sentences whose times are in UTC. Throws
   * `NOT_FOUND` if no inputs are kept for the instant.
   */
  explain(id: string, node: string, at?: number): Promise<Explained>
  log(query: TaskLogQuery): Promise<TaskLogPage>
  /** Streams new events, or all events after `lastEventId`. Ends with the signal, or when the task is deleted. */
  events(id: string, options: EventStreamOptions): AsyncIterable<StreamEvent>
  deliveries(id: string, query: DeliveryQuery): Promise<DeliveryPage>
  /** Returns the deliveries of all tasks, newest first. */
  allDeliveries(query: DeliveryQuery): Promise<AllDeliveries>
  /**
   * Makes the call of a dead delivery again, with the id and the properties that it had, and returns the delivery with
   * its result. Throws `WRONG_STATUS` for any other delivery, and if the task does not run.
   */
  retry(id: string, delivery: string): Promise<Delivery>
  /** Returns the kept inputs of the task, oldest first, with the nodes that each input fired. */
  inputs(id: string, query?: InputsQuery): Promise<InputsPage>
  /**
   * Returns the task's state at an instant (epoch ms; default: now). Throws `NOT_FOUND` if no inputs are kept for it.
   */
  state(id: string, at?: number): Promise<TaskStateView>
}

export interface ToolApi {
  plugs(family: PlugFamily): Promise<readonly PlugEntity[]>
  plug(family: PlugFamily, name: string, version?: string): Promise<PlugEntity>
  versions(family: PlugFamily, name: string): Promise<readonly PlugEntity[]>
  /** Runs a plug once. A failed run is an ordinary outcome. */
  call(
    family: PlugFamily,
    name: string,
    version: string | undefined,
    call: PlugCall,
    cause?: PlugCause,
  ): Promise<PlugOutcome>
  push(data: DataPush): Promise<PushOutcome>
  /** Also accepts a simulation as JSON bytes; returns a long result as bytes. */
  simulate(simulation: Simulation | Uint8Array): Promise<SimulationResult | Uint8Array>
  nextRuns(query: NextRunsQuery): Promise<NextRunsAnswer>
  /** Lists all problems of a rule or template. Stores nothing. */
  check(check: RuleCheck): Promise<CheckedRule>
  /** Finds the variables that a graph in either form reads, declared or not. */
  variables(graph: unknown): Promise<readonly FoundVariable[]>
}

/** Rehearses rules. Errors: `VALIDATION` with all problems, `NOT_FOUND`, `TOO_LARGE`, `RATE_LIMITED`. */
export interface RehearsalApi {
  /** Returns the result, or a reference to it if the rehearsal takes longer than two seconds. */
  run(request: RehearsalRequest): Promise<Rehearsal | QueuedRehearsal>
  /** Replays a copy of a task from one of its inputs, and compares it with the recorded behavior of the task. */
  replay(id: string, request: ReplayRequest): Promise<Rehearsal | QueuedRehearsal>
  get(id: string): Promise<Rehearsal>
  events(id: string, page?: EventPage): Promise<RehearsalEvents>
  /** Cancels a rehearsal, or removes it if it has ended. */
  remove(id: string): Promise<void>
  /** Lists the rehearsals of a task, newest first, at most 100. */
  ofTask(id: string): Promise<readonly RehearsalSummary[]>
}

/**
 * Tries versions of templates beside the live ones, and moves tasks to them. Errors: `VALIDATION`, `NOT_FOUND`,
 * `WRONG_STATUS`, `TOO_LARGE`, and `CONFLICT` while another roll-out of the template is open. The previews change
 * nothing, and list the state that tasks would lose.
 */
export interface RolloutApi {
  /** A shadow needs the scope `author`, a canary and the mode all need `publish`. */
  create(template: string, request: RolloutRequest): Promise<Rollout>
  preview(template: string, request: RolloutRequest): Promise<RolloutPreview>
  /** Newest first. */
  list(template: string, page: Pick<TemplateQuery, 'hits' | 'startIndex'>): Promise<Page<RolloutSummary>>
  get(template: string, id: string): Promise<Rollout>
  /** Publishes the version and moves all tasks of the template to it. */
  promote(template: string, id: string): Promise<Rollout>
  /** Moves tasks back to the versions that they had, and publishes the former version again. */
  rollback(template: string, id: string): Promise<Rollout>
  previewPromote(template: string, id: string): Promise<RolloutPreview>
  previewRollback(template: string, id: string): Promise<RolloutPreview>
}

export type { FoundVariable }

export { CoverageCount } from './rehearsals/coverage.ts'
export { REHEARSAL } from './rehearsals/rehearsal-schema.ts'
export { RuleCheck } from './tools/tools-schema.ts'

export type { Explained, ExplanationText } from '#core/sentences'
export type { Caller, Page } from '#kernel'
export type { ResourceFinder } from './tasks/resource-filter.ts'
export type { DraftOptions, NoteOptions, PostOptions } from './templates/post-checks.ts'
export type { GraphFormat } from './shared-schema.ts'
export type * from './batches/batch-schema.ts'
export type * from './inputs/inputs-schema.ts'
export type * from './inspection/inspection-schema.ts'
export type * from './rehearsals/rehearsal-schema.ts'
export type * from './rollouts/rollout-schema.ts'
export type * from './tasks/task-schema.ts'
export type * from './templates/template-schema.ts'
export type * from './tools/tools-schema.ts'
