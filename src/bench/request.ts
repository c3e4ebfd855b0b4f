/** Requests to a process of a benchmark, and its answers: plain JSON. */
import type { EngineStats } from '#core/spi'
import type { Rule, Template } from '#core'
import type { ErrorCode } from '#kernel'

export const LISTENS = ['none', 'fired', 'all', 'why'] as const
/** Subscribers: none; one that counts firings, or all events; one that reads the why of firings. */
export type Listen = (typeof LISTENS)[number]

export interface BenchWork {
  readonly rule: Rule | Template
  /** NDJSON: one message per line, each with its time as epoch ms in `timestamp` */
  readonly messagesFile: string
  readonly plugs: readonly string[]
  readonly resource: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
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

/** Facts about a rule before measuring. */
export interface CheckSample {
  /** messages per pass, copies included */
  readonly messages: number
  /** number of them played to the engine and to each limit */
  readonly lookedAt: number
  readonly unheard: number
  readonly others: readonly string[]
  readonly firings: number
  readonly limits: readonly { readonly name: string; readonly source: string }[] | { readonly reason: string }
}

export interface RateSample {
  readonly messages: number
  /** CPU time of the main thread, ms */
  readonly cpuMs: number
  /** CPU time of all other threads, ms: of the collector, the compiler and plugs */
  readonly otherCpuMs: number
  readonly wallMs: number
  readonly collections: number
  /** ms of pauses */
  readonly collectionMs: number
  /** garbage per message in bytes; median of stretches without a collection */
  readonly bytes: number
  /** received events */
  readonly heard: number
  /** ways that messages took; absent for a limit */
  readonly ways?: EngineStats
}

/** Delay from due to done, microseconds. */
export interface LatencySample {
  readonly rate: number
  readonly messages: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}
