// Holds FILL-1, FILL-2
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fill, type Cell, type Interpolation } from '../../../../src/services/queries/interpolation/fill.ts'
import { INTERPOLATION_METHODS, ORDERED } from '../../../../src/services/queries/interpolation/methods.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const START = Date.UTC(2024, 0, 1)
const HOUR = 3_600_000

function filled(cells: readonly Cell[], interpolation: Interpolation): readonly Cell[] {
  const own = [...cells]
  fill(
    Float64Array.from(own, (_, i) => START + i * HOUR),
    own,
    interpolation,
  )
  return own.map((cell) => (typeof cell === 'number' ? Math.round(cell * 1e4) / 1e4 : cell))
}

const _ = null
const A = [_, 1, _, _, 4, 6, _, _]
describe('interpolation', () => {
  it.each<[Interpolation, readonly Cell[]]>([
    [{ method: 'pad' }, [_, 1, 1, 1, 4, 6, 6, 6]],
    [{ method: 'last' }, [_, 1, 1, 1, 4, 6, 6, 6]],
    [{ method: 'backfill' }, [1, 1, 4, 4, 4, 6, _, _]],
    [{ method: 'fixed', value: 0 }, [0, 1, 0, 0, 4, 6, 0, 0]],
    [{ method: 'linear' }, [1, 1, 2, 3, 4, 6, 6, 6]],
    [{ method: 'nearest' }, [_, 1, 1, 4, 4, 6, _, _]],
    [{ method: 'zero' }, [_, 1, 1, 1, 4, 6, _, _]],
    [{ method: 'slinear' }, [_, 1, 2, 3, 4, 6, _, _]],
    [{ method: 'quadratic' }, [_, 1, 1.5, 2.5, 4, 6, _, _]],
    [{ method: 'polynomial', order: 2 }, [_, 1, 1.5, 2.5, 4, 6, _, _]],
    [{ method: 'polynomial', order: 1 }, [_, 1, 2, 3, 4, 6, _, _]],
    [{ method: 'from_derivatives' }, [_, 1, 2, 3, 4, 6, _, _]],
    [{ method: 'pchip' }, [_, 1, 1.5752, 2.6503, 4, 6, _, _]],
    [{ method: 'akima' }, [_, 1, 1.6667, 2.6667, 4, 6, _, _]],
    [{ method: 'cubic' }, A],
    [{ method: 'linear', limit: 1 }, [1, 1, 2, _, 4, 6, 6, _]],
    [{ method: 'pad', limit: 1 }, [_, 1, 1, _, 4, 6, 6, _]],
    [{ method: 'backfill', limit: 1 }, [1, 1, _, 4, 4, 6, _, _]],
    [{ method: 'fixed', value: 9, limit: 1 }, [9, 1, 9, _, 4, 6, 9, _]],
  ])('by %j fills a series with gaps at both ends', (interpolation, expected) => {
    expect(filled(A, interpolation)).toEqual(expected)
  })

  it('reports how many values a method lacks, and fills an empty series only with a fixed value', () => {
    const times = Float64Array.from(A, (_cell, i) => i)
    expect(fill(times, [...A], { method: 'cubic' })).toEqual({
      lacking: 'cubic requires at least 4 values, but the series has 3',
    })
    expect(fill(times, [...A], { method: 'spline', order: 5 })).toMatchObject({
      lacking: expect.stringContaining('order 5') as unknown,
    })
    for (const method of INTERPOLATION_METHODS) {
      const expected = method === 'fixed' ? [7, 7, 7] : [_, _, _]
      expect([method, filled([_, _, _], { method, value: 7, order: 2 })]).toEqual([method, expected])
    }
  })

  it('carries texts and booleans forward, and interpolates numbers across them', () => {
    expect(filled([_, 'on', _, true, _], { method: 'pad' })).toEqual([_, 'on', 'on', true, true])
    expect(filled([1, _, 'x', _, 5], { method: 'linear' })).toEqual([1, 2, 'x', 4, 5])
  })

  it('weighs by time if values are unevenly spaced', () => {
    const cells: Cell[] = [0, _, 10]
    fill(Float64Array.from([0, 100, 1_000]), cells, { method: 'linear' })
    expect(cells).toEqual([0, 1, 10])
  })

  it('keeps known values, fills no more than its limit, and is exact on lines', () => {
    const method = fc.constantFrom(...INTERPOLATION_METHODS)
    const cells = fc.array(fc.oneof(fc.constant(null), fc.integer({ min: -1_000, max: 1_000 })), { maxLength: 40 })
    const limit = fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined })
    fc.assert(
      fc.property(method, cells, limit, fc.integer({ min: 1, max: 5 }), (name, before, most, order) => {
        const after: Cell[] = [...before]
        const interpolation = {
          method: name,
          value: 0,
          ...(ORDERED.has(name) && { order }),
          ...(most !== undefined && { limit: most }),
        }
        fill(
          Float64Array.from(before, (_cell, i) => START + i * HOUR),
          after,
          interpolation,
        )
        for (const [i, cell] of before.entries()) if (cell !== null) expect(after[i]).toBe(cell)
        let row = 0
        for (const [i, cell] of before.entries()) {
          row = cell === null && after[i] !== null ? row + 1 : 0
          expect(row).toBeLessThanOrEqual(most ?? 40)
        }
      }),
      runs(300),
    )
    const curves = ['linear', 'slinear', 'quadratic', 'cubic', 'pchip', 'akima', 'spline'] as const
    const line = Array.from({ length: 12 }, (_cell, i) => (i % 3 === 1 ? null : 3 * i - 5))
    for (const name of curves) {
      const told = filled(line, { method: name, order: 4 })
      expect([name, told]).toEqual([name, line.map((_cell, i) => (name === 'linear' || i < 12 ? 3 * i - 5 : null))])
    }
  })
})
