/** Random crashes of a process. */
import fc from 'fast-check'
import type { CrashPoint } from '../checked-run.ts'

export interface CrashDraw {
  /** share of the stream, 0 to 1 */
  readonly place: number
  readonly down: number
  readonly inFlight: boolean
}

const share = fc.integer({ min: 0, max: 1000 }).map((n) => n / 1000)

/** One to four crashes; shrinks to fewer and earlier ones. */
export const crashDraws: fc.Arbitrary<readonly CrashDraw[]> = fc.array(
  fc.record({ place: share, down: share, inFlight: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
)

/** The same in a stream of that many messages: at most one crash after each, ascending. */
export function crashPoints(draws: readonly CrashDraw[], messages: number): readonly CrashPoint[] {
  if (messages === 0) return []
  const points = new Map<number, CrashPoint>()
  for (const { place, down, inFlight } of draws) {
    const after = 1 + Math.min(messages - 1, Math.floor(place * messages))
    if (!points.has(after)) points.set(after, { after, down, inFlight })
  }
  return [...points.values()].sort((a, b) => a.after - b.after)
}
