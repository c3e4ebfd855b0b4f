/** What one process of a bench is asked, and what it answers: plain JSON both. */
import type { EngineStats } from '#core/spi'
import type { Rule, Template } from '#core'
import type { ErrorCode } from '#kernel'

export const LISTENS = ['none', 'fired', 'all', 'why'] as const
/** Who listens: nobody; a subscriber that counts what fires, or all events; one that reads the why of what fires. */
export type Listen = (typeof LISTENS)[number]

/** The rule and its messages, the same for all processes of a bench. */
export interface BenchWork {
  readonly rule: Rule | Template
  /** NDJSON: one message a line, each with its time as epoch ms in `timestamp` */
  readonly messagesFile: string
  /** modules of plugs, beside the built-in ones */
  readonly plugs: readonly string[]
  readonly resource: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
  /** tasks of the rule, each with a resource and a copy of the messages of its own */
  readonly copies: number
}

export type BenchRequest = { readonly work: BenchWork } & (
  | { readonly kind: 'check' }
  | { readonly kind: 'rate'; readonly who: 'limit' | Listen; readonly place: number; readonly measureMs: number }
  | { readonly kind: 'latency'; readonly rate: number; readonly measureMs: number }
)

export type BenchAnswer<Kind extends BenchRequest['kind'] = BenchRequest['kind']> =
  { readonly sample: BenchSamples[Kind] } | { readonly code: ErrorCode; readonly message: string }

export interface BenchSamples {
  readonly check: CheckSample
  readonly rate: RateSample
  readonly latency: LatencySample
}

/** What a rule is and does, before anything is measured. */
export interface CheckSample {
  /** messages of one pass, copies included */
  readonly messages: number
  /** of those, so many were played to the engine and to each limit */
  readonly lookedAt: number
  /** those of them that no task takes */
  readonly unheard: number
  /** resources of those, some of them */
  readonly others: readonly string[]
  /** firings of actuators in what was played */
  readonly firings: number
  /** the loops that the rule was written as, with their source; or why there is none */
  readonly limits: readonly { readonly name: string; readonly source: string }[] | { readonly reason: string }
}

export interface RateSample {
  readonly messages: number
  /** CPU time of the main thread, ms */
  readonly cpuMs: number
  /** CPU time of all other threads, ms: the collector's and the compiler's, and those of plugs */
  readonly otherCpuMs: number
  /** by the clock, ms */
  readonly wallMs: number
  /** collections of garbage meanwhile */
  readonly collections: number
  /** ms that they held the main thread */
  readonly collectionMs: number
  /** bytes that a message leaves for the collector; median of some stretches without a collection */
  readonly bytes: number
  /** events that were heard */
  readonly heard: number
  /** which way messages took; absent for a limit */
  readonly ways?: EngineStats
}

/** From when a message was due until the engine was done with it, microseconds. */
export interface LatencySample {
  readonly rate: number
  readonly messages: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}
