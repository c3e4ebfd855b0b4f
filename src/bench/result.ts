/** Defines the result of a benchmark: plain JSON that can be compared with a later run. */
import type { Origin } from './machine.ts'
import type { CheckSample, LatencySample, Listen, RateSample } from './request.ts'
import type { Comparison, Estimate } from './statistics.ts'

export type LineName = 'limit' | Listen

export interface BenchLine {
  readonly name: LineName
  readonly samples: readonly RateSample[]
  /** messages per second of the main thread's CPU time */
  readonly rate: Estimate
  /** speed relative to the generated limit, round by round; absent without a limit */
  readonly ofLimit?: Estimate
}

export interface BenchComparison {
  readonly with: string
  readonly equalCode?: Comparison
  readonly lines: readonly (Comparison & { readonly name: LineName })[]
  readonly isTooNoisy: boolean
  readonly gate?: { readonly share: number; readonly failed: readonly LineName[] }
}

export interface BenchResult {
  readonly format: 1
  readonly origin: Origin
  readonly rule: string
  readonly copies: number
  readonly rounds: number
  readonly messages: number
  readonly lookedAt: number
  readonly unheard: number
  readonly firings: number
  readonly limits: CheckSample['limits']
  readonly limit?: string
  readonly lines: readonly BenchLine[]
  readonly latency: LatencySample
  readonly comparison?: BenchComparison
}
