import type { Message, Rule } from '../../../src/index.ts'

export type CaseInput =
  | { readonly kind: 'data'; readonly messages: readonly Message[] }
  | { readonly kind: 'push'; readonly node: string; readonly state: string }
  | { readonly kind: 'run' | 'resume'; readonly node: string }

export interface CaseStep {
  /** ms since the start */
  readonly at: number
  readonly input: CaseInput
}

export interface LatencyCase {
  readonly rule: Rule
  /** in order of time */
  readonly steps: readonly CaseStep[]
  /** ms per call; the list repeats */
  readonly latencies: readonly number[]
  /** ms since the start at which the process dies, ascending */
  readonly crashes: readonly number[]
}

/** Epoch ms at which every case starts. */
export const CASE_START = 1_700_000_040_000
