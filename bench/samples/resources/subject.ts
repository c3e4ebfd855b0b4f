/** `patch-writes`: what the service commits for it, handed to storage without the service; `put`: the resource alone. */
export type ResourcesSubject = 'get' | 'list' | 'geo' | 'patch' | 'patch-writes' | 'put'

export interface ResourcesSample {
  readonly perSecond: number
  /** of one call, ms */
  readonly p50: number
  readonly p99: number
}

export function sampleOf(times: readonly number[], wallMs: number): ResourcesSample {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
  return { perSecond: (times.length * 1000) / wallMs, p50: at(0.5), p99: at(0.99) }
}
