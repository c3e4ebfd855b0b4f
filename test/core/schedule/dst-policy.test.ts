import { DateTime } from 'luxon'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import { clockChanges, instantsOf } from '../../../src/core/schedule/dst-policy.ts'
import { parseZone, Zones } from '../../../src/core/schedule/zone.ts'

const BRUSSELS = parseZone('Europe/Brussels')
const GAP = Date.UTC(2026, 2, 29, 2, 30)
const OVERLAP = Date.UTC(2026, 9, 25, 2, 30)

describe('a local time', () => {
  it('in a gap moves forward by the length of the gap, or is omitted', () => {
    expect(instantsOf(GAP, BRUSSELS)).toEqual([Date.UTC(2026, 2, 29, 1, 30)])
    expect(instantsOf(GAP, BRUSSELS, { gap: 'shift' })).toEqual([Date.UTC(2026, 2, 29, 1, 30)])
    expect(instantsOf(GAP, BRUSSELS, { gap: 'skip' })).toEqual([])
  })

  it('in an overlap becomes its first instant, its second, or both', () => {
    const [first, second] = [Date.UTC(2026, 9, 25, 0, 30), Date.UTC(2026, 9, 25, 1, 30)]
    expect(instantsOf(OVERLAP, BRUSSELS)).toEqual([first])
    expect(instantsOf(OVERLAP, BRUSSELS, { overlap: 'second' })).toEqual([second])
    expect(instantsOf(OVERLAP, BRUSSELS, { overlap: 'both' })).toEqual([first, second])
  })

  it('at the ends of a gap and an overlap is classified by the clock', () => {
    const at = (local: number): number => instantsOf(local, BRUSSELS, { gap: 'skip', overlap: 'both' }).length
    const HALF = 1_800_000
    expect([GAP - HALF - 1, GAP - HALF, GAP + HALF - 1, GAP + HALF].map(at)).toEqual([1, 0, 0, 1])
    expect([OVERLAP - HALF - 1, OVERLAP - HALF, OVERLAP + HALF - 1, OVERLAP + HALF].map(at)).toEqual([1, 2, 2, 1])
  })

  it('on a day that a zone skipped moves to the next day', () => {
    const apia = parseZone('Pacific/Apia')
    const noon = Date.UTC(2011, 11, 30, 12)
    expect(instantsOf(noon, apia)).toEqual(instantsOf(noon + 86_400_000, apia))
    expect(instantsOf(noon, apia, { gap: 'skip' })).toEqual([])
  })

  it('at the first minute after a gap becomes the instant of the change', () => {
    const local = Date.UTC(1979, 9, 1, 1)
    expect(instantsOf(local, new Zones().parse('Pacific/Enderbury'))).toEqual([Date.UTC(1979, 9, 1, 12)])
  })

  it('equals that of luxon, in every zone', () => {
    const zones = new Zones()
    fc.assert(
      fc.property(
        fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
        fc.integer({ min: Date.UTC(1972, 0) / 60_000, max: Date.UTC(2037, 0) / 60_000 }),
        (zone, minute) => {
          const local = minute * 60_000
          const { year, month, day, hour, minute: ofHour } = DateTime.fromMillis(local, { zone: 'UTC' })
          const luxon = DateTime.fromObject({ year, month, day, hour, minute: ofHour }, { zone }).toMillis()
          const placed = instantsOf(local, zones.parse(zone), { overlap: 'both' })
          // luxon puts the first minute after some gaps an hour late (Pacific/Enderbury, 1 October 1979, 01:00)
          const shows = (at: number) => at + DateTime.fromMillis(at, { zone }).offset * 60_000 === local
          if (!shows(luxon) && placed.some(shows)) return
          expect(placed).toContain(luxon)
        },
      ),
      runs(1000),
    )
  })
})

describe('clock changes', () => {
  it('are listed with the affected local times', () => {
    expect(clockChanges(BRUSSELS, Date.UTC(2026, 0), Date.UTC(2027, 0))).toEqual([
      {
        kind: 'gap',
        at: Date.UTC(2026, 2, 29, 1),
        offsetBefore: 3_600_000,
        offsetAfter: 7_200_000,
        from: GAP - 1_800_000,
        until: GAP + 1_800_000,
      },
      {
        kind: 'overlap',
        at: Date.UTC(2026, 9, 25, 1),
        offsetBefore: 7_200_000,
        offsetAfter: 3_600_000,
        from: OVERLAP - 1_800_000,
        until: OVERLAP + 1_800_000,
      },
    ])
  })

  it('at the ends of the span belong to its start, not its end', () => {
    const at = Date.UTC(2026, 2, 29, 1)
    expect(clockChanges(BRUSSELS, at, at + 1)).toHaveLength(1)
    expect(clockChanges(BRUSSELS, at - 1, at)).toHaveLength(0)
    expect(clockChanges(parseZone('UTC'), 0, 1e13)).toHaveLength(0)
  })
})
