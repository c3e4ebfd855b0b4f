import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileRule } from '../../../src/core/graph/compile.ts'
import { FALSE, TRUE, UNKNOWN, type GateNode } from '../../../src/core/graph/graph.ts'
import { decide } from '../../../src/core/graph/relations.ts'
import { definePlug } from '../../../src/core/plug/define.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Relation, RelationType } from '../../../src/core/rule/rule.ts'
import { countLimits } from '../../support/rule-writing.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const sizes = [1, 2, 3, 4]
const states = (size: number) => Array.from({ length: size }, (_, i) => `s${i}`)
const plugs = createRegistry(
  sizes.map((size) =>
    definePlug({ name: `of${size}`, version: '1.0.0', kind: 'sensor', states: states(size), execute: () => undefined }),
  ),
)

/** A gate over sensors of the given numbers of states, with rows of state numbers. */
function gateOf(type: RelationType, parents: readonly number[], rows: readonly (readonly number[])[]): GateNode {
  const relation: Relation = {
    label: 'gate',
    type,
    parentLabels: parents.map((_, i) => `p${i}`),
    combinations: rows.map((row) => row.map((state) => `s${state}`)),
    ...countLimits(type, rows.length + parents.length),
  }
  const sensors = parents.map((size, i) => ({ label: `p${i}`, name: `of${size}` }))
  const [gate] = compileRule({ sensors, relations: [relation] }, plugs).graph.gates
  if (gate === undefined) throw new Error('no gate')
  return gate
}

function decided(gate: GateNode, observed: readonly number[], needsAll = false): number {
  return decide(
    gate,
    observed.map((state) => ({ state })),
    needsAll,
  )
}

const U = UNKNOWN

describe('a GENERAL gate', () => {
  it('is computed by rows if the number of completions is too large for exact numbers', () => {
    const parents = Array.from({ length: 40 }, () => 4)
    const row = parents.map(() => 1)
    const gate = gateOf('GENERAL', parents, [row])
    expect(gate.rowKeys.size).toBe(0)
    expect(decided(gate, row)).toBe(TRUE)
    expect(decided(gate, row.with(39, 2))).toBe(FALSE)
    expect(decided(gate, row.with(39, U))).toBe(UNKNOWN)
  })

  it('with a single-state parent knows that state beforehand', () => {
    expect(decided(gateOf('GENERAL', [1], [[0]]), [U])).toBe(TRUE)
  })
})

describe('a gate that needs full observation', () => {
  it.each([
    ['AND', [1, U]],
    ['OR', [0, U]],
    ['NAND', [1, U]],
    ['GENERAL', [1, U]],
  ] as const)('%s is unknown while one parent is, even if the others decide', (type, observed) => {
    const gate = gateOf(type, [2, 2], [[0, 0]])
    expect(decided(gate, observed)).not.toBe(UNKNOWN)
    expect(decided(gate, observed, true)).toBe(UNKNOWN)
  })
})

// Holds STEP-3
describe('any gate', () => {
  const caseOf = fc
    .record({
      type: fc.constantFrom<RelationType>('AND', 'OR', 'NAND', 'GENERAL', 'COUNT', 'SHARE'),
      parents: fc.array(fc.constantFrom(...sizes), { minLength: 1, maxLength: 4 }),
      numbers: fc.array(fc.array(fc.nat(), { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 12 }),
      seen: fc.array(fc.option(fc.nat()), { minLength: 4, maxLength: 4 }),
    })
    .map(({ type, parents, numbers, seen }) => ({
      type,
      parents,
      rows: numbers
        .slice(0, type === 'GENERAL' ? undefined : 1)
        .map((row) => parents.map((size, i) => (row[i] ?? 0) % size)),
      observed: parents.map((size, i) => (seen[i] === null ? UNKNOWN : (seen[i] ?? 0) % size)),
    }))

  /** Meaning of the relation for fully known parents. */
  function meaning(type: RelationType, rows: readonly (readonly number[])[], full: readonly number[]): boolean {
    if (type === 'GENERAL') return rows.some((row) => row.join() === full.join())
    const same = full.map((state, i) => state === rows[0]?.[i])
    if (type === 'OR') return same.some(Boolean)
    if (type === 'COUNT' || type === 'SHARE') {
      const { atLeast = 0, atMost = Infinity } = countLimits(type, rows.length + full.length)
      const count = same.filter(Boolean).length
      const value = type === 'SHARE' ? count / full.length : count
      return value >= atLeast && value <= atMost
    }
    return same.every(Boolean) === (type === 'AND')
  }

  function completions(parents: readonly number[], observed: readonly number[]): readonly (readonly number[])[] {
    return parents.reduce<readonly (readonly number[])[]>(
      (partial, size, i) => {
        const here = observed[i] === UNKNOWN ? states(size).map((_, state) => state) : [observed[i] ?? 0]
        return partial.flatMap((row) => here.map((state) => [...row, state]))
      },
      [[]],
    )
  }

  it('is certain exactly if all completions agree, except for single states and AND, OR, NAND', () => {
    fc.assert(
      fc.property(caseOf, ({ type, parents, rows, observed }) => {
        const outcomes = new Set(completions(parents, observed).map((full) => meaning(type, rows, full)))
        const agreed = outcomes.size > 1 ? UNKNOWN : outcomes.has(true) ? TRUE : FALSE
        const given = decided(gateOf(type, parents, rows), observed)
        // An unknown sensor of a single state could only have that state; the tables of AND, OR and NAND still wait for it.
        const single = type !== 'GENERAL' && parents.some((size, i) => size === 1 && observed[i] === UNKNOWN)
        expect(single ? [agreed, UNKNOWN] : [agreed]).toContain(given)
      }),
      runs(2000),
    )
  })

  it('keeps its state when more becomes known', () => {
    fc.assert(
      fc.property(caseOf, fc.nat(), fc.nat(), ({ type, parents, rows, observed }, place, value) => {
        const gate = gateOf(type, parents, rows)
        const before = decided(gate, observed)
        const i = place % parents.length
        if (before === UNKNOWN || observed[i] !== UNKNOWN) return
        expect(decided(gate, observed.with(i, value % (parents[i] ?? 1)))).toBe(before)
      }),
      runs(1000),
    )
  })
})
