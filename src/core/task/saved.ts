/** A task's state as plain JSON: labels and state names, never places in lists. What is not there has its default. */
import type { Answer } from '../plug/result.ts'
import type { Message, Origin } from './origin.ts'
import type { Phase, TaskStatus } from './state.ts'

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
  /** of earlier versions: ticks that wait */
  waitingTicks?: { node?: string; at: number }[]
  skippedTicks?: number
  seed: number
  clocksBegan?: ClocksBegan
  failures?: number[]
  /** what began things that still matter; others point here by place */
  origins: Origin[]
  /** how executions came about; `earlier` points into this list */
  links: SavedLink[]
  sensors: Record<string, SavedSensor>
  gates: Record<string, SavedObserved>
  actuators: Record<string, SavedActuator>
  streams: Record<string, SavedStream>
  groups?: SavedGroup[]
  executing?: SavedExecution[]
  /** ids of those that are to be called, in the order of their calls */
  calls?: number[]
  /** ids of those that act and wait for earlier ones on the same thing, oldest first */
  behind?: number[]
  /** epoch ms of the input at hand, while it is at work or others wait for it */
  now?: number
  /** inputs that wait for the one at hand, oldest first */
  waiting?: SavedInput[]
  /** inputs that waited in this run, the one of them at hand, and those dropped */
  arrived?: number
  current?: number
  dropped?: number
}

/** When clocks began that did not begin with the run, epoch ms. */
export interface ClocksBegan {
  /** the task's own */
  readonly task?: number
  /** of sensors, by label */
  readonly sensors?: Readonly<Record<string, number>>
}

export type SavedInput = { time: number; number: number } & (
  | {
      kind: 'data'
      /** absent: the host keeps them */
      messages?: Message[]
      kept?: { position: number; places: readonly number[] }
      channel?: string
      hops?: number
      root?: string
    }
  | { kind: 'tick'; node?: string; scheduledAt: number }
  | { kind: 'push'; node: string; state?: string; rawData?: Record<string, unknown> }
  | { kind: 'run' | 'resume'; node: string }
)

export interface SavedLink {
  trigger: number
  time: number
  earlier?: number
}

export interface SavedObserved {
  state?: string
  memory?: string
  /** state before the last evaluation, and the same with the memory in place of unknown */
  previous?: string
  before?: string
  since?: number
  /** of a sensor */
  lost?: number
}

export interface SavedDestination {
  firedAt?: number
  firing?: SavedFiring
  /** `queue`: of earlier versions */
  held?: { reason: 'invocationPolicy' | 'overlap' | 'queue'; time: number; until?: number; trigger: number }
  error?: { time: number; message: string }
}

export interface SavedSensor extends SavedObserved, SavedDestination {
  collectedTime?: number
  rawData?: Record<string, unknown>
  internalState?: unknown
  evictAt?: number
  origin?: number
  via?: number
  follow?: { at: number; answer: SavedAnswer; invocation: number; origin: number; via?: number }
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
  matched: 'state' | 'change' | 'execution'
  from?: string
  to?: string
  origin: number
  via?: number
  seen: { node: string; state?: string; since: number; origin?: number }[]
}

export interface SavedStream {
  values: Record<string, unknown>
  at: number
  carried?: [key: string, value: unknown, until: number][]
}

export interface SavedGroup {
  id: number
  invocation: number
  groups: string[][]
  position: number
  open: number
  origins: number[]
}

export interface SavedExecution {
  id: number
  node: string
  invocation: number
  origin: number
  via?: number
  input: number
  place: number
  group?: number
  phase: Phase
  wakeAt?: number
  attempt?: number
  calls?: number
  held?: SavedAnswer
  items?: unknown[]
  item?: number
  resumed?: true
  /** properties of each item; absent: they are made by the call, or never change */
  rendered?: Record<string, unknown>[]
  touches?: string[]
  placedAt?: number
}

/** An answer with the state by name; absent fields were not given. */
export type SavedAnswer = { state?: string } & {
  [K in Exclude<keyof Answer, 'ok' | 'state' | 'then'>]?: Answer[K] | undefined
} & { then?: SavedAnswer }
