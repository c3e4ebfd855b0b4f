/**
 * A rule as data, as the platform sends and stores it (part 2, 2.1 to 2.3). Nothing here is checked: that is
 * validate.ts. Fields that the specification leaves open are marked "extension".
 */
import type { JsonObject } from '../../kernel/json.ts'

export type Position = readonly [number, number]

/** What sensors and actuators have in common: which plug, with which properties. */
export interface PlugNode {
  label: string
  /** plug name */
  name: string
  /** exact plug version; absent or `latest` takes the newest registered */
  version?: string
  position?: Position
  properties?: Record<string, unknown>
  /** plain id, `$`, `$taskId`, `$<variable>`, `META.$.<key>` or text with `${...}` */
  resource?: string
  /** extension: ISO 8601, default PT50S */
  timeout?: string
  /** extension */
  retryConfig?: RetryConfig
  /** extension: a JSON array of objects as text; the node runs once per object */
  loopDef?: string
  /** extension: wait for a resume before running */
  pauseExecution?: boolean
  /** extension: ISO 8601, default PT1H */
  pauseExecutionTimeout?: string
  /** extension, default false: calls that act need not wait for earlier ones that touch the same */
  unordered?: boolean
  description?: string
  iconURL?: string
}

export interface Sensor extends PlugNode {
  /** groups run in ascending order; default 1 */
  sequence?: number
  /** default true: run when data for `resource` arrives. A trigger's destination runs on data only when this is written out */
  dataTrigger?: boolean
  /** default true: run on the task tick. Never for a trigger's destination or a node with its own clock */
  tickTrigger?: boolean
  /** ms after which the observation is forgotten */
  evictionTime?: number
  /** ms; gives the sensor a clock of its own */
  pollingPeriod?: number
  /** default true; false: the period counts from the end of the last execution */
  pollingFixedRate?: boolean
  /** extension: cron or rrule for a clock of its own */
  schedule?: string
  /** extension: the state observed when the plug takes longer than `timeout` */
  timeoutState?: string
}

export type Actuator = PlugNode

export interface RetryConfig {
  maxRetries: number
  /** ISO 8601, default PT1S; doubles with each retry up to maxBackoff */
  minBackoff?: string
  /** ISO 8601, default PT1M */
  maxBackoff?: string
  /** the state observed when the last retry failed */
  errorState?: string
}

export type RelationType = 'AND' | 'OR' | 'GENERAL' | 'NAND'

export interface Relation {
  label: string
  type: RelationType
  /** labels of sensors or of other relations */
  parentLabels: readonly string[]
  /** rows of states, one per parent; only GENERAL may have more than one row */
  combinations: readonly (readonly string[])[]
  position?: Position
}

export interface StateChange {
  /** a state or `*` */
  stateFrom: string
  stateTo: string
}

export interface Trigger {
  sourceLabel: string
  destinationLabel: string
  /** seconds during which the destination does not fire again; 0 or absent: no limit */
  invocationPolicy?: number
  statesTrigger?: readonly string[]
  stateChangeTrigger?: StateChange
}

export interface Note {
  position?: Position
  text: string
}

export interface RuleGraph {
  sensors?: readonly Sensor[]
  actuators?: readonly Actuator[]
  relations?: readonly Relation[]
  triggers?: readonly Trigger[]
  notes?: readonly Note[]
}

export type TaskType = 'onetime' | 'scheduled' | 'reactive' | 'periodic'

export interface DstPolicy {
  gap?: 'shift' | 'skip'
  overlap?: 'first' | 'second' | 'both'
}

/** Task settings (the `task` object of 2.1 and the body of 2.2), with this engine's extensions. */
export interface TaskSettings {
  name?: string
  /** default true */
  start?: boolean
  /** default `reactive` when no clock is given either */
  type?: TaskType
  resource?: string
  variables?: Record<string, unknown>
  /** default true: forget the observations an invocation is about to renew */
  resetObservations?: boolean
  /** extension, default `invocation`: what is re-run and what follows from it; `task` wipes every observation */
  resetScope?: 'invocation' | 'task'
  /** default true: sensors of one sequence group run side by side */
  parallel?: boolean
  /** extension, default false: a gate stays unknown until all its parents are known */
  gatesNeedFullObservation?: boolean
  /** ms between ticks of a periodic task */
  frequency?: number
  /** the same in seconds (rule form); `frequency` wins */
  pollingInterval?: number
  /** extension, default true; false: the next tick counts from the end of the work of the last */
  pollingFixedRate?: boolean
  cron?: string
  rrule?: string
  /** IANA zone or offset, default UTC */
  timeZone?: string
  /** extension: what to do with ticks missed while down */
  misfire?: 'skip' | 'once' | 'all'
  /** extension, ISO 8601: a missed tick older than this is dropped */
  maxLateness?: string
  /** extension, default 100, at most 1,000: how many missed ticks `misfire: all` runs, the latest ones */
  maxMissed?: number
  /** extension: what a tick does when the last one still works */
  overlap?: 'skip' | 'queue' | 'cancelPrevious'
  /**
   * extension: what becomes of a message that comes while the task is at work on an earlier one. `queue`: it waits;
   * `latest`: it waits, and one that waits is dropped when a newer one has all its values; `skip`: it is dropped.
   * Default `queue`; messages on channels always wait
   */
  whenBusy?: 'queue' | 'latest' | 'skip'
  /**
   * extension, ms: how long a value of a message fills in where a later message does not repeat it; 0: not at all.
   * Default: as the engine says, 60,000
   */
  streamValidity?: number
  /** extension */
  dst?: DstPolicy
  tags?: JsonObject
  /** per-node overrides (2.2) */
  nodes?: readonly NodeOverride[]
}

/** The body that makes a task from a stored template (2.2). */
export interface TaskFromTemplate extends TaskSettings {
  /** name of the template */
  template: string
  /** extension, from 1: the version of the template to run; default: its newest */
  templateVersion?: number
}

/** A rule with its task settings: what `engine.start` and POST /api/tasks take (2.1). */
export interface Rule extends RuleGraph {
  task?: TaskSettings
}

/** A stored rule with a name (2.3). */
export interface Template extends RuleGraph {
  name: string
  description?: string
  iconURL?: string
  tags?: JsonObject
  variables?: readonly VariableDeclaration[]
  taskDefaults?: TaskSettings
}

export type VariableType = 'string' | 'boolean' | 'integer' | 'double' | 'long' | 'float' | 'object'

export interface VariableDeclaration {
  name: string
  displayName?: string
  type: VariableType
  format?: { type: string; values?: readonly unknown[] }
  mandatory?: boolean
  description?: string
  defaultValue?: unknown
  /** a stream value of the same name replaces the variable */
  overrideByStream?: boolean
  /** the last stored value of the metric of that name on the node's resource replaces it */
  overrideByData?: boolean
}

/** One entry of `nodes` when a task is made from a template (2.2); the full list of what can be changed. */
export interface NodeOverride {
  /** label of a sensor or actuator */
  name: string
  properties: {
    /** the sequence number */
    cost?: number
    resource?: string
    evictionTime?: number
    pollingPeriod?: number
    pollingFixedRate?: boolean
    tickTrigger?: boolean
    dataTrigger?: boolean
    sensor?: PlugOverride
    /** actuators that the node fires, addressed by `label` */
    actions?: readonly PlugOverride[]
  }
}

export interface PlugOverride {
  name?: string
  version?: string
  label?: string
  /** single-key objects, or one plain object; merged by key over the template's */
  requiredProperties?: readonly Record<string, unknown>[] | Record<string, unknown>
}
