/** What a bench of a rule found out: plain JSON, which a later run can be held against. */
import type { Origin } from './machine.ts'
import type { CheckSample, LatencySample, Listen, RateSample } from './request.ts'
import type { Comparison, Estimate } from './statistics.ts'

export type LineName = 'limit' | Listen

/** One way in which the rule was run. */
export interface BenchLine {
  readonly name: LineName
  /** one per round, each from a process of its own */
  readonly samples: readonly RateSample[]
  /** messages a second of CPU time of the main thread */
  readonly rate: Estimate
  /** of the generated limit, round by round; absent without one */
  readonly ofLimit?: Estimate
}

export interface BenchComparison {
  /** the git ref, or the file of the baseline */
  readonly with: string
  /** one per line, and that of equal code first: when it differs, nothing can be said */
  readonly equalCode?: Comparison
  readonly lines: readonly (Comparison & { readonly name: LineName })[]
  /** whether equal code differed, so that no verdict counts */
  readonly isTooNoisy: boolean
  /** the share by which a line may be slower, and the lines that are slower by more */
  readonly gate?: { readonly share: number; readonly failed: readonly LineName[] }
}

export interface BenchResult {
  readonly format: 1
  readonly origin: Origin
  /** as the caller names it */
  readonly rule: string
  readonly copies: number
  readonly rounds: number
  /** of one pass, copies included */
  readonly messages: number
  /** the first so many were looked at: how many of them no task takes, and how often actuators fired */
  readonly lookedAt: number
  readonly unheard: number
  readonly firings: number
  readonly limits: CheckSample['limits']
  /** which of the limits is the fastest */
  readonly limit?: string
  readonly lines: readonly BenchLine[]
  readonly latency: LatencySample
  readonly comparison?: BenchComparison
}
