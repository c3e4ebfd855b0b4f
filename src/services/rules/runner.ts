/**
 * Runner of one tenant's tasks, as the rules service sees it. The durable runner implements it over the core engine and
 * the log of the tenant; tests do it over a bare engine.
 *
 * A change of a stored task is made in three steps: `plan` (may look things up, changes nothing), one commit with the
 * service's document and the plan's writes, then `apply` (tells the engine). When the process dies after the commit,
 * `resume` does at the next start what `apply` would have done.
 *
 * Not in here: names, tags, users, templates by name, listings (the service's documents), and any HTTP.
 *
 * RUNNER-1 `plan` leaves no trace when its writes are never committed
 * RUNNER-2 what `push`, `command` and `receive` acknowledged is in the log before they resolve
 * RUNNER-3 counts and states are those of one epoch; a new epoch begins with none
 * RUNNER-4 an effect's id contains the epoch (or a run number that never comes twice), so that no two runs share an id
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

/** A stored task that runs or is about to. */
export interface RunnableTask {
  readonly id: string
  /** counts the starts of the task, from 1; state of another epoch is not its state */
  readonly epoch: number
  /** epoch ms of the document */
  readonly createTime: number
  /** the template or rule with all plug versions written out; one object for all tasks of a template's version */
  readonly source: Template | Rule
  /** what the task itself brings, node overrides included; never with `start` */
  readonly settings: TaskSettings
}

export type TaskChange =
  /** a run begins, over whatever ran before under this id */
  | { readonly kind: 'begin'; readonly task: RunnableTask }
  /** the run goes on with another source and other settings, under the same epoch; what it does not touch stays as it is */
  | {
      readonly kind: 'change'
      readonly task: RunnableTask
      /** what the run was made of until now */
      readonly before: Pick<RunnableTask, 'source' | 'settings'>
    }
  /** the run ends; its last states may be shown until the task is forgotten */
  | { readonly kind: 'end'; readonly id: string; readonly epoch: number }
  /** the task is deleted; nothing of it may stay */
  | { readonly kind: 'forget'; readonly id: string }

export interface PlannedChange {
  /** to be committed together with the service's document */
  readonly writes: readonly Write[]
  /** for `begin` and `change`: every resource that a node is bound to, placeholders resolved */
  readonly resourceIds: readonly string[]
  /** After the commit. Never rejects for what `plan` can find out; what happens later is an `ended` report. */
  apply(): Promise<void>
  /**
   * Instead of that commit and `apply`, where both can be one: commits the service's own writes whole with `writes` and
   * with what the change logs, so that nobody waits for the disk twice, then does what `apply` does. Rejects as the
   * commit does; then nothing has happened.
   */
  readonly carryOut?: (writes: readonly Write[]) => Promise<void>
}

export interface TaskRunner {
  /** For `begin` and `change`: `VALIDATION` (all problems at once) and `RESOLUTION` when it could not run. */
  plan(change: TaskChange): Promise<PlannedChange>
  /**
   * What nodes would lose by a `change` to that task now; undefined when no run of its epoch is there that could go on.
   * Rejects as `plan` does.
   */
  losses(task: RunnableTask): Promise<readonly Lost[] | undefined>
  /**
   * At start, in portions: goes on with these where their state was, or begins those that have none. One that cannot
   * go on is reported as ended with `failed`. Resolves when they take inputs. Who does not wait for that before the next
   * portion has what it needs read meanwhile; portions are taken up in the order of the calls.
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

/** A look into one running task, and inputs for it. `NOT_FOUND` for a task that this runner does not hold. */
export interface NodeControl {
  /** counts and times of this epoch; undefined for a task that has no run here */
  info(task: string): TaskInfo | undefined
  /** every node in the order of the rule, or the one asked for; empty when there is no run */
  view(task: string, label?: string): readonly NodeView[]
  /** Observes a state, sets raw data, or both. `INVALID_STATE`, `NOT_FOUND`, `WRONG_STATUS`, `VALIDATION`. */
  push(
    task: string,
    node: string,
    value: { readonly state?: string; readonly rawData?: Record<string, unknown> },
  ): Promise<void>
  /** `start` runs a sensor now; `resume` lets a paused node go on. `NOT_FOUND`, `WRONG_STATUS`. */
  command(task: string, node: string, operation: 'start' | 'resume'): Promise<void>
  /** Forgets the times of the readings of a task. `NOT_FOUND`, `WRONG_STATUS`. */
  resync(task: string): Promise<void>
  explain(task: string, node: string): Explanation
  /** Calls of a task's actuators, newest first. */
  deliveries(task: string, query: DeliveryQuery): Promise<readonly Delivery[]>
}

export interface DataIntake {
  /**
   * An array is one invocation. Resolves when the messages and the caller's writes are durable, in one commit, and the
   * messages were taken; writes are committed also when no task takes the messages, and in the order of arrival. When it
   * rejects, nothing was written: `VALIDATION` (bad messages, channel or writes), `CONFLICT`, whose issues name the
   * caller's writes by their places, `TOO_LARGE`, `CLOSED`.
   */
  receive(messages: Message | readonly Message[], options?: IntakeOptions): Promise<Intake>
  /**
   * As `receive` for each of the posts, in their order, with one commit for all of them and the writes. Gives the results
   * of the writes. When it rejects, nothing was written of any. `followed`: as of a unit of the log.
   */
  receiveAll(posts: readonly IntakePost[], writes: readonly Write[], followed?: Followed): Promise<readonly number[]>
}

/** What one poster gives on the channel of broker data: one invocation. */
export interface IntakePost {
  readonly messages: Message | readonly Message[]
  /** the same as JSON, by who has it at hand */
  readonly text?: string
  /** they are in the log whether a task takes them or not */
  readonly kept?: KeptMessage | undefined
  /** how many rules in a row led to them; default 0 */
  readonly hops?: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
  /** places of messages that came without a timestamp: theirs is that of their arrival */
  readonly unstamped?: readonly number[] | undefined
  /** keys that do not count when one of them is compared with one that was taken; `all`: none is one that was taken */
  readonly identityIgnores?: readonly string[] | 'all' | undefined
}

export interface IntakeOptions {
  /** documents and log entries that belong to the messages */
  readonly writes?: readonly Write[]
  /** what the messages come on: sensors of that channel take them; default: broker data */
  readonly channel?: string
  /** how many rules in a row led to the messages; default 0 */
  readonly hops?: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
}

export interface Intake {
  /** some running task takes the messages */
  readonly taken: boolean
  /** of the caller's writes, in their order, as a commit gives them: new versions, last positions */
  readonly results: readonly number[]
}

/** What the runner tells on its own account. */
export interface RunReports {
  /** What happened lately in a task of this process, as `Engine.history` gives it. */
  history(task: string, after: number): TaskHistory
  /**
   * What is rare and worth keeping: starts, ends, failures of plugs, lines of the log. Costs nothing. Never errors;
   * completes when the runner is closed.
   */
  readonly rare$: Observable<EngineEvent>
  /** Everything that happens in one task, now or when it comes; only that one is no row meanwhile. As `rare$` else. */
  watch(task: string): Observable<EngineEvent>
  /**
   * Runs that ended by themselves: a onetime task that finished, a task that could not go on. Told at least once;
   * told again after a crash until the task is begun anew or forgotten.
   */
  readonly ended$: Observable<EndedRun>
}

export interface EndedRun {
  /** the task */
  readonly id: string
  readonly epoch: number
  readonly status: 'stopped' | 'failed'
  /** epoch ms */
  readonly finishedTime: number
  readonly error?: string
}
