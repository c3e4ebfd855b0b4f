import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Condition } from '../../../../src/storage/contract.ts'
import { boxAround, cutCircle, distanceM, isWithin, metresOf } from '../../../../src/services/resources/list/circle.ts'
import { isLike, parseQuery } from '../../../../src/services/resources/list/query-match.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const point = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lon: fc.double({ min: -180, max: 180, noNaN: true }),
})

describe('distances', () => {
  it('are inside the bounding box whenever they are within the circle', () => {
    fc.assert(
      fc.property(point, point, fc.double({ min: 0, max: 1.5, noNaN: true }), (center, other, factor) => {
        const metres = distanceM(center, other) * Math.max(1, factor)
        const { south, north, west, east } = boxAround(center, metres)
        expect(other.lat).toBeGreaterThanOrEqual(south)
        expect(other.lat).toBeLessThanOrEqual(north)
        const isAcross = west > east
        const isInside = isAcross ? other.lon >= west || other.lon <= east : other.lon >= west && other.lon <= east
        expect(isInside).toBe(true)
        for (const edge of [south, north]) expect(Math.abs(edge)).toBeLessThanOrEqual(90)
        for (const edge of [west, east]) expect(Math.abs(edge)).toBeLessThanOrEqual(180)
      }),
      runs(1000),
    )
  })

  it('equal those on the sphere', () => {
    expect(distanceM({ lat: 0, lon: 0 }, { lat: 0, lon: 180 })).toBeCloseTo(Math.PI * 6_371_008.8, 3)
    expect(distanceM({ lat: 0, lon: 179.5 }, { lat: 0, lon: -179.5 })).toBeCloseTo(111_195.08, 1)
    expect(distanceM({ lat: 90, lon: 0 }, { lat: 90, lon: 77 })).toBeCloseTo(0, 6)
  })

  it.each([
    ['1', 1],
    ['.5m', 0.5],
    ['1.5 km', 1500],
    ['1KM', undefined],
    ['1e3m', undefined],
    ['1lightyear', undefined],
    ['1 m m', undefined],
    ['1,5km', undefined],
    ['', undefined],
    ['m', undefined],
    ['-1m', undefined],
    ['1'.repeat(40), undefined],
  ])('of %s are %s metres', (text, metres) => {
    expect(metresOf(text)).toBe(metres)
  })

  it('are accepted in metric, imperial and nautical units', () => {
    const units = ['mm', 'cm', 'm', 'meters', 'km', 'kilometers', 'in', 'inch', 'ft', 'feet', 'yd', 'yards']
    const metres = [0.001, 0.01, 1, 1, 1000, 1000, 0.0254, 0.0254, 0.3048, 0.3048, 0.9144, 0.9144]
    expect(units.map((unit) => metresOf(`1${unit}`))).toEqual(metres)
    const others = ['mi', 'miles', 'nmi', 'NM', 'nauticalmiles'].map((unit) => metresOf(`1${unit}`))
    expect(others).toEqual([1609.344, 1609.344, 1852, 1852, 1852])
  })
})

describe('the query language', () => {
  it('never throws, for any text', () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom('a:b', ' AND ', ' OR ', '(', ')', '"', ':', 'gt(', ',', '\\'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const read = parseQuery(pieces.join(''))
        expect('query' in read || read.problem.length > 0).toBe(true)
      }),
      runs(500),
    )
  })

  it('parses any text in quotes back', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 30 }), (text) => {
        const quoted = `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
        expect(parseQuery(`a.b:eq(${quoted})`)).toEqual({
          query: { kind: 'term', path: 'a.b', op: 'eq', args: [{ text, isQuoted: true }] },
        })
        expect(parseQuery(`a.b:${quoted}`)).toEqual({
          query: { kind: 'term', path: 'a.b', op: 'eq', args: [{ text, isQuoted: true }] },
        })
      }),
    )
  })

  it('matches wildcards as regular expressions do', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 })
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), maxLength: 6 })
    fc.assert(
      fc.property(letters, pattern, (text, wildcards) => {
        const source = wildcards.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')
        expect(isLike(text, wildcards)).toBe(new RegExp(`^${source}$`, 's').test(text))
      }),
      runs(1000),
    )
  })
})

describe('a circle that is cut', () => {
  it('contains only points within the distance, and all of them at its edge', () => {
    const center = fc.record({
      lat: fc.double({ min: -89, max: 89, noNaN: true }),
      lon: fc.double({ min: -179, max: 179, noNaN: true }),
    })
    const offset = fc.double({ min: -1.1, max: 1.1, noNaN: true })
    fc.assert(
      fc.property(
        center,
        fc.double({ min: 1, max: 5_000_000, noNaN: true }),
        offset,
        offset,
        (around, metres, a, b) => {
          const cut = cutCircle({ center: around, metres })
          fc.pre(cut !== undefined)
          const { south, north, west, east } = boxAround(around, metres)
          const point = {
            lat: around.lat + (a * (north - south)) / 2,
            lon: around.lon + (b * (east - west)) / 2,
          }
          const holds = (condition: Condition | undefined): boolean =>
            condition !== undefined &&
            ('any' in condition
              ? condition.any.some((list) => list.every(holds))
              : condition.op === 'box' &&
                point.lat >= condition.south &&
                point.lat <= condition.north &&
                point.lon >= condition.west &&
                point.lon <= condition.east)
          expect(holds(cut.inside)).toBe(cut.isInside(point))
          const near = isWithin({ center: around, metres }, point)
          if (cut.isInside(point)) expect(near).toBe(true)
          else if (near) expect(holds(cut.edge) && holds(cut.around)).toBe(true)
        },
      ),
      runs(3000),
    )
  })
})
