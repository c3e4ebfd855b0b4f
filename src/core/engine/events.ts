/**
 * The engine's events, live and simulated: one JSON object each, and the wire format of everything that shows a
 * task at work. Keys keep the order given here, so that equal runs give equal bytes.
 */

/** What began an invocation. */
export interface InputSummary {
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
  values?: Readonly<Record<string, unknown>>
}

/** Why a destination fired: the chain from the data to the trigger, each node once. */
export interface Why {
  /** what began the invocation that fired */
  input: InputSummary
  trigger: WhyTrigger
  /** the sensors behind the source, with what each of them saw */
  sensors: readonly WhySensor[]
  /** the gates behind the source, parents before children */
  gates: readonly WhyGate[]
  /** when the source itself ran because of a trigger: the triggers that led there, first one first */
  via?: readonly WhyStep[]
}

export interface WhyTrigger {
  source: string
  destination: string
  /** which part of the trigger held: `state`, `change`, or `execution` (the source ran) */
  matched: 'state' | 'change' | 'execution'
  from: string | null
  to: string | null
}

export interface WhySensor {
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

export interface WhyGate {
  node: string
  type: string
  state: 'TRUE' | 'FALSE' | null
  /** the state of each parent in order, null when unknown */
  row: Readonly<Record<string, string | null>>
}

export interface WhyStep {
  source: string
  destination: string
  time: number
}

export type HeldReason = 'invocationPolicy' | 'overlap' | 'queue'

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
  type: Type
  /** what it is about; absent when that is the whole task */
  node?: string
}

export interface StartedEvent extends Base<'started'> {
  run: number
}
export interface TickEvent extends Base<'tick'> {
  /** present for a node's own tick */
  node?: string
  scheduledAt: number
}
export interface DataEvent extends Base<'data'> {
  resource: string
  /** of a message that is no broker data */
  channel?: string
  values: Readonly<Record<string, unknown>>
}
export interface StateEvent extends Base<'state'> {
  node: string
  from: string | null
  to: string | null
}
export interface GateEvent extends Base<'gate'> {
  node: string
  from: 'TRUE' | 'FALSE' | null
  to: 'TRUE' | 'FALSE' | null
}
export interface FiredEvent extends Base<'fired'> {
  /** the destination */
  node: string
  source: string
  /** deterministic id of the effect: task/run/input/index */
  effect: string
  why?: Why
}
export interface HeldEvent extends Base<'held'> {
  node: string
  /** the source; absent when a tick or data met a node that is still at work */
  source?: string
  reason: HeldReason
  /** epoch ms at which it may fire again */
  until?: number
}
export interface ResultEvent extends Base<'result'> {
  node: string
  ok: boolean
  state?: string
  rawData?: unknown
  message?: string
  error?: string
}
export interface EvictedEvent extends Base<'evicted'> {
  node: string
  from: string
}
export interface LogEvent extends Base<'log'> {
  node?: string
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  message: string
}
export interface StoppedEvent extends Base<'stopped'> {
  /** `finished`: a onetime task whose work is done */
  reason: 'finished' | 'stopped'
}
export interface FailedEvent extends Base<'failed'> {
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
