/** What a task takes, one at a time, in one total order. */
import type { InputSummary } from '../engine/events.ts'
import type { SensorNode } from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import type { Execution } from './state.ts'

/** A broker message: values for one resource. */
export interface Message {
  readonly resource: string
  /** epoch ms or ISO 8601; when it was measured. Kept as a value, the engine's clock decides about time */
  readonly timestamp?: number | string
  readonly [key: string]: unknown
}

/** What began an invocation; shared by all that follows from it. */
export interface Origin {
  readonly kind: InputSummary['kind']
  readonly time: number
  readonly scheduledAt?: number
  readonly node?: string
  readonly resource?: string
  readonly values?: Readonly<Record<string, unknown>>
}

export type TimerKind = 'evict' | 'follow' | 'wake' | 'ownTick' | 'tick'

export type Input =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'data'; readonly messages: readonly Message[] }
  | {
      readonly kind: 'push'
      readonly node: SensorNode
      readonly state: number
      readonly rawData: Readonly<Record<string, unknown>> | undefined
    }
  | { readonly kind: 'run' | 'resume'; readonly node: SensorNode }
  | { readonly kind: 'answer'; readonly execution: Execution; readonly answer: Answer }
  | { readonly kind: 'error'; readonly execution: Execution; readonly message: string; readonly timedOut?: boolean }
  | {
      readonly kind: 'timer'
      readonly timer: TimerKind
      /** node slot, or execution id for `wake` */ readonly key: number
    }
