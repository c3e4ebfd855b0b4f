/**
 * The interface between the rules service and the runner of one tenant's tasks.
 *
 * A change of a stored task takes three steps: `plan` (may look things up, changes nothing), one commit of the
 * service's document and the plan's writes, then `apply` (changes the engine). If the process dies after the commit,
 * `resume` does at the next start what `apply` would have done.
 *
 * RUNNER-1 `plan` leaves no trace if its writes are never committed
 * RUNNER-2 everything that `push`, `command` and `receive` acknowledge is in the log before they resolve
 * RUNNER-3 counts and states belong to one epoch; a new epoch starts without any
 * RUNNER-4 an effect's id contains the epoch (or a unique run number), so that two runs never share an id
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
import type { Shadows } from './durable/shadows.ts'
import type { InputsPage, InputsQuery, TaskStateView } from './inputs/inputs-schema.ts'
import type { Delivery, DeliveryQuery, TaskDelivery } from './inspection/inspection-schema.ts'

export interface RunnableTask {
  readonly id: string
  /** counts the task's starts, from 1; states of other epochs are stale */
  readonly epoch: number
  readonly createTime: number
  /** the template or rule with exact plug versions; the same object for all tasks of a template version */
  readonly source: Template | Rule
  /** the task's own settings, including node overrides; never contains `start` */
  readonly settings: TaskSettings
  /** present for a shadow: it begins with the state of this task, and its effects are simulated */
  readonly beside?: string
}

export type TaskChange =
  | { readonly kind: 'begin'; readonly task: RunnableTask }
  /** continues the run with another rule or settings; unaffected nodes keep their states */
  | {
      readonly kind: 'change'
      readonly task: RunnableTask
      readonly before: Pick<RunnableTask, 'source' | 'settings'>
    }
  | { readonly kind: 'end'; readonly id: string; readonly epoch: number }
  | { readonly kind: 'forget'; readonly id: string }

export interface PlannedChange {
  readonly writes: readonly Write[]
  /** for `begin` and `change`: every resource of a node, with placeholders resolved */
  readonly resourceIds: readonly string[]
  /** Call after the commit; later failures are reported by `ended$`. */
  apply(): Promise<void>
  /** Replaces commit and `apply` by one step, which saves a wait for the disk; a rejection has no effect. */
  readonly carryOut?: (writes: readonly Write[]) => Promise<void>
}

export interface TaskRunner {
  /** Throws `VALIDATION` (all problems at once) or `RESOLUTION` for a `begin` or `change` that cannot run. */
  plan(change: TaskChange): Promise<PlannedChange>
  /** undefined if the task has no run of its epoch; rejects as `plan` does. */
  losses(task: RunnableTask): Promise<readonly Lost[] | undefined>
  /** Resumes portions in the order of the calls; a task that cannot continue is reported as `failed`. */
  resume(tasks: readonly RunnableTask[]): Promise<void>
  readonly nodes: NodeControl
  readonly intake: DataIntake
  readonly reports: RunReports
  /** pairs of tasks and shadows to compare; a shadow is begun, resumed and forgotten as a task */
  readonly shadows: Shadows
  /** absent: past states of tasks cannot be shown */
  readonly past?: TaskPast | undefined
}

/** Shows past inputs and states of tasks, as long as inputs are kept. Does not affect live tasks. */
export interface TaskPast {
  /** `resources`: includes the task's present resources */
  inputs(id: string, query: InputsQuery): Promise<InputsPage>
  /** Throws `NOT_FOUND` if no inputs are kept for the instant. */
  state(id: string, at: number | undefined): Promise<TaskStateView>
  /** Explains a node at a past instant. Throws as `state` does, and `WRONG_STATUS` if the task did not run then. */
  explain(id: string, node: string, at: number): Promise<Explanation>
  deleteResource(resource: string): Promise<void>
}

/** Inspects and controls the nodes of one task. Throws `NOT_FOUND` for a task without a run here. */
export interface NodeControl {
  info(task: string): TaskInfo | undefined
  view(task: string, label?: string): readonly NodeView[]
  push(
    task: string,
    node: string,
    value: { readonly state?: string; readonly rawData?: Record<string, unknown> },
  ): Promise<void>
  /** `start` runs a sensor now; `resume` ends a node's pause. Throws `NOT_FOUND`, `WRONG_STATUS`. */
  command(task: string, node: string, operation: 'start' | 'resume'): Promise<void>
  resync(task: string): Promise<void>
  explain(task: string, node: string): Explanation
  deliveries(task: string, query: DeliveryQuery): Promise<readonly Delivery[]>
  /** Returns the stored deliveries of all tasks, newest first. */
  storedDeliveries(
    query: Pick<DeliveryQuery, 'status' | 'limit'>,
    after?: DeliveryPlace,
  ): Promise<readonly KeyedDelivery[]>
  /** Returns the deliveries of all tasks that are not stored, at most 10,000, in any order. */
  unstoredDeliveries(): Promise<readonly KeyedDelivery[]>
  /**
   * Makes the call of a failed delivery again, and returns the delivery afterwards. Throws `NOT_FOUND`, and
   * `WRONG_STATUS` for a delivery that has not failed, or whose task does not run.
   */
  retry(task: string, delivery: string): Promise<Delivery>
}

/** `key`: orders deliveries of the same time. */
export interface KeyedDelivery extends TaskDelivery {
  readonly key: string
}

/** A place in the list of all deliveries. `time`: epoch ms */
export interface DeliveryPlace {
  readonly time: number
  readonly key: string
}

export interface DataIntake {
  /** One commit, in order of arrival; a rejected call has written nothing. `CONFLICT` names writes by index. */
  receive(posts: readonly IntakePost[], writes?: readonly Write[], followed?: Followed): Promise<Intake>
}

/** One invocation of the tasks that listen to its messages. */
export interface IntakePost {
  readonly messages: Message | readonly Message[]
  readonly text?: string
  /** log the messages even if no task listens to them */
  readonly kept?: KeptMessage | undefined
  /** default: broker data */
  readonly channel?: string
  /** number of consecutive rules that led to the messages; default 0 */
  readonly hops?: number
  /** if there are hops: id of the first arrival that led to the messages */
  readonly root?: string
  /** indexes of messages that took their arrival as timestamp */
  readonly unstamped?: readonly number[] | undefined
  /** keys to ignore when comparing a message with earlier ones; `all`: treat every message as new */
  readonly identityIgnores?: readonly string[] | 'all' | undefined
}

export interface Intake {
  readonly taken: boolean
  /** results of the caller's writes in order, as from a commit: new versions, last positions */
  readonly results: readonly number[]
}

export interface RunReports {
  history(task: string, after: number): TaskHistory
  /** Starts, ends, failures, log lines. Never errors; completes when the runner is closed. */
  readonly lifecycle$: Observable<EngineEvent>
  /** Every event of one task, which takes no part in vectorized batches meanwhile. */
  watch(task: string): Observable<EngineEvent>
  /** At least once, and again after a crash until the task is restarted or forgotten. */
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
