/**
 * A rule as data, as it is sent and stored, unchecked (see validate.ts). The comments are the tables of
 * docs/reference/rule.md.
 */
import type { JsonObject } from '#kernel'
import type { DowntimePolicy } from '../plug/downtime.ts'

export type Position = readonly [number, number]

/** What sensors and actuators share: a plug with properties. */
export interface PlugNode {
  /** name of the node, unique in its rule */
  label: string
  /** name of the plug that it runs */
  name: string
  /** version of the plug; absent or `latest`: the newest one */
  version?: string
  /** where an editor draws it */
  position?: Position
  /** input of the plug; texts may have placeholders */
  properties?: Record<string, unknown>
  /**
   * the resource it is about: a plain id, `$` (the task's), `$taskId`, `$<variable>`, `META.$.<key>` or text with
   * `${...}`
   */
  resource?: string
  /** deadline of a call, ISO 8601; default PT50S */
  timeout?: string
  /** retries of failed calls; default: none */
  retryConfig?: RetryConfig
  /** a JSON array of objects as text: the node runs once per object */
  loopDef?: string
  /** default false; true: each run waits for a resume before it begins */
  pauseExecution?: boolean
  /** limit of that wait, ISO 8601; default PT1H */
  pauseExecutionTimeout?: string
  /** default false; true: acting calls need not wait for earlier ones that touch the same thing */
  unordered?: boolean
  /** a description */
  description?: string
  /** an icon for editors */
  iconURL?: string
}

export interface Sensor extends PlugNode {
  /** root sensors run in ascending order, each number with its followers; default 1 */
  sequence?: number
  /**
   * default true: run when data for `resource` arrives. A trigger's destination runs on data only if this is set
   * explicitly
   */
  dataTrigger?: boolean
  /** default true: run on the task tick. Never for a trigger's destination or a node with its own clock */
  tickTrigger?: boolean
  /** ms after which the observation and its raw data are forgotten */
  evictionTime?: number
  /** default false; true: raw data stays when the observation is evicted */
  keepRawData?: boolean
  /**
   * treatment of a wait of the sensor that overlaps a downtime of the host. `restart`: it begins again with the start;
   * `continue`: the time has passed; `confirm`: it is unknown until the next run. Default: the task's setting, else the
   * plug's
   */
  downtime?: DowntimePolicy
  /** ms; a clock of the sensor's own */
  pollingPeriod?: number
  /** default true; false: the period counts from the end of the last execution */
  pollingFixedRate?: boolean
  /** cron or rrule; a clock of the sensor's own */
  schedule?: string
  /** the state observed when a call exceeds `timeout` */
  timeoutState?: string
}

export type Actuator = PlugNode

export interface RetryConfig {
  /** limit of retries of a failed call */
  maxRetries: number
  /** wait before the first retry, ISO 8601; default PT1S. It doubles with each retry up to `maxBackoff` */
  minBackoff?: string
  /** longest wait, ISO 8601; default PT1M */
  maxBackoff?: string
  /** the state observed when the last retry failed */
  errorState?: string
}

export type RelationType = 'AND' | 'OR' | 'GENERAL' | 'NAND'

export interface Relation {
  /** name of the gate, unique in its rule */
  label: string
  /** how the rows decide */
  type: RelationType
  /** labels of sensors or of other relations */
  parentLabels: readonly string[]
  /** rows of states, one per parent; only `GENERAL` may have more than one row */
  combinations: readonly (readonly string[])[]
  /** where an editor draws it */
  position?: Position
}

export interface StateChange {
  /** the state before, `*` for any */
  stateFrom: string
  /** the state after */
  stateTo: string
}

export interface Trigger {
  /** the sensor or relation that it watches */
  sourceLabel: string
  /** the sensor or actuator that it fires */
  destinationLabel: string
  /** cool-down in seconds, during which the destination does not fire again; 0 or absent: none */
  invocationPolicy?: number
  /** fires while the source is in one of these states. Without any condition it fires after each run of the source */
  statesTrigger?: readonly string[]
  /** fires when the source goes from one state to another */
  stateChangeTrigger?: StateChange
  /**
   * fires once when the source enters this set of states, and again only after it left the set. Unknown counts as
   * neither
   */
  begins?: readonly string[]
  /** fires once when the source leaves this set of states for another known state */
  ends?: readonly string[]
}

export interface Note {
  /** where an editor draws it */
  position?: Position
  /** text about the rule */
  text: string
}

export interface RuleGraph {
  /** observations */
  sensors?: readonly Sensor[]
  /** actions */
  actuators?: readonly Actuator[]
  /** gates over sensors and other gates */
  relations?: readonly Relation[]
  /** connections that make one node run another */
  triggers?: readonly Trigger[]
  /** notes for readers */
  notes?: readonly Note[]
}

export type TaskType = 'onetime' | 'scheduled' | 'reactive' | 'periodic'

export interface DstPolicy {
  /** a time that the clocks skip: it moves forward by the gap, or is skipped; default `shift` */
  gap?: 'shift' | 'skip'
  /** a time that the clocks repeat; default `first`, or `both` when the expression runs every hour */
  overlap?: 'first' | 'second' | 'both'
}

/** Readings wait, and are taken in the order of their times. */
export interface ReorderPolicy {
  /** their wait, such as `30s` or PT30S, which delays everything that the task does */
  reorder: string
  /** treatment of readings that are late all the same; default `drop` */
  then?: 'drop' | 'take'
}

