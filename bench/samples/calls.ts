/** Calls by the clock: so many at a time, and how long each of them took. */
import { performance } from 'node:perf_hooks'

export interface Calls {
  /** of one call, ms, in the order in which they were answered */
  readonly times: readonly number[]
  readonly wallMs: number
}

/** One call after the other on each lane, such as a connection, until `more` says no. */
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

/** Of calls that need nothing to go over. */
export function lanes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, lane) => lane)
}

/** ms */
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
