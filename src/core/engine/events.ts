/**
 * The engine's events, live and simulated: one JSON object each, and the wire format of everything that shows a
 * task at work. Keys keep the order given here, so that equal runs give equal bytes.
 */

/** What began an invocation. */
export interface InputSummary {
  /** what it was */
  kind: 'start' | 'tick' | 'ownTick' | 'data' | 'push' | 'run'
  /** epoch ms at which the engine took it */
  time: number
  /** for ticks: when it was due */
  scheduledAt?: number
  /** for own ticks, pushes and manual runs: the node */
  node?: string
  /** for data: the resource and the values of its message */
  resource?: string
  /** of a message that is no broker data */
  channel?: string
  /** for data: what the message said */
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
  /** the sensors behind the source, with what each of them saw */
  sensors: readonly WhySensor[]
  /** the gates behind the source, parents before children */
  gates: readonly WhyGate[]
  /** when the source itself ran because of a trigger: the triggers that led there, first one first */
  via?: readonly WhyStep[]
}

/** The trigger of a firing, and what its source did. */
export interface WhyTrigger {
  /** the sensor or gate that it looks at */
  source: string
  /** what it fired */
  destination: string
  /** which part of the trigger held: `state`, `change`, `begins`, `ends`, or `execution` (the source ran) */
  matched: 'state' | 'change' | 'begins' | 'ends' | 'execution'
  /** the state of the source before; null: not known */
  from: string | null
  /** the state of the source when it fired */
  to: string | null
}

/** What a sensor behind a firing saw. */
export interface WhySensor {
  /** its label */
  node: string
  /** null: not known at that time */
  state: string | null
  /** epoch ms since when it has that state */
  since?: number
  /** the input that made it */
  input?: InputSummary
  /** values that it read of earlier messages, since that input did not have them: when each came, epoch ms */
  carried?: Readonly<Record<string, { readonly time: number }>>
}

/** What a gate behind a firing decided, and from what. */
export interface WhyGate {
  /** its label */
  node: string
  /** `AND`, `OR`, `NAND` or `GENERAL` */
  type: string
  /** null: not decided */
  state: 'TRUE' | 'FALSE' | null
  /** the state of each parent in order, null when unknown */
  row: Readonly<Record<string, string | null>>
}

/** One trigger on the way to the source of a firing. */
export interface WhyStep {
  /** what it looked at */
  source: string
  /** what it ran */
  destination: string
  /** epoch ms */
  time: number
}

export type HeldReason = 'invocationPolicy' | 'overlap' | 'queue'

/** What every event has. */
interface Base<Type extends string> {
  /**
   * epoch ms, virtual in a simulation: of the input that it follows from. It never goes back in a task, but for what an
   * actuator answers after later inputs were taken
   */
  time: number
  /** epoch ms of the engine's clock, when that is ahead: the input waited, or a plug took its time */
  at?: number
  /** task id */
  task: string
  /** number of the invocation, 0 before the first */
  invocation: number
  /** which event it is */
  type: Type
  /** label of the node that it is about; absent when that is the whole task */
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
  /** what it is about */
  resource: string
  /** of a message that is no broker data */
  channel?: string
  /** what it said */
  values: Readonly<Record<string, unknown>>
}
/** A sensor went from one state to another. */
export interface StateEvent extends Base<'state'> {
  /** the sensor */
  node: string
  /** null: it was not known */
  from: string | null
  /** null: it is not known any more */
  to: string | null
}
/** A gate went from one state to another. */
export interface GateEvent extends Base<'gate'> {
  /** the gate */
  node: string
  /** null: it was not decided */
  from: 'TRUE' | 'FALSE' | null
  /** null: it is not decided any more */
  to: 'TRUE' | 'FALSE' | null
}
/** A trigger fired its destination. */
export interface FiredEvent extends Base<'fired'> {
  /** the destination */
  node: string
  /** the sensor or gate that the trigger looks at */
  source: string
  /** id of the effect, task/run/input/place: the same after a restart, and so good as an idempotency key */
  effect: string
  /** the chain from the data to the trigger; absent when the engine was made with `why: false` */
  why?: Why
}
/** A trigger would have fired, or a clock ticked, and was held back. */
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
  /** false: it failed, and `error` says how */
  ok: boolean
  /** the state that it gave */
  state?: string
  /** the raw data that it gave */
  rawData?: unknown
  /** what an actuator answered */
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
/** A plug or the engine said something. */
export interface LogEvent extends Base<'log'> {
  /** who said it; absent: the engine, about the task */
  node?: string
  /** how much it matters */
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  /** what was said */
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

/** What is told to `EngineOptions.onRare`; of results only those with an error. */
export type RareEvent = StartedEvent | StoppedEvent | FailedEvent | LogEvent | ResultEvent

export type EventType = EngineEvent['type']
