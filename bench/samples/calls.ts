/** Calls by the clock: limited concurrency, with the duration of each. */
import { performance } from 'node:perf_hooks'

export interface Calls {
  /** ms per call, in order of completion */
  readonly times: readonly number[]
  readonly wallMs: number
}

/** Calls sequentially on each lane, such as a connection, until `more` returns false. */
export async function drive<Lane>(
  all: readonly Lane[],
  more: (n: number) => boolean,
  run: (lane: Lane, n: number) => Promise<unknown>,
): Promise<Calls> {
  const times: number[] = []
  const started = performance.now()
  let next = 0
  const goOn = async (lane: Lane): Promise<void> => {
    for (let n = next++; more(n); n = next++) {
      const before = performance.now()
      await run(lane, n)
      times.push(performance.now() - before)
    }
  }
  await Promise.all(all.map(goOn))
  return { times, wallMs: performance.now() - started }
}

export function lanes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, lane) => lane)
}

export interface Spread {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

export interface CallsSample extends Spread {
  readonly perSecond: number
}

export function sampleOf({ times, wallMs }: Calls): CallsSample {
  return { perSecond: (times.length * 1_000) / wallMs, ...spreadOf(times) }
}
