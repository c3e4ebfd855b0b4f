/** Searches for a failing case, limited by a number of cases or by time, and lets fast-check shrink it. */
import fc from 'fast-check'
import { asyncScheduler, timer } from 'rxjs'
import { AppError, messageOf } from '#kernel'

class SideBySide {
  readonly #most: number
  readonly #running = new Set<Promise<void>>()

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Starts `work`, which must not reject. Resolves when it is done, or when it waits for something other than promises;
   * so work with promises alone runs one at a time.
   */
  async begin(work: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#most) await Promise.race(this.#running)
    const running: Promise<void> = work().finally(() => this.#running.delete(running))
    this.#running.add(running)
    await Promise.race([running, ...(this.#most > 1 ? [turnOver(running)] : [])])
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }
}

/** Resolves at the next timer turn, after all chains of settled promises. */
function turnOver(unless: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const turn = timer(0).subscribe(() => resolve())
    void unless.then(() => turn.unsubscribe())
  })
}

export interface SearchOptions {
  /** seed of the first case */
  readonly seed: number
  /** from an earlier failure with its seed: run and shrink only this case */
  readonly path?: string | undefined
  readonly numRuns: number
  /** ms after which no further case begins; infinite: only `numRuns` counts */
  readonly time: number
  /** maximum time to shrink a failing case, ms; 0: do not shrink */
  readonly shrinkTime: number
  /** number of cases that may wait for something external at the same time; default 32 */
  readonly concurrency?: number | undefined
}

export interface Found<Case> {
  readonly failing: Case
  /** number of the case, from 1 */
  readonly number: number
  readonly shrinks: number
  readonly seed: number
  readonly path: string
}

/** Batch sizes, each with its own seed. They grow because fast-check begins each batch with small values. */
const BATCHES = [32, 64, 128]
const LAST_BATCH = 256
const CONCURRENCY = 32

/**
 * Searches for the first case for which `fails` throws, even if a later case fails sooner. Rejects if no case can be
 * generated.
 */
export async function search<Case>(
  cases: fc.Arbitrary<Case>,
  fails: (one: Case) => Promise<void>,
  options: SearchOptions,
): Promise<Found<Case> | undefined> {
  const { path, numRuns, time, shrinkTime, concurrency = CONCURRENCY } = options
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new AppError('VALIDATION', `concurrency is ${concurrency}; use a whole number from 1`)
  const deadline = asyncScheduler.now() + time
  let done = 0
  for (let batch = 0; path !== undefined ? batch === 0 : done < numRuns; batch++) {
    const seed = (options.seed + batch * 7919) | 0
    const size = Math.min(BATCHES[batch] ?? LAST_BATCH, numRuns - done)
    const isOver = () => asyncScheduler.now() >= deadline
    const { began, first } = await tried(cases, fails, {
      seed,
      size,
      path,
      concurrency,
      isOver: (number) => done + number > 0 && isOver(),
    })
    if (first !== undefined) {
      const at = path ?? String(first.number)
      const found = { failing: first.failing, number: done + first.number + 1, shrinks: 0, seed, path: at }
      return shrinkTime > 0 ? shrunk(cases, fails, found, shrinkTime) : found
    }
    done += began
    if (began < size) return undefined
  }
  return undefined
}

interface Batch {
  readonly seed: number
  readonly size: number
  readonly path: string | undefined
  readonly concurrency: number
  readonly isOver: (number: number) => boolean
}

/** Runs one batch of cases until one fails, and waits for the earlier cases. */
async function tried<Case>(
  cases: fc.Arbitrary<Case>,
  fails: (one: Case) => Promise<void>,
  { seed, size, path, concurrency, isOver }: Batch,
): Promise<{ began: number; first: { failing: Case; number: number } | undefined }> {
  const running = new SideBySide(concurrency)
  let began = 0
  let isEnded = false
  let first: { failing: Case; number: number } | undefined
  const run = async (failing: Case, number: number): Promise<void> => {
    try {
      await fails(failing)
    } catch {
      if (first === undefined || number < first.number) first = { failing, number }
    }
  }
  const parameters = { numRuns: path === undefined ? size : 1, endOnFailure: true, ...(path !== undefined && { path }) }
  const end = await check(cases, seed, parameters, async (one) => {
    isEnded ||= isOver(began)
    if (isEnded) return
    const number = began++
    await running.begin(() => run(one, number))
    // ends the batch, so that no further case is generated
    if (first !== undefined) throw new Error('a case fails')
  }).catch((error: unknown) => ({ error }))
  await running.idle()
  if (first === undefined && end !== undefined && 'error' in end) throw end.error
  return { began, first }
}

async function shrunk<Case>(
  cases: fc.Arbitrary<Case>,
  fails: (one: Case) => Promise<void>,
  found: Found<Case>,
  time: number,
): Promise<Found<Case>> {
  const { seed, path } = found
  const deadline = asyncScheduler.now() + time
  const smaller = await check(cases, seed, { numRuns: 1, path }, async (one) => {
    if (asyncScheduler.now() < deadline) await fails(one)
  })
  return smaller === undefined ? found : { ...found, ...smaller }
}

/** Returns the final result of fast-check. Rejects if no case could be generated. */
async function check<Case>(
  cases: fc.Arbitrary<Case>,
  seed: number,
  parameters: fc.Parameters<[Case]>,
  predicate: (one: Case) => Promise<void>,
): Promise<{ failing: Case; shrinks: number } | undefined> {
  const { failed, counterexample, numShrinks, errorInstance } = await fc.check(fc.asyncProperty(cases, predicate), {
    ...parameters,
    seed,
  })
  if (!failed) return undefined
  if (counterexample === null) throw new AppError('PROPERTY', `no case could be created: ${messageOf(errorInstance)}`)
  return { failing: counterexample[0], shrinks: numShrinks }
}