/**
 * The settings of a task beside its rule: the `task` object of a rule, and the body that creates a task from a
 * template.
 */
export interface TaskSettings {
  /** its name for readers; default `task` */
  name?: string
  /** default true; false: the task is created without starting */
  start?: boolean
  /** what begins its invocations; default: the type of the clock in the settings, and `reactive` without one */
  type?: TaskType
  /** the resource of `$` */
  resource?: string
  /** values of variables, by name */
  variables?: Record<string, unknown>
  /** default true: forget the observations that an invocation is about to renew */
  resetObservations?: boolean
  /**
   * scope of that: `invocation`, nodes that run again and their followers; `task`, every observation. Default
   * `invocation`
   */
  resetScope?: 'invocation' | 'task'
  /** default true: sensors of one sequence are one stage; false: each root sensor is a stage of its own */
  parallel?: boolean
  /** default false; true: a gate stays unknown until all its parents are known */
  gatesNeedFullObservation?: boolean
  /** ms between ticks of a periodic task */
  frequency?: number
  /** the same in seconds; `frequency` wins */
  pollingInterval?: number
  /** default true; false: the next tick counts from the end of the previous work */
  pollingFixedRate?: boolean
  /** of a scheduled task: a cron expression, Quartz's with 6 or 7 fields, unix's with 5, or `@daily` and its like */
  cron?: string
  /** of a scheduled task: a recurrence rule of RFC 5545 */
  rrule?: string
  /** IANA zone or offset; default UTC */
  timeZone?: string
  /** treatment of ticks that were missed while the host did not run: none, one, or all of them run; default `skip` */
  misfire?: 'skip' | 'once' | 'all'
  /** a missed tick older than this is dropped, ISO 8601; default: no limit */
  maxLateness?: string
  /** limit of missed ticks that `misfire: all` runs, the latest ones; default 100, at most 1,000 */
  maxMissed?: number
  /** treatment of a tick while previous work continues: it is held, waits, or drops that work; default `skip` */
  overlap?: 'skip' | 'queue' | 'cancelPrevious'
  /**
   * treatment of a message that arrives while the task works on an earlier one. `queue`: it waits;
   * `latest`: it waits, and a waiting one is dropped when a newer one has all its values; `skip`: it is dropped.
   * Default `queue`; messages on channels always wait
   */
  whenBusy?: 'queue' | 'latest' | 'skip'
  /**
   * treatment of a reading older than one that a sensor has taken of the same resource. `drop`: the sensor does not
   * run;
   * `take`: it runs, at the time of the task; an object: readings first wait and are put in order. Default `drop`
   */
  late?: 'drop' | 'take' | ReorderPolicy
  /** the time of the task: `event`, the timestamps of messages; `arrival`, their arrival. Default `event` */
  time?: 'event' | 'arrival'
  /** treatment of a message with the timestamp and content of one that was taken; default `drop` */
  duplicates?: 'drop' | 'take'
  /** treatment of waits of all sensors that overlap a downtime of the host; default: as each plug declares */
  downtime?: DowntimePolicy
  /**
   * ms for which a value of a message fills in where later messages lack it; 0: never. Default: as the engine's, 60,000
   */
  streamValidity?: number
  /** treatment of times on days when the clocks change */
  dst?: DstPolicy
  /** plain JSON for searches */
  tags?: JsonObject
  /** changes of single nodes of the template */
  nodes?: readonly NodeOverride[]
}

/** The body that creates a task from a stored template. */
export interface TaskFromTemplate extends TaskSettings {
  /** name of the template */
  template: string
  /** from 1: the version of the template to run; default: its newest */
  templateVersion?: number
}

/** A rule with its task settings: the input of `engine.start` and POST /api/tasks. */
export interface Rule extends RuleGraph {
  task?: TaskSettings
}

export interface Template extends RuleGraph {
  /** its name in requests for tasks */
  name: string
  /** a description */
  description?: string
  /** an icon for editors */
  iconURL?: string
  /** plain JSON for searches */
  tags?: JsonObject
  /** variables that a task may or must supply */
  variables?: readonly VariableDeclaration[]
  /** default settings of its tasks */
  taskDefaults?: TaskSettings
}

export type VariableType = 'string' | 'boolean' | 'integer' | 'double' | 'long' | 'float' | 'object'

export interface VariableDeclaration {
  /** its name in placeholders */
  name: string
  /** its name for readers */
  displayName?: string
  /** type of its values */
  type: VariableType
  /** for editors, such as a list of values */
  format?: { type: string; values?: readonly unknown[] }
  /** default false; true: a task without a value is rejected */
  mandatory?: boolean
  /** a description */
  description?: string
  /** the value without one from the task */
  defaultValue?: unknown
  /** a stream value of the same name replaces the variable */
  overrideByStream?: boolean
  /** the last stored value of the metric of that name on the node's resource replaces it */
  overrideByData?: boolean
}

/** One entry of `nodes` in a task from a template; the full list of possible changes. */
export interface NodeOverride {
  /** label of a sensor or actuator */
  name: string
  /** its changes */
  properties: {
    /** the sequence number */
    cost?: number
    resource?: string
    evictionTime?: number
    keepRawData?: boolean
    downtime?: DowntimePolicy
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
  /** another plug */
  name?: string
  /** another version of it */
  version?: string
  /** label of the actuator; only in `actions` */
  label?: string
  /** single-key objects, or one plain object; merged by key over the template's */
  requiredProperties?: readonly Record<string, unknown>[] | Record<string, unknown>
}
