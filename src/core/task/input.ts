/** What a task takes, one at a time, in one total order. */
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import type { Message, Sent } from './origin.ts'
import type { Execution } from './state.ts'

export type TimerKind = 'evict' | 'follow' | 'wake' | 'ownTick' | 'tick'

export type Input =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'data'; readonly messages: readonly Message[]; readonly sent?: Sent | undefined }
  | {
      readonly kind: 'push'
      readonly node: SensorNode
      readonly state: number
      readonly rawData: Readonly<Record<string, unknown>> | undefined
    }
  | { readonly kind: 'run'; readonly node: SensorNode }
  | { readonly kind: 'resume'; readonly node: SensorNode | ActuatorNode }
  | { readonly kind: 'answer'; readonly execution: Execution; readonly answer: Answer }
  | { readonly kind: 'error'; readonly execution: Execution; readonly message: string; readonly timedOut?: boolean }
  | {
      readonly kind: 'timer'
      readonly timer: TimerKind
      /** node slot, or execution id for `wake` */ readonly key: number
    }
