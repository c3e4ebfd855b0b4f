/** Defines a task's state as plain JSON; absent fields have their defaults. */
import type { WhyMembers } from '../engine/events.ts'
import type { Answer } from '../plug/result.ts'
import type { Message, Origin } from './origin.ts'
import type { Ignored } from './readings/reading.ts'
import type { NewestReading, ReadingCounts } from './readings/readings.ts'
import type { Match, Phase, TaskStatus } from './state.ts'

export interface SavedState {
  status: TaskStatus
  run: number
  inputs: number
  effects: number
  invocations: number
  executions: number
  startTime: number
  lastExecutionTime: number
  finishedTime: number
  nextTickAt?: number
  skippedTicks?: number
  seed: number
  clocksBegan?: ClocksBegan
  failures?: number[]
  origins: Origin[]
  links: SavedLink[]
  sensors: Record<string, SavedSensor>
  gates: Record<string, SavedObserved>
  actuators: Record<string, SavedActuator>
  streams: Record<string, SavedStream>
  /** members of the groups of the rule, in the order of the graph */
  groups?: SavedGroup[]
  evaluation?: SavedEvaluation
  executing?: SavedExecution[]
  calls?: number[]
  /** ids of acting calls that wait for earlier ones on the same thing, oldest first */
  behind?: number[]
  /** epoch ms of the current input, while it is being processed or others wait for it */
  now?: number
  waiting?: SavedInput[]
  /** number of inputs that waited in this run; the number of the current one; and how many were dropped */
  arrived?: number
  current?: number
  dropped?: number
  readings?: SavedReadings
  downtime?: TaskDowntime
}

export interface SavedGroup {
  /** canonical text of the group */
  key: string
  /** the member whose states are in the slots of its nodes */
  loaded?: string
  /** by label of a relation: ids of the members that count, in the order in which they began to */
  met?: Record<string, string[]>
  /** in the order in which they joined */
  members: SavedMember[]
}

export interface SavedMember {
  id: string
  sensors?: Record<string, SavedSensor>
  gates?: Record<string, SavedObserved>
  actuators?: Record<string, SavedActuator>
  /** how the member counts, by label of the relation */
  counted?: Record<string, SavedContribution>
  stream?: SavedStream
  /** what gathering sensors processed last of it, by label */
  taken?: Record<string, SavedTaken>
}

export interface SavedContribution {
  observedAt?: number
  metAt?: number
  lag?: number
  known?: true
}

export interface SavedReadings {
  time?: number
  clock?: number
  newest: Record<string, NewestReading>
  inRow?: Record<string, number>
  mixed?: string[]
  recent?: Record<string, string>
  counts: ReadingCounts
}

/** What a sensor processed last: the measurement time, and the identities of the readings with that time. */
export interface SavedTaken {
  time: number
  known?: string[]
}

export interface DowntimeInterval {
  readonly from: number
  readonly until: number
}

export interface TaskDowntime extends DowntimeInterval {
  /** lag of the newest reading of each resource, ms; for an unknown resource, the lag of its first reading */
  readonly lags: Readonly<Record<string, number>>
}

export interface ClocksBegan {
  readonly task?: number
  readonly sensors?: Readonly<Record<string, number>>
}

export type SavedInput = { time: number; number: number } & (
  | {
      kind: 'data'
      messages?: Message[]
      kept?: { position: number; places: readonly number[] }
      channel?: string
      hops?: number
      arrived?: number
      /** indexes of messages whose timestamp is not their own */
      unstamped?: readonly number[]
      /** what is ignored when the messages are compared */
      ignores?: Ignored
      /** the input waits to be put in order; `time` is then its measurement time */
      isHeld?: true
      /** the input runs nothing, and is remembered when the task reaches its time */
      isAhead?: true
      root?: string
    }
  /** node null: the task's own clock */
  | { kind: 'tick'; nodes: (string | null)[]; scheduledAt: number }
  | { kind: 'push'; node: string; state?: string; rawData?: Record<string, unknown> }
  | { kind: 'run' | 'resume'; node: string }
  | { kind: 'members'; group: number; changes: readonly { readonly id: string; readonly joins: boolean }[] }
)

export interface SavedLink {
  trigger: number
  time: number
  earlier?: number
}

export interface SavedObserved {
  state?: string
  memory?: string
  /** state before the last evaluation; `before` falls back to the memory if that state was unknown */
  previous?: string
  before?: string
  since?: number
  lost?: number
}

export interface SavedDestination {
  firedAt?: number
  firing?: SavedFiring
  held?: { reason: 'invocationPolicy' | 'overlap'; time: number; until?: number; trigger: number }
  /** positions in the rule of triggers whose `begins` has fired, and of triggers whose `ends` may fire */
  begun?: number[]
  mayEnd?: number[]
  error?: { time: number; message: string }
}

export interface SavedSensor extends SavedObserved, SavedDestination {
  collectedTime?: number
  rawData?: Record<string, unknown>
  internalState?: unknown
  evictAt?: number
  evictLag?: number
  taken?: SavedTaken
  /** labels of nodes whose data is new to the sensor */
  news?: string[]
  late?: Message[]
  origin?: number
  via?: number
  follow?: { at: number; lag?: number; answer: SavedAnswer; invocation: number; origin: number; via?: number }
  ownTickAt?: number
}

export interface SavedActuator extends SavedDestination {
  answer?: { message?: string; rawData?: unknown; collectedTime: number }
}

export interface SavedFiring {
  trigger: number
  time: number
  invocation: number
  input: number
  place: number
  matched: Match
  from?: string
  to?: string
  also?: SavedHolding[]
  origin: number
  via?: number
  seen: { node: string; state?: string; since: number; origin?: number; members?: WhyMembers }[]
}

export interface SavedHolding {
  trigger: number
  matched: Match
  from?: string
  to?: string
}

export interface SavedStream {
  values: Record<string, unknown>
  at: number
  carried?: [key: string, value: unknown, until: number][]
  same?: string[]
}

export interface SavedEvaluation {
  invocation: number
  selected: [node: string, origin: number][]
  due: string[]
  counting?: [gate: string, origin: number][]
  agenda: string[]
  touched: SavedTouch[]
}

export interface SavedTouch {
  node: string
  invocation: number
  origin: number
  via?: number
  /** `observed`: the node showed a state; `succeeded`: it ran without an error */
  observed: boolean
  succeeded: boolean
}

export interface SavedExecution {
  id: number
  node: string
  invocation: number
  origin: number
  via?: number
  member?: string
  input: number
  place: number
  phase: Phase
  wakeAt?: number
  wakeLag?: number
  attempt?: number
  calls?: number
  held?: SavedAnswer
  items?: unknown[]
  item?: number
  resumed?: true
  news?: string[]
  late?: number
  /** properties of each item; absent: created by the call, or constant */
  rendered?: Record<string, unknown>[]
  touches?: string[]
  placedAt?: number
  /** values that the properties read; absent: they are known, or read the current state */
  firing?: SavedFiringValues
}

export interface SavedFiringValues {
  now: number
  nodes: Record<string, SavedNodeValues>
  streams: Record<string, SavedStream>
}

export interface SavedNodeValues {
  state?: string
  collectedTime?: number
  rawData?: Record<string, unknown>
  answer?: NonNullable<SavedActuator['answer']>
}

export type SavedAnswer = { state?: string } & {
  [K in Exclude<keyof Answer, 'ok' | 'state' | 'then'>]?: Answer[K] | undefined
} & { then?: SavedAnswer }
