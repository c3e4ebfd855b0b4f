/**
 * The engine's events, live and simulated: one JSON object each, and the wire format of everything that shows a task at
 * work. Keys keep the order below, so that equal runs produce equal bytes.
 */

/** What began an invocation. */
export interface InputSummary {
  /** its kind */
  kind: 'start' | 'tick' | 'ownTick' | 'data' | 'push' | 'run'
  /** epoch ms at which the engine took it */
  time: number
  /** for ticks: when it was due */
  scheduledAt?: number
  /** for own ticks, pushes and manual runs: the node */
  node?: string
  /** for data: the resource and the values of its message */
  resource?: string
  /** of a message that is not broker data */
  channel?: string
  /** for data: the values of the message */
  values?: Readonly<Record<string, unknown>>
}

/** Why a destination fired: the chain from the data to the trigger, each node once. */
export interface Why {
  /** what began the invocation that fired */
  input: InputSummary
  /** the trigger that fired */
  trigger: WhyTrigger
  /** the other triggers that held in the same input, as declared */
  also?: readonly WhyTrigger[]
  /** the sensors behind the source, with what each of them observed */
  sensors: readonly WhySensor[]
  /** the gates behind the source, parents before children */
  gates: readonly WhyGate[]
  /** if the source itself ran because of a trigger: the triggers that led there, first one first */
  via?: readonly WhyStep[]
}

/** The trigger of a firing, and what its source did. */
export interface WhyTrigger {
  /** the sensor or gate that it watches */
  source: string
  /** its destination */
  destination: string
  /** which part of the trigger held: `state`, `change`, `begins`, `ends`, or `execution` (the source ran) */
  matched: 'state' | 'change' | 'begins' | 'ends' | 'execution'
  /** the state of the source before; null: unknown */
  from: string | null
  /** the state of the source when it fired */
  to: string | null
}

/** A sensor behind a firing. */
export interface WhySensor {
  /** its label */
  node: string
  /** null: unknown at that time */
  state: string | null
  /** epoch ms at which it reached that state */
  since?: number
  /** the input that caused it */
  input?: InputSummary
  /** values from earlier messages that it read because that input did not have them: arrival of each, epoch ms */
  carried?: Readonly<Record<string, { readonly time: number }>>
}

/** The decision of a gate behind a firing, and its parents' states. */
export interface WhyGate {
  /** its label */
  node: string
  /** `AND`, `OR`, `NAND` or `GENERAL` */
  type: string
  /** null: undecided */
  state: 'TRUE' | 'FALSE' | null
  /** the state of each parent in order, null when unknown */
  row: Readonly<Record<string, string | null>>
}

/** One trigger on the way to the source of a firing. */
export interface WhyStep {
  /** what it watched */
  source: string
  /** what it ran */
  destination: string
  /** epoch ms */
  time: number
}

export type HeldReason = 'invocationPolicy' | 'overlap' | 'queue'

interface Base<Type extends string> {
  /**
   * epoch ms, virtual in a simulation: of the input that it follows from. It never goes back in a task, except for
   * answers of actuators after later inputs were taken
   */
  time: number
  /** epoch ms of the engine's clock, when that is ahead: the input waited, or a plug was slow */
  at?: number
  /** task id */
  task: string
  /** number of the invocation, 0 before the first */
  invocation: number
  /** the type of event */
  type: Type
  /** label of its node; absent when it is about the whole task */
  node?: string
}

/** The task started. */
export interface StartedEvent extends Base<'started'> {
  /** number of the run, from 1 */
  run: number
}
/** A clock began an invocation. */
export interface TickEvent extends Base<'tick'> {
  /** of a sensor's own clock: the sensor */
  node?: string
  /** epoch ms at which it was due */
  scheduledAt: number
}
/** A message began an invocation. */
export interface DataEvent extends Base<'data'> {
  /** the resource of the message */
  resource: string
  /** of a message that is not broker data */
  channel?: string
  /** the values of the message */
  values: Readonly<Record<string, unknown>>
}
/** A sensor went from one state to another. */
export interface StateEvent extends Base<'state'> {
  /** the sensor */
  node: string
  /** null: it was unknown */
  from: string | null
  /** null: it is unknown from now on */
  to: string | null
}
/** A gate went from one state to another. */
export interface GateEvent extends Base<'gate'> {
  /** the gate */
  node: string
  /** null: it was undecided */
  from: 'TRUE' | 'FALSE' | null
  /** null: it is undecided from now on */
  to: 'TRUE' | 'FALSE' | null
}
/** A trigger fired its destination. */
export interface FiredEvent extends Base<'fired'> {
  /** the destination */
  node: string
  /** the sensor or gate that the trigger watches */
  source: string
  /** id of the effect, task/run/input/place: the same after a restart, and so an idempotency key */
  effect: string
  /** the chain from the data to the trigger; absent with `why: false` */
  why?: Why
}
/** A trigger that would have fired, or a tick, was held back. */
export interface HeldEvent extends Base<'held'> {
  /** the destination; of a tick, the sensor whose clock it is, or the task's id */
  node: string
  /** the source; absent when a tick or data met a node that is still at work */
  source?: string
  /** `invocationPolicy`: it cools down; `overlap`: the last tick still works; `queue`: too many ticks wait */
  reason: HeldReason
  /** epoch ms at which it may fire again */
  until?: number
}
/** A plug answered, or failed. */
export interface ResultEvent extends Base<'result'> {
  /** the sensor or actuator that ran it */
  node: string
  /** false: it failed with `error` */
  ok: boolean
  /** the state that it returned */
  state?: string
  /** the raw data that it returned */
  rawData?: unknown
  /** the answer of an actuator */
  message?: string
  /** why it failed */
  error?: string
}
/** An observation grew older than its `evictionTime` and was forgotten. */
export interface EvictedEvent extends Base<'evicted'> {
  /** the sensor */
  node: string
  /** the state that it had */
  from: string
}
/** A plug or the engine logged a line. */
export interface LogEvent extends Base<'log'> {
  /** the node that logged it; absent: the engine, about the task */
  node?: string
  /** the severity */
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  /** the text */
  message: string
}
/** The task ended. */
export interface StoppedEvent extends Base<'stopped'> {
  /** `finished`: a onetime task whose work is done */
  reason: 'finished' | 'stopped'
}
/** The task could not start. */
export interface FailedEvent extends Base<'failed'> {
  /** why */
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

/** An event for `EngineOptions.onRare`; results only with an error. */
export type RareEvent = StartedEvent | StoppedEvent | FailedEvent | LogEvent | ResultEvent

export type EventType = EngineEvent['type']
