import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rowCount, rowsOf, shapeOf } from '../../../../src/core/rule/bn/truth-table.ts'
import type { RelationType } from '../../../../src/core/rule/rule.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 })
const hint = fc.option(fc.constantFrom<RelationType>('AND', 'OR', 'GENERAL', 'NAND'), { nil: undefined })
const tables = sizes.chain((counts) => {
  const length = rowCount(counts)
  return fc.tuple(fc.constant(counts), fc.uint8Array({ minLength: length, maxLength: length, max: 1 }), hint)
})

describe('a table', () => {
  it('survives reading and writing, for any type hint', () => {
    fc.assert(
      fc.property(tables, ([counts, rows, type]) => {
        expect(rowsOf(shapeOf(rows, counts, type), counts)).toEqual(rows)
      }),
      runs(2000),
    )
  })

  it.each<[RelationType, number[]]>([
    ['AND', [0, 0, 0, 0, 0, 1]],
    ['OR', [0, 1, 0, 1, 1, 1]],
    ['NAND', [1, 1, 1, 1, 1, 0]],
    ['GENERAL', [0, 0, 0, 0, 0, 1]],
  ])('of %s varies the last parent fastest', (type, rows) => {
    expect([...rowsOf({ type, combinations: [[2, 1]] }, [3, 2])]).toEqual(rows)
  })
})
