/**
 * A rule as data, as it is sent and stored. Nothing here is checked: that is validate.ts. The comments are the tables of
 * docs/reference/rule.md.
 */
import type { JsonObject } from '#kernel'
import type { DowntimePolicy } from '../plug/downtime.ts'

export type Position = readonly [number, number]

/** What sensors and actuators have in common: which plug, with which properties. */
export interface PlugNode {
  /** name of the node, unique in its rule */
  label: string
  /** name of the plug that it runs */
  name: string
  /** version of the plug; absent or `latest` takes the newest that is there */
  version?: string
  /** where an editor draws it */
  position?: Position
  /** what the plug is told; texts may have placeholders */
  properties?: Record<string, unknown>
  /** the resource it is about: a plain id, `$` (the task's), `$taskId`, `$<variable>`, `META.$.<key>` or text with `${...}` */
  resource?: string
  /** time limit of a call, ISO 8601; default PT50S */
  timeout?: string
  /** what is tried again when a call fails; default: nothing */
  retryConfig?: RetryConfig
  /** a JSON array of objects as text: the node runs once per object */
  loopDef?: string
  /** default false; true: each run waits for a resume before it begins */
  pauseExecution?: boolean
  /** how long it waits for that resume, ISO 8601; default PT1H */
  pauseExecutionTimeout?: string
  /** default false; true: calls that act need not wait for earlier ones that touch the same */
  unordered?: boolean
  /** for people */
  description?: string
  /** for editors */
  iconURL?: string
}

export interface Sensor extends PlugNode {
  /** root sensors run in ascending order, each number with the nodes that follow from it; default 1 */
  sequence?: number
  /** default true: run when data for `resource` arrives. A trigger's destination runs on data only when this is written out */
  dataTrigger?: boolean
  /** default true: run on the task tick. Never for a trigger's destination or a node with its own clock */
  tickTrigger?: boolean
  /** ms after which the observation is forgotten, and its raw data with it */
  evictionTime?: number
  /** default false; true: raw data stays when the observation is evicted */
  keepRawData?: boolean
  /**
   * what becomes of a wait of the sensor that a downtime of the host fell into. `restart`: it begins again with the start;
   * `continue`: the time has passed; `confirm`: it shows nothing until the next run. Default: as the task says, else the plug
   */
  downtime?: DowntimePolicy
  /** ms; gives the sensor a clock of its own */
  pollingPeriod?: number
  /** default true; false: the period counts from the end of the last execution */
  pollingFixedRate?: boolean
  /** cron or rrule: gives the sensor a clock of its own */
  schedule?: string
  /** the state observed when the plug takes longer than `timeout` */
  timeoutState?: string
}

export type Actuator = PlugNode

export interface RetryConfig {
  /** how many more times a failed call is made */
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
  /** the sensor or relation that it looks at */
  sourceLabel: string
  /** the sensor or actuator that it fires */
  destinationLabel: string
  /** cool-down in seconds, during which the destination does not fire again; 0 or absent: none */
  invocationPolicy?: number
  /** fires when the source is in one of these states. Without any condition it fires after each run of the source */
  statesTrigger?: readonly string[]
  /** fires when the source goes from one state to another */
  stateChangeTrigger?: StateChange
  /** fires once when the source enters this set of states, and again only after it left the set. Unknown counts as neither */
  begins?: readonly string[]
  /** fires once when the source leaves this set of states for another known state */
  ends?: readonly string[]
}

export interface Note {
  /** where an editor draws it */
  position?: Position
  /** what somebody should know about the rule */
  text: string
}

export interface RuleGraph {
  /** what is looked at */
  sensors?: readonly Sensor[]
  /** what is done */
  actuators?: readonly Actuator[]
  /** gates over sensors and other gates */
  relations?: readonly Relation[]
  /** when one thing makes another run */
  triggers?: readonly Trigger[]
  /** for people */
  notes?: readonly Note[]
}

export type TaskType = 'onetime' | 'scheduled' | 'reactive' | 'periodic'

export interface DstPolicy {
  /** a time that the clocks skip: it moves forward by the gap, or is left out; default `shift` */
  gap?: 'shift' | 'skip'
  /** a time that the clocks show twice; default `first`, or `both` when the expression runs every hour */
  overlap?: 'first' | 'second' | 'both'
}

/** Readings wait, and are taken in the order of their times. */
export interface ReorderPolicy {
  /** how long they wait, such as `30s` or PT30S. All that the task does comes so much later */
  reorder: string
  /** what becomes of those that are late all the same; default `drop` */
  then?: 'drop' | 'take'
}

