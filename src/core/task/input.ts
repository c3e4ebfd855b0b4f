/** Defines the inputs of a task; the lane processes inputs one after the other. */
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import type { Answer, BadAnswer } from '../plug/result.ts'
import type { Message, Sent } from './origin.ts'
import type { Execution } from './state.ts'

/**
 * `release`: of readings that wait to be put in order. `wake`: of executions that wait, in task time or for a plug.
 * `members`: of members of a group that are not loaded.
 */
export type TimerKind = 'release' | 'evict' | 'follow' | 'members' | 'wake' | 'ownTick' | 'tick'

export type Input =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | {
      readonly kind: 'data'
      readonly messages: readonly Message[]
      readonly sent?: Sent | undefined
      /** epoch ms at which the messages arrived, if measurement times matter */
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
      /** sensors whose clocks tick at once; null: the task's own clock */
      readonly nodes: readonly (SensorNode | null)[]
      readonly scheduledAt: number
    }
  | { readonly kind: 'run'; readonly node: SensorNode }
  | { readonly kind: 'resume'; readonly node: SensorNode | ActuatorNode }
  | MemberChanges
  | { readonly kind: 'answer'; readonly execution: Execution; readonly answer: Answer }
  | { readonly kind: 'error'; readonly execution: Execution; readonly failure: BadAnswer }
  | { readonly kind: 'timers' }
  | {
      readonly kind: 'timer'
      readonly timer: TimerKind
      /** slot of the sensor; for `wake` the position of the node, counting sensors first, then actuators; for `members` the group */
      readonly key: number
    }

/** Members that join or leave a group, of which those from index `from` on are still to be processed. */
export interface MemberChanges {
  readonly kind: 'members'
  /** index in `graph.groups` */
  readonly group: number
  readonly changes: readonly { readonly id: string; readonly joins: boolean }[]
  readonly from: number
}

export type LaneInput = Extract<Input, { kind: 'data' | 'push' | 'tick' | 'run' | 'resume' | 'members' }>

export interface WaitingInput {
  readonly time: number
  /** number among the inputs of this run, which identifies calls made ahead */
  readonly number: number
  readonly input: LaneInput
  /** if the host stores the messages: its number for their array, and their indexes in that array */
  readonly kept?: { readonly position: number; readonly places: readonly number[] } | undefined
}
