/**
 * Defines a rule as data, as it is sent and stored, unchecked (see validate.ts). The comments become the tables of
 * docs/reference/rule.md.
 */
import type { JsonObject } from '#kernel'
import type { DowntimePolicy } from '../plug/downtime.ts'

export type Position = readonly [number, number]

/** Fields that sensors and actuators share: a plug with properties. */
export interface PlugNode {
  /** name of the node, unique within its rule */
  label: string
  /** name of the plug */
  name: string
  /** version of the plug; absent or `latest`: the newest one */
  version?: string
  /** position in an editor */
  position?: Position
  /** input of the plug; texts may contain placeholders */
  properties?: Record<string, unknown>
  /**
   * resource of the node: a plain id, `$` (the task's), `$taskId`, `$<variable>`, `META.$.<key>` or text with `${...}`
   */
  resource?: string
  /** time limit of a call, ISO 8601; default PT50S */
  timeout?: string
  /** retries of failed calls; default: none */
  retryConfig?: RetryConfig
  /** a JSON array of objects as text; the node runs once per object */
  loopDef?: string
  /** default false; true: each run waits for a resume before it begins */
  pauseExecution?: boolean
  /** maximum length of that wait, ISO 8601; default PT1H */
  pauseExecutionTimeout?: string
  /** default false; true: acting calls do not wait for earlier calls that touch the same thing */
  unordered?: boolean
  /** description for readers */
  description?: string
  /** icon in editors */
  iconURL?: string
}

export interface Sensor extends PlugNode {
  /** position in the order of root sensors: lower numbers run first, together with their followers; default 1 */
  sequence?: number
  /**
   * default true: the sensor runs when data for `resource` arrives. A trigger's destination runs on data only if this
   * is set explicitly
   */
  dataTrigger?: boolean
  /** default true: the sensor runs on the task tick. A trigger's destination or a node with its own clock never does */
  tickTrigger?: boolean
  /** ms after which the observation and its raw data are forgotten */
  evictionTime?: number
  /** default false; true: raw data stays when the observation is evicted */
  keepRawData?: boolean
  /**
   * what a downtime of the host does to a wait of the sensor. `restart`: the wait begins again when the host starts;
   * `continue`: the downtime counts; `confirm`: the sensor is unknown until its next run. Default: the task's setting,
   * else the plug's
   */
  downtime?: DowntimePolicy
  /** period of the sensor's own clock, ms */
  pollingPeriod?: number
  /** default true; false: the period counts from the end of the last execution */
  pollingFixedRate?: boolean
  /** cron or rrule of the sensor's own clock */
  schedule?: string
  /** the state that the sensor gets when a call exceeds `timeout` */
  timeoutState?: string
  /** a set of resources; the sensor observes each member, with one observation per member */
  group?: Group
  /** the readings that the plug evaluates together; only for plugs that evaluate windows, such as `aggregate` */
  window?: Window
  /** how long the last known value of an input counts after its message, by name of the value, such as `2h` */
  hold?: Record<string, string>
  /** value of an input where none is known, by name of the value */
  default?: Record<string, unknown>
}

/** A set of resources, by exactly one of its fields. Members join and leave while the task runs. */
export interface Group {
  /** all resources of this type */
  type?: string
  /** all children of this resource */
  parent?: string
  /** all resources with this tag */
  tag?: string
  /** all resources that match, written as in `query` of GET /api/resources */
  query?: string
  /** these resources, at most 10,000 */
  resources?: readonly string[]
}

/** A set of readings, by exactly one of `sliding`, `tumbling`, `session` and `calendar`. */
export interface Window {
  /** the readings of the last time of this length, such as `10m` */
  sliding?: string
  /** consecutive windows of this length, which begin at its multiples since 1970 */
  tumbling?: string
  /** readings without a pause of this length */
  session?: string
  /** consecutive hours, days, weeks (from Monday) or months of the zone */
  calendar?: 'hour' | 'day' | 'week' | 'month'
  /** IANA zone or offset, for `calendar`; default: the task's */
  zone?: string
  /** how long a window stays open for late readings after its end; default: none */
  lateness?: string
}

export type Actuator = PlugNode

export interface RetryConfig {
  /** maximum number of retries of a failed call */
  maxRetries: number
  /** wait before the first retry, ISO 8601; default PT1S. It doubles with each retry up to `maxBackoff` */
  minBackoff?: string
  /** longest wait between retries, ISO 8601; default PT1M */
  maxBackoff?: string
  /** the state that the node gets when the last retry failed */
  errorState?: string
}

