import fc from 'fast-check'
import { IANAZone } from 'luxon'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import { parseZone, Zones } from '../../../src/core/schedule/zone.ts'

const HOUR = 3_600_000
const NAMES = Intl.supportedValuesOf('timeZone')

describe('a time zone', () => {
  it.each([
    ['Z', 'UTC', 0],
    ['utc', 'UTC', 0],
    ['GMT', 'UTC', 0],
    ['+00:00', 'UTC', 0],
    ['+02:00', '+02:00', 2],
    ['-0330', '-03:30', -3.5],
    ['+5', '+05:00', 5],
    ['+545', '+05:45', 5.75],
    ['UTC+2', '+02:00', 2],
    ['UTC-11:30', '-11:30', -11.5],
    ['gmt+14', '+14:00', 14],
  ])('%s is the offset %s', (text, name, hours) => {
    const zone = parseZone(text)
    expect(zone.name).toBe(name)
    expect(zone.stretchAt(0)).toEqual({
      from: -Infinity,
      until: Infinity,
      offset: hours * HOUR,
      before: hours * HOUR,
      after: hours * HOUR,
    })
  })

  it('is found by its IANA name in any case', () => {
    expect(parseZone(' europe/BRUSSELS ').name).toBe('Europe/Brussels')
  })

  it.each([
    ['Europe/Brusels', 'did you mean Europe/Brussels?'],
    ['brussels', 'did you mean Europe/Brussels?'],
    ['New York', 'did you mean America/New_York?'],
    ['Amerika/Los_Angeles', 'did you mean America/Los_Angeles?'],
    ['qqqqqqqqqqqqqqqqq', 'is not a time zone; Use an IANA name'],
    ['', '"" is not a time zone'],
    ['local', 'is not a time zone'],
    ['+19:00', '"+19:00" is not a valid offset; use -18:00 to +18:00'],
    ['UTC+2:75', 'is not a valid offset'],
  ])('%s is rejected: %s', (text, message) => {
    expect(() => parseZone(text)).toThrow(message)
  })

  it('has the clock change at its instant', () => {
    const change = Date.UTC(2026, 2, 29, 1)
    const zone = parseZone('Europe/Brussels')
    expect(zone.stretchAt(change - 1)).toMatchObject({ until: change, offset: HOUR, after: 2 * HOUR })
    expect(zone.stretchAt(change)).toMatchObject({ from: change, offset: 2 * HOUR, before: HOUR })
  })

  it('agrees with luxon in every zone at any instant', () => {
    const zones = new Zones()
    fc.assert(
      fc.property(
        fc.constantFrom(...NAMES),
        fc.integer({ min: Date.UTC(1900, 0) / 1000, max: Date.UTC(2100, 0) / 1000 }),
        (name, second) => {
          const stretch = zones.parse(name).stretchAt(second * 1000)
          const luxon = (instant: number): number => IANAZone.create(zones.parse(name).name).offset(instant) * 60_000
          expect(stretch.offset).toBeCloseTo(luxon(second * 1000), 3)
          expect(stretch.offset).toBeCloseTo(luxon(stretch.from), 3)
          expect(stretch.offset).toBeCloseTo(luxon(stretch.until - 1000), 3)
          expect(stretch.before).toBeCloseTo(luxon(stretch.from - 1000), 3)
          expect(stretch.after).toBeCloseTo(luxon(stretch.until), 3)
        },
      ),
      runs(500),
    )
  })

  it('finds all offset changes between days', () => {
    for (const name of ['America/Recife', 'Africa/Casablanca', 'Pacific/Apia', 'Europe/Dublin', 'America/Boa_Vista']) {
      const zone = parseZone(name)
      const luxon = IANAZone.create(name)
      const different: number[] = []
      for (let at = Date.UTC(1999, 0); at < Date.UTC(2045, 0); at += 86_400_000) {
        if (zone.stretchAt(at).offset !== luxon.offset(at) * 60_000) different.push(at)
      }
      expect([name, different]).toEqual([name, []])
    }
  })

  it('has a change at the start of a year, regardless of earlier queries', () => {
    const change = Date.UTC(1969, 0, 1)
    const zone = parseZone('Antarctica/Casey')
    zone.stretchAt(0)
    expect(zone.stretchAt(change)).toMatchObject({ from: change, before: 0, offset: 8 * HOUR })
  })

  it('is shared between queries of one owner', () => {
    const zones = new Zones()
    expect(zones.parse('Asia/Tokyo')).toBe(zones.parse('Asia/Tokyo'))
    expect(new Zones().parse('Asia/Tokyo')).not.toBe(zones.parse('Asia/Tokyo'))
  })
})
