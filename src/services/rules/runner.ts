/**
 * Runner of one tenant's tasks, as the rules service sees it. The durable runner implements it over the core engine and
 * the log of the tenant; tests do it over a bare engine.
 *
 * A change of a stored task takes three steps: `plan` (may look things up, changes nothing), one commit of the
 * service's document and the plan's writes, then `apply` (changes the engine). If the process dies after the commit,
 * `resume` does at the next start what `apply` would have done.
 *
 * RUNNER-1 `plan` leaves no trace when its writes are never committed
 * RUNNER-2 what `push`, `command` and `receive` acknowledged is in the log before they resolve
 * RUNNER-3 counts and states are those of one epoch; a new epoch begins with none
 * RUNNER-4 an effect's id contains the epoch (or a unique run number), so that no two runs share an id
 */
import type { Observable } from 'rxjs'
import type {
  EngineEvent,
  Explanation,
  Lost,
  Message,
  NodeView,
  Rule,
  TaskHistory,
  TaskInfo,
  TaskSettings,
  Template,
} from '#core'
import type { Followed, KeptMessage } from '#log'
import type { Write } from '#storage'
import type { InputsPage, InputsQuery, TaskStateView } from './inputs/inputs-schema.ts'
import type { Delivery, DeliveryQuery } from './inspection/inspection-schema.ts'

export interface RunnableTask {
  readonly id: string
  /** number of its start, from 1; states of other epochs are stale */
  readonly epoch: number
  readonly createTime: number
  /** the template or rule with exact plug versions; one object for all tasks of a template's version */
  readonly source: Template | Rule
  /** settings of the task itself, node overrides included; never with `start` */
  readonly settings: TaskSettings
}

export type TaskChange =
  /** begins a run and drops the run before */
  | { readonly kind: 'begin'; readonly task: RunnableTask }
  /** continues the run under another rule and other settings; untouched nodes keep their states */
  | {
      readonly kind: 'change'
      readonly task: RunnableTask
      readonly before: Pick<RunnableTask, 'source' | 'settings'>
    }
  | { readonly kind: 'end'; readonly id: string; readonly epoch: number }
  | { readonly kind: 'forget'; readonly id: string }

export interface PlannedChange {
  readonly writes: readonly Write[]
  /** of `begin` and `change`: every resource of a node, placeholders resolved */
  readonly resourceIds: readonly string[]
  /** After the commit. Rejects only for what `plan` cannot find out; later failures are `ended` reports. */
  apply(): Promise<void>
  /**
   * Replaces that commit and `apply` where both can be one: commits the service's writes with `writes` and the change's
   * log entry, which saves a wait for the disk, then applies the change. Rejects as the commit does, without any
   * effect.
   */
  readonly carryOut?: (writes: readonly Write[]) => Promise<void>
}

export interface TaskRunner {
  /** `VALIDATION` (all problems at once) and `RESOLUTION` for a `begin` or `change` that cannot run. */
  plan(change: TaskChange): Promise<PlannedChange>
  /**
   * State that nodes would lose by a `change` to that task; undefined without a run of its epoch. Rejects as `plan`
   * does.
   */
  losses(task: RunnableTask): Promise<readonly Lost[] | undefined>
  /**
   * Continues stored tasks at start, in portions, or begins those without a state; a task that cannot continue is
   * reported as `failed`. Resolves when they accept inputs. Portions are resumed in the order of the calls; the states
   * of the next one are read meanwhile.
   */
  resume(tasks: readonly RunnableTask[]): Promise<void>
  readonly nodes: NodeControl
  readonly intake: DataIntake
  readonly reports: RunReports
  /** absent: tasks have only a present */
  readonly past?: TaskPast | undefined
}

/** Tasks as they were, as far as inputs are kept. Looking does not touch live tasks. */
export interface TaskPast {
  /** `resources`: those of the task now are among them */
  inputs(id: string, query: InputsQuery): Promise<InputsPage>
  /** `NOT_FOUND` for an instant of which no inputs are kept. */
  state(id: string, at: number | undefined): Promise<TaskStateView>
  deleteResource(resource: string): Promise<void>
}

/** Inspection and inputs of one task. `NOT_FOUND` for a task without a run here. */
export interface NodeControl {
  /** counts and times of this epoch; undefined without a run */
  info(task: string): TaskInfo | undefined
  /** every node in the order of the rule, or the named one; empty without a run */
  view(task: string, label?: string): readonly NodeView[]
  /** Observes a state, sets raw data, or both. `INVALID_STATE`, `NOT_FOUND`, `WRONG_STATUS`, `VALIDATION`. */
  push(
    task: string,
    node: string,
    value: { readonly state?: string; readonly rawData?: Record<string, unknown> },
  ): Promise<void>
  /** `start` runs a sensor now; `resume` ends the pause of a node. `NOT_FOUND`, `WRONG_STATUS`. */
  command(task: string, node: string, operation: 'start' | 'resume'): Promise<void>
  resync(task: string): Promise<void>
  explain(task: string, node: string): Explanation
  deliveries(task: string, query: DeliveryQuery): Promise<readonly Delivery[]>
}

export interface DataIntake {
  /**
   * Resolves when the posts and the caller's writes are durable, in one commit, and the posts are applied in their
   * order. Writes are committed in the order of arrival, also of messages without a listener. A rejected call wrote
   * nothing: `VALIDATION` (bad messages, channel or writes), `CONFLICT`, whose issues name the caller's writes by index,
   * `TOO_LARGE`, `CLOSED`. `followed`: as of a unit of the log.
   */
  receive(posts: readonly IntakePost[], writes?: readonly Write[], followed?: Followed): Promise<Intake>
}

/** One invocation. */
export interface IntakePost {
  readonly messages: Message | readonly Message[]
  /** the messages as JSON, if at hand */
  readonly text?: string
  /** they are logged with or without a listener */
  readonly kept?: KeptMessage | undefined
  /** default: broker data */
  readonly channel?: string
  /** number of rules in a row that led to the messages; default 0 */
  readonly hops?: number
  /** with hops: the id of the arrival behind them */
  readonly root?: string
  /** indexes of messages without a timestamp: theirs is that of their arrival */
  readonly unstamped?: readonly number[] | undefined
  /** keys ignored when a message is compared with earlier ones; `all`: it is always new */
  readonly identityIgnores?: readonly string[] | 'all' | undefined
}

export interface Intake {
  /** whether some running task receives a message */
  readonly taken: boolean
  /** results of the caller's writes, in their order, as of a commit: new versions, last positions */
  readonly results: readonly number[]
}

export interface RunReports {
  history(task: string, after: number): TaskHistory
  /**
   * Lifecycle events: starts, ends, failures of plugs, lines of the log. Costs nothing. Never errors; completes when
   * the runner is closed.
   */
  readonly lifecycle$: Observable<EngineEvent>
  /** Every event of one task, which leaves the columnar path meanwhile. Otherwise as `lifecycle$`. */
  watch(task: string): Observable<EngineEvent>
  /**
   * Runs that finished, or failed, by themselves. Reported at least once, and again after a crash until the task is
   * begun again or forgotten.
   */
  readonly ended$: Observable<EndedRun>
}

export interface EndedRun {
  readonly id: string
  readonly epoch: number
  readonly status: 'stopped' | 'failed'
  /** epoch ms */
  readonly finishedTime: number
  readonly error?: string
}
