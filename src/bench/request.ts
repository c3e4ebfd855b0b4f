/** Defines the requests to a benchmark process and its results, as plain JSON. */
import type { EngineStats } from '#core/spi'
import type { Rule, Template } from '#core'
import type { ErrorCode } from '#kernel'

export const LISTENS = ['none', 'fired', 'all', 'why'] as const
/** none; one that counts firings; one that counts all events; one that reads the why of firings */
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
  | { readonly kind: 'rate'; readonly who: 'limit' | Listen; readonly index: number; readonly measureMs: number }
  | { readonly kind: 'latency'; readonly rate: number; readonly measureMs: number }
)

export type BenchAnswer<Kind extends BenchRequest['kind'] = BenchRequest['kind']> =
  { readonly sample: BenchSamples[Kind] } | { readonly code: ErrorCode; readonly message: string }

export interface BenchSamples {
  readonly check: CheckSample
  readonly rate: RateSample
  readonly latency: LatencySample
}

export interface CheckSample {
  readonly messages: number
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
  /** CPU time of all other threads in ms: garbage collector, compiler and plugs */
  readonly otherCpuMs: number
  readonly wallMs: number
  readonly collections: number
  /** duration of pauses, ms */
  readonly collectionMs: number
  /** garbage per message in bytes; median of stretches without a collection */
  readonly bytes: number
  readonly heard: number
  readonly ways?: EngineStats
}

/** Delay between when a message was due and when it was finished, microseconds. */
export interface LatencySample {
  readonly rate: number
  readonly messages: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}
