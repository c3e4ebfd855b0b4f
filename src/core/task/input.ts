/**
 * What a task takes. Inputs of the lane (data, ticks, pushes, runs, resumes, and timers of the rule's own) are taken one
 * after the other; the rest serves the work at hand: what plugs answer, their time limits and back-off, and clocks.
 */
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import type { Message, Sent } from './origin.ts'
import type { Execution } from './state.ts'

/** `release`: of readings that wait to be put in order. `wake`: of executions that wait, in the task's own time or for a plug. */
export type TimerKind = 'release' | 'evict' | 'follow' | 'wake' | 'ownTick' | 'tick'

export type Input =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | {
      readonly kind: 'data'
      readonly messages: readonly Message[]
      readonly sent?: Sent | undefined
      /** epoch ms at which they came, where it matters when they were measured */
      readonly arrived?: number | undefined
    }
  | {
      readonly kind: 'push'
      readonly node: SensorNode
      readonly state: number
      readonly rawData: Readonly<Record<string, unknown>> | undefined
    }
  | {
      readonly kind: 'tick'
      /** whose clocks tick at once; null: the task's own */
      readonly nodes: readonly (SensorNode | null)[]
      /** epoch ms */
      readonly scheduledAt: number
    }
  | { readonly kind: 'run'; readonly node: SensorNode }
  | { readonly kind: 'resume'; readonly node: SensorNode | ActuatorNode }
  | { readonly kind: 'answer'; readonly execution: Execution; readonly answer: Answer }
  | { readonly kind: 'error'; readonly execution: Execution; readonly message: string; readonly timedOut?: boolean }
  /** all timers of the task's own time that are due */
  | { readonly kind: 'timers' }
  /** one that follows the engine's clock */
  | {
      readonly kind: 'timer'
      readonly timer: TimerKind
      /** slot of the sensor; for `wake` the place of the node: sensors first, then actuators */
      readonly key: number
    }

/** An input that may have to wait until the one before is done. */
export type LaneInput = Extract<Input, { kind: 'data' | 'push' | 'tick' | 'run' | 'resume' }>

export interface WaitingInput {
  /** epoch ms at which it came, or was due */
  readonly time: number
  /** counts the inputs that came to the lane in this run: tells apart what was asked ahead */
  readonly number: number
  readonly input: LaneInput
  /** of messages that the host keeps: its number for them, and their places among those that came together */
  readonly kept?: { readonly position: number; readonly places: readonly number[] } | undefined
}