export type RelationType = 'AND' | 'OR' | 'GENERAL' | 'NAND' | 'COUNT' | 'SHARE'

export interface Relation {
  /** name of the gate, unique within its rule */
  label: string
  /** how the rows determine the gate's state */
  type: RelationType
  /** labels of sensors or of other relations */
  parentLabels: readonly string[]
  /** rows with one state per parent; only `GENERAL` may have more than one row */
  combinations: readonly (readonly string[])[]
  /**
   * for `COUNT` and `SHARE`: minimum number of parents, or of members of a group, in their states; for `SHARE` the
   * share of them, 0 to 1
   */
  atLeast?: number
  /** for `COUNT` and `SHARE`: maximum number or share */
  atMost?: number
  /** for a group: a member counts for this time after each observation of its state, such as `5m` */
  within?: string
  /** for a group: a member counts only for this time after its last observation, such as `15m` */
  fresh?: string
  /** position in an editor */
  position?: Position
}

export interface StateChange {
  /** previous state, `*` for any */
  stateFrom: string
  /** new state */
  stateTo: string
}

export interface Trigger {
  /** the sensor or relation whose states the trigger watches */
  sourceLabel: string
  /** the sensor or actuator that the trigger fires */
  destinationLabel: string
  /** cool-down in seconds, during which the destination does not fire again; 0 or absent: none */
  invocationPolicy?: number
  /**
   * fires while the source is in one of these states. A trigger without any condition fires after each run of the
   * source
   */
  statesTrigger?: readonly string[]
  /** fires when the source goes from one state to another */
  stateChangeTrigger?: StateChange
  /**
   * fires once when the source enters this set of states, and again only after the source left the set. An unknown
   * state neither enters nor leaves it
   */
  begins?: readonly string[]
  /** fires once when the source leaves this set for another known state */
  ends?: readonly string[]
  /**
   * for a source that has one state per member of a group: each member fires the destination separately, with its own
   * cool-down, and `$` of the destination is the member
   */
  each?: boolean
  /** fires when a window of the source closes */
  closes?: boolean
}

export interface Note {
  /** position in an editor */
  position?: Position
  /** text about the rule */
  text: string
}

export interface RuleGraph {
  /** nodes that observe */
  sensors?: readonly Sensor[]
  /** nodes that act */
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
  /**
   * what happens to a time that does not exist because clocks go forward: it moves by the gap, or is skipped; default
   * `shift`
   */
  gap?: 'shift' | 'skip'
  /**
   * what happens to a time that occurs twice because clocks go back; default `first`, or `both` when the expression
   * runs every hour
   */
  overlap?: 'first' | 'second' | 'both'
}

/** Lets readings wait, so that they are processed in the order of their times. */
export interface ReorderPolicy {
  /** how long readings wait, such as `30s` or PT30S; delays everything that the task does */
  reorder: string
  /** what happens to readings that are late nevertheless; default `drop` */
  then?: 'drop' | 'take'
}

/**
 * Settings of a task apart from its graph: the `task` object of a rule, and the body that creates a task from a
 * template.
 */
