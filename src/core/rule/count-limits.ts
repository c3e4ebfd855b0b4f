/** Determines how many parents, or members of a group, a COUNT or SHARE relation allows in their states. */
import type { Relation } from './rule.ts'

/** Covers rounding errors of shares of up to a million members. */
const SLACK = 1e-9

/** Returns the lowest and the highest allowed number, possibly fractions. `all`: number of parents or members. */
export function allowedNumbers(
  { type, atLeast = 0, atMost = Number.POSITIVE_INFINITY }: Pick<Relation, 'type' | 'atLeast' | 'atMost'>,
  all: number,
): readonly [least: number, most: number] {
  if (type !== 'SHARE') return [atLeast, atMost]
  return [atLeast * all - SLACK, atMost === Number.POSITIVE_INFINITY ? atMost : atMost * all + SLACK]
}

export function allowsNumber(
  relation: Pick<Relation, 'type' | 'atLeast' | 'atMost'>,
  met: number,
  all: number,
): boolean {
  const [least, most] = allowedNumbers(relation, all)
  return met >= least && met <= most
}
