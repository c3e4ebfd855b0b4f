/** `-writes`: what the service commits for it, handed to storage without the service. */
export type AlarmsSubject = 'raise' | 'raise-writes' | 'repeat' | 'repeat-writes' | 'list' | 'stream'

export interface AlarmsSample {
  readonly perSecond: number
  /** of one call, ms; of the stream: until the last reader has the event */
  readonly p50: number
  readonly p99: number
}

export function sampleOf(times: readonly number[], wallMs: number): AlarmsSample {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
  return { perSecond: (times.length * 1000) / wallMs, p50: at(0.5), p99: at(0.99) }
}
