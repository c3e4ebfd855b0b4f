/**
 * Defines the engine's events, live and simulated: one JSON object each. They are the wire format of everything that
 * shows a running task. Keys stay in the order below, so that equal runs produce equal bytes.
 */

/** What caused an invocation. */
export interface InputSummary {
  /** the kind of input */
  kind: 'start' | 'tick' | 'ownTick' | 'data' | 'push' | 'run' | 'join' | 'leave'
  /** epoch ms at which the engine processed the input */
  time: number
  /** for ticks: when the tick was due */
  scheduledAt?: number
  /** the node, for own ticks, pushes and manual runs */
  node?: string
  /** the resource of the message, for data; the member, for `join` and `leave` */
  resource?: string
  /** for data: the channel, absent for broker data */
  channel?: string
  /** the values of the message, for data */
  values?: Readonly<Record<string, unknown>>
}

/** Why a destination fired: the chain from the input to the trigger, each node once. */
export interface Why {
  /** what began the invocation that fired */
  input: InputSummary
  /** the trigger that fired */
  trigger: WhyTrigger
  /** the other triggers that held in the same input, in order of declaration */
  also?: readonly WhyTrigger[]
  /** the sensors behind the source, with the state that each observed */
  sensors: readonly WhySensor[]
  /** the gates behind the source, parents before children */
  gates: readonly WhyGate[]
  /** if the source itself ran because of a trigger: the triggers that led to it, earliest first */
  via?: readonly WhyStep[]
}

/** The trigger of a firing, and the change of its source's state. */
export interface WhyTrigger {
  /** the sensor or gate that the trigger watches */
  source: string
  /** the node that the trigger runs */
  destination: string
  /** which part of the trigger held: `state`, `change`, `begins`, `ends`, or `execution` (the source ran) */
  matched: 'state' | 'change' | 'begins' | 'ends' | 'execution'
  /** the previous state of the source; null: unknown */
  from: string | null
  /** the state of the source when the trigger fired */
  to: string | null
}

/** A sensor behind a firing. */
export interface WhySensor {
  /** the label of the sensor */
  node: string
  /** its state; null: unknown at that time */
  state: string | null
  /** epoch ms at which the sensor reached that state */
  since?: number
  /** the input that led to that state */
  input?: InputSummary
  /** values that it read from earlier messages because that input lacked them, with the arrival of each, epoch ms */
  carried?: Readonly<Record<string, { readonly time: number }>>
}

/** The decision of a gate behind a firing, and its parents' states. */
export interface WhyGate {
  /** the label of the gate */
  node: string
  /** its type: `AND`, `OR`, `NAND`, `GENERAL`, `COUNT` or `SHARE` */
  type: string
  /** its decision; null: undecided */
  state: 'TRUE' | 'FALSE' | null
  /** the state of each parent in order, null when unknown */
  row: Readonly<Record<string, string | null>>
  /** of a relation that counts members of a group: how many count, of how many, and the first ten of them */
  members?: WhyMembers
}

/** The members of a group that decided a relation. */
export interface WhyMembers {
  /** number of members in the state of the row */
  count: number
  /** number of members whose state counts */
  of: number
  /** ids of the members that have been in the state for longest, at most ten */
  first: readonly string[]
}

/** One trigger in the chain that led to the source of a firing. */
export interface WhyStep {
  /** the node that the trigger watched */
  source: string
  /** the node that the trigger ran */
  destination: string
  /** epoch ms at which the trigger fired */
  time: number
}

export type HeldReason = 'invocationPolicy' | 'overlap' | 'queue'

interface Base<Type extends string> {
  /**
   * epoch ms of the input that led to the event, virtual in a simulation. Never decreases within a task, except for
   * results of actuators that finish after later inputs were processed
   */
  time: number
  /** epoch ms of the engine's clock if later than `time`, because the input waited or a plug was slow */
  at?: number
  /** task id */
  task: string
  /** number of the invocation, 0 before the first one */
  invocation: number
  /** the type of event */
  type: Type
  /** label of the node; absent when the event is about the whole task */
  node?: string
  /** the member, for a node that has one state per member of a group */
  member?: string
}

