/** Looks for a case that fails, within a number of cases or a length of time, and lets fast-check make it smaller. */
import fc from 'fast-check'
import { asyncScheduler } from 'rxjs'
import { AppError, messageOf } from '../kernel/errors.ts'

export interface SearchOptions {
  /** first seed of the cases */
  readonly seed: number
  /** from an earlier failure, with its seed: this case alone, made smaller */
  readonly path?: string | undefined
  /** at most so many cases */
  readonly numRuns: number
  /** ms after which no further case begins; infinite: only the number counts */
  readonly time: number
  /** ms after which a failing case is not made smaller any more; 0: not at all */
  readonly shrinkTime: number
}

export interface Found<Case> {
  readonly failing: Case
  /** number of the case, from 1 */
  readonly place: number
  /** how often it was made smaller */
  readonly shrinks: number
  /** to see the same case again */
  readonly seed: number
  readonly path: string
}

/** Cases of one seed: fast-check begins each batch with small values, so that batches grow. */
const BATCHES = [32, 64, 128]
const LAST_BATCH = 256

/** `fails` throws for a case that fails. Rejects when no case can be made. */
export async function search<Case>(
  cases: fc.Arbitrary<Case>,
  fails: (one: Case) => Promise<void>,
  options: SearchOptions,
): Promise<Found<Case> | undefined> {
  const { path, numRuns, time, shrinkTime } = options
  const deadline = asyncScheduler.now() + time
  let done = 0
  for (let batch = 0; path !== undefined ? batch === 0 : done < numRuns; batch++) {
    const seed = (options.seed + batch * 7919) | 0
    const size = Math.min(BATCHES[batch] ?? LAST_BATCH, numRuns - done)
    let began = 0
    let isOver = false
    const [first] = await check(
      cases,
      seed,
      { numRuns: size, endOnFailure: true, ...(path !== undefined && { path }) },
      async (one) => {
        isOver ||= done + began > 0 && asyncScheduler.now() >= deadline
        if (isOver) return
        began++
        await fails(one)
      },
    )
    if (first !== undefined) {
      const found = { failing: first.failing, place: done + began, shrinks: 0, seed, path: first.path }
      return shrinkTime > 0 ? shrunk(cases, fails, found, shrinkTime) : found
    }
    done += began
    if (isOver || path !== undefined) return undefined
  }
  return undefined
}

async function shrunk<Case>(
  cases: fc.Arbitrary<Case>,
  fails: (one: Case) => Promise<void>,
  found: Found<Case>,
  time: number,
): Promise<Found<Case>> {
  const { seed, path } = found
  const deadline = asyncScheduler.now() + time
  const [smaller] = await check(cases, seed, { numRuns: 1, path }, async (one) => {
    if (asyncScheduler.now() < deadline) await fails(one)
  })
  return smaller === undefined ? found : { ...found, failing: smaller.failing, shrinks: smaller.shrinks }
}

async function check<Case>(
  cases: fc.Arbitrary<Case>,
  seed: number,
  parameters: fc.Parameters<[Case]>,
  predicate: (one: Case) => Promise<void>,
): Promise<{ failing: Case; shrinks: number; path: string }[]> {
  const { failed, counterexample, numShrinks, counterexamplePath, errorInstance } = await fc.check(
    fc.asyncProperty(cases, predicate),
    { ...parameters, seed },
  )
  if (!failed) return []
  if (counterexample === null) throw new AppError('PROPERTY', `no case could be made: ${messageOf(errorInstance)}`)
  return [{ failing: counterexample[0], shrinks: numShrinks, path: (counterexamplePath ?? '').split(':')[0] ?? '' }]
}