export interface TaskSettings {
  /** name of the task for readers; default `task` */
  name?: string
  /** default true; false: the task is created without starting */
  start?: boolean
  /**
   * what begins invocations of the task; default: the type of the clock in the settings, and `reactive` without a clock
   */
  type?: TaskType
  /** the resource that `$` stands for */
  resource?: string
  /** values of variables, by name */
  variables?: Record<string, unknown>
  /** default true: forgets the observations that an invocation is about to renew */
  resetObservations?: boolean
  /**
   * which observations `resetObservations` forgets: `invocation`, observations of nodes that run again and their followers;
   * `task`, all of them. Default `invocation`
   */
  resetScope?: 'invocation' | 'task'
  /** default true: sensors with the same sequence number form one stage; false: each root sensor is its own stage */
  parallel?: boolean
  /** default false; true: a gate stays unknown until all its parents are known */
  gatesNeedFullObservation?: boolean
  /** ms between ticks of a periodic task */
  frequency?: number
  /** s between ticks, if `frequency` is absent */
  pollingInterval?: number
  /** default true; false: the period counts from the end of the previous work */
  pollingFixedRate?: boolean
  /**
   * for a scheduled task: a cron expression, with 6 or 7 fields as in Quartz, with 5 as in unix, or `@daily` and
   * similar
   */
  cron?: string
  /** for a scheduled task: a recurrence rule of RFC 5545 */
  rrule?: string
  /** IANA zone or offset; default UTC */
  timeZone?: string
  /**
   * what happens to ticks that were missed while the host did not run: none, one, or all of them run; default `skip`
   */
  misfire?: 'skip' | 'once' | 'all'
  /** a missed tick older than this is dropped, ISO 8601; default: no limit */
  maxLateness?: string
  /** maximum number of missed ticks that `misfire: all` runs, the latest ones; default 100, at most 1,000 */
  maxMissed?: number
  /**
   * what happens to a tick while previous work is unfinished: the tick is held, waits, or cancels that work; default
   * `skip`
   */
  overlap?: 'skip' | 'queue' | 'cancelPrevious'
  /**
   * what happens to a message that arrives while the task is processing an earlier one. `queue`: it waits; `latest`: it
   * waits, and is dropped when a newer one with all its values arrives; `skip`: it is dropped. Default `queue`;
   * messages on channels always wait
   */
  whenBusy?: 'queue' | 'latest' | 'skip'
  /**
   * what happens to a reading that is older than one of the same resource that a sensor already processed. `drop`: the
   * sensor does not run; `take`: it runs, at the time of the task; an object: readings first wait and are put in order.
   * Default `drop`
   */
  late?: 'drop' | 'take' | ReorderPolicy
  /**
   * what determines the time of the task: `event`, the timestamps of messages; `arrival`, their arrival. Default
   * `event`
   */
  time?: 'event' | 'arrival'
  /** what happens to a message with the same timestamp and content as one already processed; default `drop` */
  duplicates?: 'drop' | 'take'
  /** what a downtime of the host does to waits of all sensors; default: as each plug declares */
  downtime?: DowntimePolicy
  /** ms for which a value of a message is used where later messages lack it; 0: never. Default: the engine's, 60,000 */
  streamValidity?: number
  /** what happens to times on days when the clocks change */
  dst?: DstPolicy
  /** plain JSON for use in searches */
  tags?: JsonObject
  /** changes to single nodes of the template */
  nodes?: readonly NodeOverride[]
}

/** The body that creates a task from a stored template. */
export interface TaskFromTemplate extends TaskSettings {
  /** name of the template */
  template: string
  /** version of the template to run, from 1; default: the newest */
  templateVersion?: number
}

/** A rule with its task settings, as passed to `engine.start` and POST /api/tasks. */
export interface Rule extends RuleGraph {
  task?: TaskSettings
}

export interface Template extends RuleGraph {
  /** name of the template in requests for tasks */
  name: string
  /** description for readers */
  description?: string
  /** icon in editors */
  iconURL?: string
  /** plain JSON for use in searches */
  tags?: JsonObject
  /** variables that a task may or must supply */
  variables?: readonly VariableDeclaration[]
  /** default settings of the template's tasks */
  taskDefaults?: TaskSettings
}

export type VariableType = 'string' | 'boolean' | 'integer' | 'double' | 'long' | 'float' | 'object'

export interface VariableDeclaration {
  /** name of the variable in placeholders */
  name: string
  /** name of the variable for readers */
  displayName?: string
  /** type of the values */
  type: VariableType
  /** hints for editors, such as a list of values */
  format?: { type: string; values?: readonly unknown[] }
  /** default false; true: a task without a value is rejected */
  mandatory?: boolean
  /** description for readers */
  description?: string
  /** the value if the task supplies none */
  defaultValue?: unknown
  /** true: a message value of the same name replaces the variable */
  overrideByStream?: boolean
  /** true: the last stored value of the metric of that name on the node's resource replaces the variable */
  overrideByData?: boolean
}

/** One entry of `nodes` in a task from a template; no other fields of a node can be changed. */
export interface NodeOverride {
  /** label of a sensor or actuator */
  name: string
  /** the changes */
  properties: {
    /** sequence number */
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
    /** actuators that the node fires, each addressed by `label` */
    actions?: readonly PlugOverride[]
  }
}

export interface PlugOverride {
  /** name of another plug */
  name?: string
  /** another version of the plug */
  version?: string
  /** label of the actuator; only in `actions` */
  label?: string
  /** properties, as objects with one key each or as one plain object; merged by key over the template's */
  requiredProperties?: readonly Record<string, unknown>[] | Record<string, unknown>
}