/** The task started. */
export interface StartedEvent extends Base<'started'> {
  /** number of the run, starting at 1 */
  run: number
}
/** A clock began an invocation. */
export interface TickEvent extends Base<'tick'> {
  /** the sensor, if the tick is from the sensor's own clock */
  node?: string
  /** epoch ms at which the tick was due */
  scheduledAt: number
}
/** A message began an invocation. */
export interface DataEvent extends Base<'data'> {
  /** the resource of the message */
  resource: string
  /** the channel of the message, absent for broker data */
  channel?: string
  /** the values of the message */
  values: Readonly<Record<string, unknown>>
}
/** The state of a sensor changed. */
export interface StateEvent extends Base<'state'> {
  /** the sensor */
  node: string
  /** previous state; null: unknown */
  from: string | null
  /** new state; null: now unknown */
  to: string | null
}
/** The state of a gate changed. */
export interface GateEvent extends Base<'gate'> {
  /** the gate */
  node: string
  /** previous state; null: undecided */
  from: 'TRUE' | 'FALSE' | null
  /** new state; null: now undecided */
  to: 'TRUE' | 'FALSE' | null
}
/** A trigger fired its destination. */
export interface FiredEvent extends Base<'fired'> {
  /** the destination */
  node: string
  /** the sensor or gate that the trigger watches */
  source: string
  /** id of the effect, task/run/input/place: the same after a restart, so that it serves as an idempotency key */
  effect: string
  /** the chain from the data to the trigger; absent with `why: false` */
  why?: Why
}
/** A trigger that would have fired, or a tick, was held back. */
export interface HeldEvent extends Base<'held'> {
  /** the destination of the trigger; for a tick, the sensor whose clock ticked, or the task's id */
  node: string
  /** the source of the trigger; absent when a tick or data found the node still at work */
  source?: string
  /**
   * `invocationPolicy`: the trigger cools down; `overlap`: work of the last tick is unfinished; `queue`: too many ticks
   * wait
   */
  reason: HeldReason
  /** epoch ms from which it may fire again */
  until?: number
}
/** A plug call succeeded or failed. */
export interface ResultEvent extends Base<'result'> {
  /** the sensor or actuator that called the plug */
  node: string
  /** false: the call failed with `error` */
  ok: boolean
  /** the state that the plug returned */
  state?: string
  /** the raw data that the plug returned */
  rawData?: unknown
  /** the response of an actuator */
  message?: string
  /** the reason for the failure */
  error?: string
}
/** An observation grew older than its `evictionTime` and was forgotten. */
export interface EvictedEvent extends Base<'evicted'> {
  /** the sensor */
  node: string
  /** the forgotten state */
  from: string
}
/** A plug or the engine logged a line. */
export interface LogEvent extends Base<'log'> {
  /** the node that logged the line; absent: the engine, about the task */
  node?: string
  /** the severity */
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  /** the text */
  message: string
}
/** The task ended. */
export interface StoppedEvent extends Base<'stopped'> {
  /** `finished`: the work of a onetime task is done; `stopped`: the task was stopped */
  reason: 'finished' | 'stopped'
}
/** The task could not start. */
export interface FailedEvent extends Base<'failed'> {
  /** the reason */
  error: string
}

export type EngineEvent =
  | StartedEvent
  | TickEvent
  | DataEvent
  | StateEvent
  | GateEvent
  | FiredEvent
  | HeldEvent
  | ResultEvent
  | EvictedEvent
  | LogEvent
  | StoppedEvent
  | FailedEvent

/** Events that `EngineOptions.onRare` receives; results only with an error. */
export type RareEvent = StartedEvent | StoppedEvent | FailedEvent | LogEvent | ResultEvent

export type EventType = EngineEvent['type']
