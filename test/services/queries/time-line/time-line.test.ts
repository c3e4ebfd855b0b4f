// Holds TIMELINE-1, TIMELINE-2, TIMELINE-3
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refusedBy } from '../../../../src/kernel/issues.ts'
import { readQuery, withOverrides } from '../../../../src/services/queries/query/read-query.ts'
import { type TimeLine, windowSpecOf } from '../../../../src/services/queries/time-line/time-line.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const NOW = Date.UTC(2021, 4, 6, 12, 34, 56)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const iso = (text: string): number => Date.parse(text)

type Query = Readonly<Record<string, unknown>>

function resolved(query: Query, now = NOW) {
  let line: TimeLine | undefined
  const issues = refusedBy(() => void ({ line } = readQuery({ query: { resource: 'r', metric: 'm', ...query }, now })))
  return { line, problems: issues.map(({ path, message }) => `${path} ${message}`) }
}

function specOf(query: Query, now = NOW) {
  const { line, problems } = resolved(query, now)
  expect(problems).toEqual([])
  if (line === undefined) throw new Error('no time line')
  return { ...windowSpecOf(line), rows: line.grid?.count }
}

const rowsOf = (table: string): readonly (readonly [string, string])[] =>
  table
    .trim()
    .split('\n')
    .map((row) => row.split(' | ') as [string, string])
const parametersOf = (text: string): Query =>
  withOverrides({}, Object.fromEntries(new URLSearchParams(text === '-' ? '' : text))) as Query
const timeIn = (text: string): string | number => (/^\d{4}-/.test(text) ? iso(text) : text)
const lineOf = ({ from, until, window, freq = '-', rows }: ReturnType<typeof specOf>) => [
  from,
  until,
  window,
  freq,
  String(rows ?? '-'),
]

/**
 * The query as URL parameters, then begin, end, window, frequency and rows. The first examples are recorded answers.
 */
const EXAMPLES = `
freq=PT1H&window=PT3H&until=2020-09-08T12:10:00 | 2020-09-08T09:00Z 2020-09-08T12:00Z PT3H PT1H 3
freq=PT1H&window=PT2H&until=1641621060000 | 2022-01-08T03:00Z 2022-01-08T05:00Z PT2H PT1H 2
freq=PT1H&until=1641621060000 | 2022-01-01T05:00Z 2022-01-08T05:00Z P7D PT1H 168
freq=PT1H&window=P5D&until=1641621060000 | 2022-01-03T05:00Z 2022-01-08T05:00Z P5D PT1H 120
from=2021-02-22T14:00:00Z&freq=PT1H&periods=2 | 2021-02-22T14:00Z 2021-02-22T16:00Z PT2H PT1H 2
freq=PT8H&until=2024-06-17 | 2024-06-10T00:00Z 2024-06-17T00:00Z P7D PT8H 21
- | 2021-04-29T12:34:56Z 2021-05-06T12:34:56Z P7D - -
freq=PT1H | 2021-04-29T12:00Z 2021-05-06T12:00Z P7D PT1H 168
from=2020-09-08T09:20:00&until=2020-09-08T12:10:00&freq=PT1H | 2020-09-08T09:00Z 2020-09-08T13:00Z PT4H PT1H 4
window=P1D&periods=4&until=2020-09-08T12:10:00 | 2020-09-07T12:00Z 2020-09-08T12:00Z P1D PT6H 4
window=PT1H&until=2020-09-08T12:10:00 | 2020-09-08T11:10Z 2020-09-08T12:10Z PT1H - -
from=2021-05-06T12:00:00Z | 2021-05-06T12:00Z 2021-05-06T12:34:56Z PT2096S - -
from=2021-05-06T09:30:00Z&window=PT2H&freq=PT1H | 2021-05-06T09:00Z 2021-05-06T11:00Z PT2H PT1H 2
from=-PT2H&until=PT1H | 2021-05-06T10:34:56Z 2021-05-06T11:34:56Z PT1H - -
window=PT10M&freq=PT1H&until=2020-09-08T12:10:00 | 2020-09-08T12:00Z 2020-09-08T13:00Z PT1H PT1H 1
window=PT2H&freq=PT1H&periods=2&until=1641618000000 | 2022-01-08T03:00Z 2022-01-08T05:00Z PT2H PT1H 2
from=2020-09-08T09:10:00Z&until=2020-09-08T14:10:00Z&periods=5 | 2020-09-08T09:00Z 2020-09-08T14:00Z PT5H PT1H 5
from=2020-09-08T09:10:00Z&until=2020-09-08T14:10:00Z&periods=5&align.at=from | 2020-09-08T09:10Z 2020-09-08T14:10Z PT5H PT1H 5
from=2&until=12&periods=3 | 1970-01-01T00:00Z 1970-01-01T00:00:00.009Z PT0.009S PT0.003S 3
window=PT10S&until=13331&periods=3 | 1970-01-01T00:00Z 1970-01-01T00:00:09.999Z PT9.999S PT3.333S 3
from=2&until=12&periods=3&align.shift=wrap | 1970-01-01T00:00Z 1970-01-01T00:00:00.012Z PT0.012S PT0.003S 4
`