/** What a task needs beside its rule: the `task` object of a rule, and the body that makes a task from a template. */
export interface TaskSettings {
  /** for people; default `task` */
  name?: string
  /** default true; false: the task is made and does not run */
  start?: boolean
  /** what begins its invocations; default: what the clock that is given says, and `reactive` without one */
  type?: TaskType
  /** the resource that `$` stands for */
  resource?: string
  /** values of variables, by name */
  variables?: Record<string, unknown>
  /** default true: forget the observations an invocation is about to renew */
  resetObservations?: boolean
  /** what that forgets: `invocation`, what runs again and what follows from it; `task`, every observation. Default `invocation` */
  resetScope?: 'invocation' | 'task'
  /** default true: sensors of one sequence are one stage; false: each root sensor is a stage of its own */
  parallel?: boolean
  /** default false; true: a gate stays unknown until all its parents are known */
  gatesNeedFullObservation?: boolean
  /** ms between ticks of a periodic task */
  frequency?: number
  /** the same in seconds; `frequency` wins */
  pollingInterval?: number
  /** default true; false: the next tick counts from the end of the work of the last */
  pollingFixedRate?: boolean
  /** of a scheduled task: a cron expression, Quartz's with 6 or 7 fields, unix's with 5, or `@daily` and its like */
  cron?: string
  /** of a scheduled task: a recurrence rule of RFC 5545 */
  rrule?: string
  /** IANA zone or offset; default UTC */
  timeZone?: string
  /** what becomes of ticks that were missed while nobody was there: none, one, or all of them run; default `skip` */
  misfire?: 'skip' | 'once' | 'all'
  /** a missed tick older than this is dropped, ISO 8601; default: none is too old */
  maxLateness?: string
  /** how many missed ticks `misfire: all` runs, the latest ones; default 100, at most 1,000 */
  maxMissed?: number
  /** what a tick does while the work of the last one goes on: it is held, waits, or drops that work; default `skip` */
  overlap?: 'skip' | 'queue' | 'cancelPrevious'
  /**
   * what becomes of a message that comes while the task is at work on an earlier one. `queue`: it waits;
   * `latest`: it waits, and one that waits is dropped when a newer one has all its values; `skip`: it is dropped.
   * Default `queue`; messages on channels always wait
   */
  whenBusy?: 'queue' | 'latest' | 'skip'
  /**
   * what becomes of a reading when a sensor has taken a newer one of the same resource. `drop`: the sensor does not run;
   * `take`: it runs, at the time of the task; an object: readings wait and are put in order first. Default `drop`
   */
  late?: 'drop' | 'take' | ReorderPolicy
  /** by which time the task goes: `event`, the timestamps of messages; `arrival`, when they came. Default `event` */
  time?: 'event' | 'arrival'
  /** what becomes of a message with the timestamp and content of one that was taken; default `drop` */
  duplicates?: 'drop' | 'take'
  /** what becomes of waits of all sensors that a downtime of the host fell into; default: as each plug says */
  downtime?: DowntimePolicy
  /**
   * ms that a value of a message fills in where a later message does not repeat it; 0: not at all.
   * Default: as the engine says, 60,000
   */
  streamValidity?: number
  /** what becomes of times on days when the clocks change */
  dst?: DstPolicy
  /** plain JSON by which the task is found */
  tags?: JsonObject
  /** changes of single nodes of the template */
  nodes?: readonly NodeOverride[]
}

/** The body that makes a task from a stored template. */
export interface TaskFromTemplate extends TaskSettings {
  /** name of the template */
  template: string
  /** from 1: the version of the template to run; default: its newest */
  templateVersion?: number
}

/** A rule with its task settings: what `engine.start` and POST /api/tasks take. */
export interface Rule extends RuleGraph {
  task?: TaskSettings
}

/** A stored rule with a name. */
export interface Template extends RuleGraph {
  /** by which tasks ask for it */
  name: string
  /** for people */
  description?: string
  /** for editors */
  iconURL?: string
  /** plain JSON by which it is found */
  tags?: JsonObject
  /** what a task may or must bring */
  variables?: readonly VariableDeclaration[]
  /** settings of tasks that do not bring their own */
  taskDefaults?: TaskSettings
}

export type VariableType = 'string' | 'boolean' | 'integer' | 'double' | 'long' | 'float' | 'object'

export interface VariableDeclaration {
  /** as placeholders name it */
  name: string
  /** for people */
  displayName?: string
  /** a task's value must be of it */
  type: VariableType
  /** for editors, such as a list of values */
  format?: { type: string; values?: readonly unknown[] }
  /** default false; true: a task without a value is refused */
  mandatory?: boolean
  /** for people */
  description?: string
  /** the value of tasks that bring none */
  defaultValue?: unknown
  /** a stream value of the same name replaces the variable */
  overrideByStream?: boolean
  /** the last stored value of the metric of that name on the node's resource replaces it */
  overrideByData?: boolean
}

/** One entry of `nodes` when a task is made from a template; the full list of what can be changed. */
export interface NodeOverride {
  /** label of a sensor or actuator */
  name: string
  /** what is changed of it */
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
  /** which actuator is meant; only of `actions` */
  label?: string
  /** single-key objects, or one plain object; merged by key over the template's */
  requiredProperties?: readonly Record<string, unknown>[] | Record<string, unknown>
}
