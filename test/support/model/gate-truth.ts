import type { Relation } from '../../../src/core/rule/rule.ts'

export type Truth = 'TRUE' | 'FALSE' | null

/**
 * Computes a gate's value by trying all states that unknown parents may have; it is certain only if all results agree.
 * `declared` returns the possible states of a parent.
 */
export function gateTruth(
  gate: Relation,
  stateOf: (label: string) => string | null,
  declared: (label: string) => readonly string[],
  needsAll: boolean,
): Truth {
  if (needsAll && gate.parentLabels.some((label) => stateOf(label) === null)) return null
  let rows: string[][] = [[]]
  for (const label of gate.parentLabels) {
    const known = stateOf(label)
    const possible = known === null ? declared(label) : [known]
    rows = rows.flatMap((row) => possible.map((state) => [...row, state]))
  }
  const outcomes = new Set(rows.map((row) => holdsFor(gate, row)))
  if (outcomes.size !== 1) return null
  return outcomes.has(true) ? 'TRUE' : 'FALSE'
}

function holdsFor(gate: Relation, row: readonly string[]): boolean {
  const listed = gate.combinations[0] ?? []
  const matches = row.map((state, i) => state === listed[i])
  switch (gate.type) {
    case 'AND':
      return matches.every(Boolean)
    case 'NAND':
      return !matches.every(Boolean)
    case 'OR':
      return matches.some(Boolean)
    case 'COUNT':
    case 'SHARE': {
      const met = matches.filter(Boolean).length
      const value = gate.type === 'SHARE' ? met / row.length : met
      return value >= (gate.atLeast ?? 0) && value <= (gate.atMost ?? Number.POSITIVE_INFINITY)
    }
    case 'GENERAL':
      return gate.combinations.some((combination) => row.every((state, i) => state === combination[i]))
  }
}