describe('the time line', () => {
  it.for(rowsOf(EXAMPLES))('of %s', ([asked, expected]) => {
    expect(lineOf(specOf(parametersOf(asked)))).toEqual(expected.split(' ').map(timeIn))
  })

  it('of numeric text, and of weeks, which are aligned to 1970', () => {
    const digits = specOf({ from: '1641610800000', until: '1641618000000' })
    expect(digits).toMatchObject({ from: 1641610800000, until: 1641618000000, window: 'PT2H' })
    const weeks = specOf({ from: '-P30D', freq: 'P7D' }, iso('2023-10-16T10:00Z'))
    expect(weeks).toMatchObject({ from: iso('2023-09-14T00:00Z'), until: iso('2023-10-19T00:00Z'), freq: 'P7D' })
  })

  it('is a fixed point: its own ends produce it again, on the grid of its frequency', () => {
    const length = fc.constantFrom('PT1M', 'PT7M', 'PT1H', 'PT8H', 'P1D', 'P7D', 'PT0.5S')
    const time = fc.oneof(fc.integer({ min: 0, max: 4e12 }), fc.constantFrom('-P30D', 'PT3H', '2020-02-29'))
    const queries = fc.record(
      {
        from: time,
        until: time,
        window: fc.constantFrom('PT90S', 'PT3H', 'P5D'),
        periods: fc.integer({ min: 1, max: 50 }),
        freq: length,
        align: fc.record({
          at: fc.constantFrom('grid', 'boundary', 'from', 'until'),
          shift: fc.constantFrom('backward', 'forward', 'wrap'),
        }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(queries, (query) => {
        const { line, problems } = resolved(query)
        // the result is either problems or a time line
        expect(line === undefined).toBe(problems.length > 0)
        if (line === undefined) return
        const { from, until, freq } = windowSpecOf(line)
        expect(until).toBeGreaterThan(from)
        const at = query.align?.at ?? 'grid'
        const again = {
          from,
          until,
          ...(freq !== undefined && { freq }),
          ...(at !== 'grid' && { align: { at: 'from' } }),
        }
        expect(windowSpecOf(resolved(again).line ?? expect.fail('no line'))).toEqual(windowSpecOf(line))
        const { grid } = line
        if (grid === undefined) return
        if (query.periods !== undefined && query.align?.shift === undefined) expect(grid.count).toBe(query.periods)
        expect(until - from).toBe(grid.count * (grid.grid.width ?? 0))
        if (at === 'grid') expect([from % (grid.grid.width ?? 1), until % (grid.grid.width ?? 1)]).toEqual([0, 0])
      }),
      runs(300),
    )
  })
})

const IN_ZONES = `
align.timezone=Europe/Brussels&from=2024-03-30T12:00:00Z&until=2024-04-01T12:00:00Z&freq=P1D | 2024-03-29T23:00Z 2024-04-01T22:00Z PT71H P1D 3
align.timezone=Europe/Brussels&from=2024-10-27T10:00:00Z&periods=1&freq=P1D | 2024-10-26T22:00Z 2024-10-27T23:00Z PT25H P1D 1
align.timezone=Europe/Brussels&until=2024-04-03T12:00:00Z&periods=2&freq=P1W | 2024-03-17T23:00Z 2024-03-31T22:00Z PT335H P1W 2
align.timezone=Europe/Brussels&from=2024-01-15&periods=3&freq=P1M | 2023-12-31T23:00Z 2024-03-31T22:00Z PT2183H P1M 3
align.timezone=%2B05:30&from=2024-03-30T12:00:00Z&periods=2&freq=P1D | 2024-03-29T18:30Z 2024-03-31T18:30Z P2D P1D 2
from=2023-02-01&until=2023-12-31&freq=P3M | 2023-01-01T00:00Z 2024-01-01T00:00Z P365D P3M 4
from=2023-02-01&until=2024-02-01&freq=P1Y | 2023-01-01T00:00Z 2025-01-01T00:00Z P731D P1Y 2
`

describe('a time line of days, weeks from Monday, months and years of a calendar', () => {
  it.for(rowsOf(IN_ZONES))('of %s', ([asked, expected]) => {
    expect(lineOf(specOf(parametersOf(asked)))).toEqual(expected.split(' ').map(timeIn))
  })

  it('is a fixed point too', () => {
    const zones = fc.constantFrom(
      'Europe/Brussels',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kolkata',
      'America/Sao_Paulo',
    )
    const freqs = fc.constantFrom('P1D', 'P2D', 'P1W', 'P1M', 'P3M', 'P1Y')
    const from = fc.integer({ min: 1.2e12, max: 1.8e12 })
    fc.assert(
      fc.property(zones, freqs, from, fc.integer({ min: 1, max: 400 }), (timezone, freq, start, days) => {
        const query = { align: { timezone }, freq, from: start, until: start + days * DAY }
        const spec = specOf(query)
        expect(specOf({ ...query, from: spec.from, until: spec.until })).toEqual(spec)
        expect(spec.from <= start && spec.until >= start + days * DAY).toBe(true)
      }),
      runs(200),
    )
  })
})

const REFUSED = `
from=0&until=3600000&window=PT1H | /window from, until and window cannot be combined
from=0&until=3600000&periods=2&freq=PT1M | /periods from, until and periods cannot be combined
window=PT3H&freq=PT1H&periods=2 | /window window is not periods times freq
from=3600000&until=0 | /from 3600000 is not before until, which is 0
from=0&until=0 | /from 0 is not before until, which is 0
from=2099-01-01 | /from ${iso('2099-01-01Z')} is not before now, which is ${NOW}
from=0&freq=PT0.001S | /freq PT0.001S divides the range into ${NOW} buckets, more than 1000000
from=0&until=864086400000&freq=P1D&align.timezone=UTC | /freq P1D divides the range into 10001 buckets, more than 10000
freq=inferred | /freq a frequency that is inferred is not supported
freq=P0M | /freq "P0M" is not a duration above 0
freq=P1M&align.at=from | /align/at calendar buckets have a fixed grid
window=P1M | /window "P1M" is not a duration above 0
until=-8640000000000000&window=P1D | /window the range is outside of the calendar
`

describe('an invalid time line', () => {
  it.for(rowsOf(REFUSED))('is reported: %s', ([asked, problem]) => {
    expect(resolved(parametersOf(asked))).toEqual({ line: undefined, problems: [problem] })
  })

  it('is reported with all problems at once', () => {
    const { problems } = resolved(parametersOf('from=x&until=2020-02-30&window=P&freq=PT0S&align.timezone=Nowhere'))
    expect(problems.toSorted()).toEqual([
      '/align/timezone "Nowhere" is not a time zone',
      '/freq "PT0S" is not a duration above 0',
      '/from "x" is not a valid time',
      '/until "2020-02-30" is not a valid time: day 2020-02-30 does not exist, that month has 29',
      '/window "P" is not a duration above 0',
    ])
  })
})
