/**
 * Chooses the inputs of a bounded proof: one value for each interval between the rule's constants, and gaps around its
 * durations.
 */
import fc from 'fast-check'
import { AppError } from '#kernel'
import type { RuleConstants } from '../arbitraries/constants.ts'

/** A message that a device may send in one step. */
export interface InputClass {
  readonly gap: number
  readonly resource: string
  readonly values: Readonly<Record<string, unknown>>
}

/** With more inputs, a proof would become a mere search. */
const MAX_INPUTS = 2000
const SAMPLES = 200

/**
 * Returns one value per class: the generator's constants, one value between adjacent constants, and one beyond each
 * end.
 */
export function valueClasses(generator: fc.Arbitrary<unknown>, constants: readonly unknown[]): readonly unknown[] {
  const samples = fc.sample(generator, { numRuns: SAMPLES, seed: 1 })
  const possible = constants.filter((value) => generator.canShrinkWithoutContext(value))
  const all = [...new Set([...samples, ...possible])]
  if (!all.every((value): value is number => typeof value === 'number')) {
    const known = new Set(constants)
    const others = all.filter((value) => !known.has(value))
    // One value represents all values that the rule does not name, but true and false count separately.
    const spare = others.filter((value, i) => i === 0 || typeof value === 'boolean')
    return [...all.filter((value) => known.has(value)), ...spare]
  }
  const numbers = all.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  const cuts = possible.filter((value): value is number => typeof value === 'number').sort((a, b) => a - b)
  const stretches = new Map<number, number>()
  for (const value of numbers) {
    const below = cuts.filter((cut) => cut < value).length
    const index = cuts.includes(value) ? 2 * below + 1 : 2 * below
    if (!stretches.has(index)) stretches.set(index, value)
  }
  return [...stretches.values()]
}

/**
 * Returns the gaps that a rule can distinguish: the usual one, and for each duration a shorter, an equal and a longer
 * gap.
 */
export function gapClasses(every: number, { durations }: Pick<RuleConstants, 'durations'>): readonly number[] {
  return [...new Set([every, ...durations.flatMap((ms) => [ms - 1, ms])])].filter((gap) => gap > 0)
}

/** Returns all combinations. Throws `VALIDATION` if there are too many to try. */
export function inputClasses(
  gaps: readonly number[],
  byResource: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>,
): readonly InputClass[] {
  const bodies = Object.entries(byResource).flatMap(([resource, metrics]) => {
    let all: Record<string, unknown>[] = [{}]
    for (const [metric, values] of Object.entries(metrics))
      all = all.flatMap((body) => values.map((value) => ({ ...body, [metric]: value }))).slice(0, MAX_INPUTS + 1)
    return all.map((values) => ({ resource, values }))
  })
  if (bodies.length * gaps.length > MAX_INPUTS) {
    const count = `${bodies.length} messages after ${gaps.length} gaps`
    throw new AppError(
      'VALIDATION',
      `each step could be one of ${count}, too many to try all; set values: { metric: [...] } or gaps: [...] that matter`,
    )
  }
  return gaps.flatMap((gap) => bodies.map((body) => ({ gap, ...body })))
}
