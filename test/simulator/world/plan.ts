/** What a run does, as data: it can be written down, made smaller and done again. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { Behaviour } from './note-plug.ts'
import type { Manners, Trouble } from './medium.ts'

/** Something that a client asks for. */
export interface Operation {
  /** ms since the beginning of the run */
  readonly at: number
  /** as in `messages.post` */
  readonly do: string
  readonly tenant: string
  readonly with: JsonObject
}

/** Something that goes wrong, or ends doing so. */
export type Fault =
  /** the process is killed, and started again after so many ms */
  | { readonly fault: 'crash'; readonly downMs: number }
  /** the power is cut: the process is gone, and series are as they were so many ms ago */
  | { readonly fault: 'power'; readonly seriesMs: number; readonly downMs: number }
  /** an operator stops it, and starts it again */
  | { readonly fault: 'restart'; readonly downMs: number }
  /** the medium is in trouble for so many ms */
  | { readonly fault: 'trouble'; readonly kind: Trouble; readonly ms: number }
  /** how the medium behaves from now on */
  | { readonly fault: 'manners'; readonly manners: Manners }
  /** somebody sets the wall clock */
  | { readonly fault: 'clock'; readonly ms: number }
  /** how plugs behave from now on */
  | ({ readonly fault: 'plugs' } & Behaviour)

/** `turns`: it comes when so many more things have happened, or at once. */
export type Step = Operation | (Fault & { readonly at: number; readonly turns?: number })

/** What takes part in a run: few things at a time meet each other more often than many do. */
export interface Cast {
  readonly tenants: readonly string[]
  /** names of services of the simulator */
  readonly services: readonly string[]
  /** services that the host has; absent: all that can be simulated */
  readonly serves?: readonly string[]
  /** of services that have variants: those that take part */
  readonly variants: Readonly<Record<string, readonly string[]>>
}

export interface Plan {
  /** of all chance while it runs */
  readonly seed: string
  /** absent: everything takes part */
  readonly cast?: Cast
  readonly steps: readonly Step[]
}

export function isOperation(step: Step): step is Operation {
  return 'do' in step
}
