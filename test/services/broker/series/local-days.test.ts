/**
 * Tests groups by days and weeks of a time zone. Counts in the tables come from pandas 3.1.1, with samples every half
 * hour.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../support/arbitraries/runs.ts'
import { DAY, HOUR, type Points, rowsOf, shelf } from './support/series-in-memory.ts'

const HALF = HOUR / 2

function eachHalfHour(from: number, until: number): Points {
  return Array.from({ length: Math.ceil((until - from) / HALF) }, (_, i) => [from + i * HALF, i] as const)
}

/** Returns the day that a clock in the zone shows, such as `2026-03-29`. */
function dayIn(zone: string): (time: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })
  return (time) => format.format(time)
}

const PERIODS: readonly (readonly [zone: string, from: number, until: number, counts: readonly number[]])[] = [
  ['Europe/Brussels', 1_774_566_000_000, 1_774_994_400_000, [48, 48, 46, 48, 48]],
  ['Europe/Brussels', 1_792_706_400_000, 1_793_142_000_000, [48, 48, 50, 48, 48]],
  // midnight is skipped
  ['America/Sao_Paulo', 1_541_127_600_000, 1_541_556_000_000, [48, 48, 46, 48, 48]],
  ['America/Sao_Paulo', 1_518_746_400_000, 1_519_095_600_000, [48, 50, 48, 48]],
  // clocks change from 23:30 to 00:30
  ['America/Toronto', Date.UTC(1919, 2, 29, 5), Date.UTC(1919, 3, 2, 4), [48, 47, 47, 48]],
  // 30 December 2011 is skipped
  ['Pacific/Apia', 1_325_066_400_000, 1_325_412_000_000, [48, 48, 48, 48]],
]

describe('local days', () => {
  it.each(PERIODS)('of %s from %d to %d have their hours', async (zone, from, until, counts) => {
    const series = await shelf(eachHalfHour(from - DAY, until + DAY))
    const asked = { from, until, grouping: 'day', zone }
    // with sums of storage, and with single samples
    for (const aggregates of ['count,first', 'count,first,median']) {
      const rows = (await rowsOf(series, { ...asked, aggregates })) as readonly (readonly number[])[]
      expect(rows.map(([, count]) => count)).toEqual(counts)
      expect(rows.map(([label]) => label)).toEqual(
        counts.map((_, k) => from + HALF * counts.slice(0, k).reduce((sum, count) => sum + count, 0)),
      )
      expect(rows.map(([label = 0, , first]) => [label, first])).toEqual(
        rows.map(([label = 0]) => [label, (label - from + DAY) / HALF]),
      )
    }
  })

  it('are weeks from Monday on', async () => {
    const [from, until] = [Date.UTC(2026, 9, 21, 22), Date.UTC(2026, 10, 3)]
    const series = await shelf(eachHalfHour(from, until))
    expect(
      await rowsOf(series, { from, until, grouping: 'week', zone: 'Europe/Brussels', aggregate: 'count' }),
    ).toEqual([
      [from, 4 * 48 + 2],
      [Date.UTC(2026, 9, 25, 23), 7 * 48],
      [Date.UTC(2026, 10, 1, 23), 50],
    ])
  })

  it('are cut into pages at midnight, in both orders', async () => {
    const [[zone, from, until] = ['', 0, 0]] = PERIODS
    const { series } = await shelf(eachHalfHour(from, until))
    for (const order of ['ascending', 'descending'] as const) {
      const asked = { from: from + HOUR, until, grouping: 'day', zone, aggregates: 'count,last', order }
      const whole = await series.get('r', 'm', asked)
      const first = await series.get('r', 'm', { ...asked, limit: 2 })
      const second = await series.get('r', 'm', { ...first.next, limit: 3 })
      expect([...first.series, ...second.series]).toEqual(whole.series)
      expect(second.next).toBeUndefined()
    }
  })

  it('are the days that a clock of the zone shows', async () => {
    const zones = [
      'Europe/Brussels',
      'America/New_York',
      'America/Sao_Paulo',
      'Asia/Beirut',
      'Australia/Lord_Howe',
      'UTC',
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...zones),
        fc.integer({ min: Date.UTC(2015, 0), max: Date.UTC(2026, 0) }),
        fc.integer({ min: HOUR, max: 20 * DAY }),
        async (zone, from, length) => {
          const until = from + length
          const points = eachHalfHour(from, until)
          const expected = new Map<string, number>()
          const dayOf = dayIn(zone)
          for (const [time] of points) expected.set(dayOf(time), (expected.get(dayOf(time)) ?? 0) + 1)
          const rows = await rowsOf(await shelf(points), { from, until, grouping: 'day', zone, aggregate: 'count' })
          const counts = (rows as readonly (readonly [number, number | null])[]).filter(([, count]) => count !== null)
          expect(counts.map(([label, count]) => [dayOf(label), count])).toEqual([...expected])
        },
      ),
      runs(60),
    )
  })

  it.each([
    [{ grouping: 'hour', zone: 'Europe/Brussels' }, /\/zone <- requires a grouping by days or weeks/],
    [{ zone: 'Europe/Brussels' }, /\/zone <- requires a grouping by days or weeks/],
    [{ grouping: 'day', zone: 'Belgium' }, /\/zone <- "Belgium" is not a time zone/],
  ])('are rejected for %j', async (query, text) => {
    const { series } = await shelf()
    await expect(series.get('r', 'm', { ...query, aggregate: 'count' })).rejects.toThrow(text)
  })
})
