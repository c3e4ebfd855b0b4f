/** Defines a run's plan as data, which can be saved, shrunk and repeated. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { Behaviour } from './note-plug.ts'
import type { Manners, Trouble } from './medium.ts'

/** A client's request. */
export interface Operation {
  /** ms since the beginning of the run */
  readonly at: number
  /** name such as `messages.post` */
  readonly do: string
  readonly tenant: string
  readonly with: JsonObject
}

/** A fault, or the end of one. */
export type Fault =
  /** the process is killed, and starts again after `downMs` */
  | { readonly fault: 'crash'; readonly downMs: number }
  /** the power is cut: the process dies, and series are reset to `seriesMs` ago */
  | { readonly fault: 'power'; readonly seriesMs: number; readonly downMs: number }
  /** an operator stops the host, and starts it again */
  | { readonly fault: 'restart'; readonly downMs: number }
  /** the medium is in trouble for `ms` */
  | { readonly fault: 'trouble'; readonly kind: Trouble; readonly ms: number }
  /** changes how the medium behaves */
  | { readonly fault: 'manners'; readonly manners: Manners }
  /** the wall clock is set */
  | { readonly fault: 'clock'; readonly ms: number }
  /** changes how plugs behave */
  | ({ readonly fault: 'plugs' } & Behaviour)

/** `turns`: the number of events to wait for before the fault; absent: none. */
export type Step = Operation | (Fault & { readonly at: number; readonly turns?: number })

/** The participants of a run. A few at a time interact more often than many do. */
export interface Cast {
  readonly tenants: readonly string[]
  /** names of simulated services */
  readonly services: readonly string[]
  /** services of the host; absent: all that can be simulated */
  readonly serves?: readonly string[]
  /** for services with variants: those that take part */
  readonly variants: Readonly<Record<string, readonly string[]>>
}

export interface Plan {
  /** seed of all random numbers during the run */
  readonly seed: string
  /** absent: everything takes part */
  readonly cast?: Cast
  readonly steps: readonly Step[]
}

export function isOperation(step: Step): step is Operation {
  return 'do' in step
}
