import { CronExpressionParser, type CronExpression } from 'cron-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import { isoLocal } from '../../../src/core/schedule/iso-time.ts'
import { parseCron } from '../../../src/core/schedule/parse-cron.ts'

const FROM = Date.UTC(2026, 0, 1) - 1

function times(expression: string, count: number, after = FROM): string[] {
  const recurrence = parseCron(expression)
  const found: string[] = []
  for (let at = recurrence.times.next(after); at !== null && found.length < count; at = recurrence.times.next(at)) {
    found.push(isoLocal(at))
  }
  return found
}

/** Days of the first occurrences in 2026, as month-day. */
function days(expression: string, count: number): string[] {
  return times(expression, count).map((time) => time.slice(5, 10))
}

describe("Quartz's fields", () => {
  it.each([
    ['0/30 * * * * ?', ['00:00:00', '00:00:30', '00:01:00']],
    ['/20 * * * * ?', ['00:00:00', '00:00:20', '00:00:40']],
    ['15 * * * * ?', ['00:00:15', '00:01:15', '00:02:15']],
    ['0 5-9/2,30 0 * * ?', ['00:05:00', '00:07:00', '00:09:00', '00:30:00']],
    ['0 58-2/2 0 * * ?', ['00:00:00', '00:02:00', '00:58:00']],
    ['0 0-5,3,3-7/2 0 * * ?', ['00:00:00', '00:01:00', '00:02:00', '00:03:00', '00:04:00', '00:05:00', '00:07:00']],
    ['0 0 22-2 * * ?', ['00:00:00', '01:00:00', '02:00:00', '22:00:00', '23:00:00']],
    ['0 0 12 * * ?', ['12:00:00']],
  ])('%s runs at the times of the day %j', (expression, expected) => {
    expect(times(expression, expected.length).map((time) => time.slice(11))).toEqual(expected)
  })

  it.each([
    ['0 0 0 ? * 1', ['01-04', '01-11']],
    ['0 0 0 ? * 7', ['01-03', '01-10']],
    ['0 0 0 ? * sun', ['01-04', '01-11']],
    ['0 0 0 ? * FRI-MON', ['01-02', '01-03', '01-04', '01-05', '01-09']],
    ['0 0 0 ? * 2-6/2', ['01-02', '01-05', '01-07', '01-09']],
    ['0 0 0 ? * L', ['01-03', '01-10']],
    ['0 0 0 ? * 6L', ['01-30', '02-27', '03-27']],
    ['0 0 0 ? * FRIL', ['01-30', '02-27', '03-27']],
    ['0 0 0 ? * 6#3', ['01-16', '02-20', '03-20']],
    ['0 0 0 ? * MON#5', ['03-30', '06-29', '08-31']],
    ['0 0 0 ? * 2#1,6#1', ['01-02', '01-05', '02-02', '02-06']],
    ['0 0 0 L * ?', ['01-31', '02-28', '03-31', '04-30']],
    ['0 0 0 L-3 * ?', ['01-28', '02-25', '03-28']],
    ['0 0 0 L-30 * ?', ['01-01', '03-01', '05-01']],
    ['0 0 0 LW * ?', ['01-30', '02-27', '03-31', '04-30', '05-29']],
    ['0 0 0 L-1W * ?', ['01-30', '02-27', '03-30']],
    ['0 0 0 15W * ?', ['01-15', '02-16', '03-16', '04-15', '05-15', '06-15']],
    ['0 0 0 1W 8 ?', ['08-03']],
    ['0 0 0 31W 1,2,5 ?', ['01-30', '05-29']],
    ['0 0 0 1,15W * ?', ['01-01', '01-15', '02-01', '02-16']],
    ['0 0 0 28-2 * ?', ['01-01', '01-02', '01-28', '01-29', '01-30', '01-31', '02-01', '02-02', '02-28', '03-01']],
    ['0 0 0 1 NOV-FEB ?', ['01-01', '02-01', '11-01', '12-01']],
    ['0 0 0 1 jan,7 *', ['01-01', '07-01']],
    ['0 0 0 ? * *', ['01-01', '01-02']],
    ['0 0 0 * * *', ['01-01', '01-02']],
  ])('%s runs on the days %j', (expression, expected) => {
    expect(days(expression, expected.length)).toEqual(expected)
  })

  it.each([
    ['0 0 0 1 1 ? 2028', ['2028-01-01']],
    ['0 0 0 1 1 ? 2027-2031/2', ['2027-01-01', '2029-01-01', '2031-01-01']],
    ['0 0 0 1 1 ? 2097/1', ['2097-01-01', '2098-01-01', '2099-01-01']],
    ['0 0 0 29 2 ? *', ['2028-02-29', '2032-02-29']],
    ['0 0 0 1 1 ? 1999', []],
  ])('%s is limited to its years', (expression, expected) => {
    const limit = expected.length === 2 ? 2 : 9
    expect(times(expression, limit).map((time) => time.slice(0, 10))).toEqual(expected)
  })

  it('begin with 1970 and end with 2099', () => {
    expect(times('0 0 0 31 12 ?', 1, -1e15)).toEqual(['1970-12-31T00:00:00'])
    expect(parseCron('0 0 0 * * ?').times.next(Date.UTC(2099, 11, 31))).toBeNull()
  })
})

describe("unix's five fields", () => {
  it.each([
    ['30 2 * * *', ['2026-01-01T02:30:00', '2026-01-02T02:30:00']],
    ['0 0 * * 0', ['2026-01-04T00:00:00', '2026-01-11T00:00:00']],
    ['0 0 * * 7', ['2026-01-04T00:00:00', '2026-01-11T00:00:00']],
    ['0 0 * * 5-7', ['2026-01-02T00:00:00', '2026-01-03T00:00:00', '2026-01-04T00:00:00', '2026-01-09T00:00:00']],
    ['0 0 * * 6-1', ['2026-01-03T00:00:00', '2026-01-04T00:00:00', '2026-01-05T00:00:00', '2026-01-10T00:00:00']],
    ['0 0 13 * 5', ['2026-01-02T00:00:00', '2026-01-09T00:00:00', '2026-01-13T00:00:00', '2026-01-16T00:00:00']],
    ['0 0 30 2 1', ['2026-02-02T00:00:00', '2026-02-09T00:00:00']],
    ['0 0 L * *', ['2026-01-31T00:00:00', '2026-02-28T00:00:00']],
    ['0 0 * * 5#2', ['2026-01-09T00:00:00', '2026-02-13T00:00:00']],
    ['@yearly', ['2027-01-01T00:00:00', '2028-01-01T00:00:00']],
    ['@annually', ['2027-01-01T00:00:00']],
    [' @Monthly ', ['2026-02-01T00:00:00', '2026-03-01T00:00:00']],
    ['@weekly', ['2026-01-04T00:00:00', '2026-01-11T00:00:00']],
    ['@daily', ['2026-01-02T00:00:00', '2026-01-03T00:00:00']],
    ['@midnight', ['2026-01-02T00:00:00']],
    ['@hourly', ['2026-01-01T01:00:00', '2026-01-01T02:00:00']],
  ])('%s', (expression, expected) => {
    expect(times(expression, expected.length, expression.includes('@') ? FROM + 1 : FROM)).toEqual(expected)
  })

  it('agree with cron-parser', () => {
    const list = (min: number, max: number): fc.Arbitrary<string> => {
      const value = fc.integer({ min, max })
      const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
      const step = fc
        .tuple(fc.oneof(fc.constant('*'), range), fc.integer({ min: 1, max: max - min }))
        .map((pair) => pair.join('/'))
      const item = fc.oneof(value.map(String), range, step)
      return fc.oneof(
        fc.constant('*'),
        fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(',')),
      )
    }
    const fields = fc.tuple(list(0, 59), list(0, 23), list(1, 28), list(1, 12), list(0, 7))
    const start = fc.integer({ min: Date.UTC(2000, 0) / 1000, max: Date.UTC(2037, 0) / 1000 })
    fc.assert(
      fc.property(fields, start, (parts, second) => {
        const expression = parts.join(' ')
        const peer = peerOf(expression, second)
        // cron-parser rejects lists with duplicate values
        fc.pre(peer !== undefined)
        const expected = Array.from({ length: 4 }, () => isoLocal(peer.next().getTime()))
        expect(times(expression, 4, second * 1000)).toEqual(expected)
      }),
      runs(300),
    )
  })
})

describe('the key of an expression', () => {
  it('is equal for equal times only', () => {
    const key = (expression: string): string => parseCron(expression).key
    expect(key('0 0/15 * * * ?')).toBe(key('0 0,15,30,45 * ? * *'))
    expect(key('0 */15 * * * ?')).toBe(key('*/15 * * * *'))
    expect(key('0 0 0 ? * MON')).toBe(key('0 0 0 ? * 2'))
    const distinct = [
      '0 0 0 1 * ?',
      '0 0 0 1W * ?',
      '0 0 0 L-1 * ?',
      '0 0 0 L-1W * ?',
      '0 0 0 ? * 1',
      '0 0 0 ? * 1L',
      '0 0 0 ? * 1#1',
      '0 0 0 1 * ? 2026',
      '0 0 1 * 0',
    ]
    expect(new Set(distinct.map(key)).size).toBe(distinct.length)
  })
})

describe('an invalid expression', () => {
  it.each([
    ['60 0 0 * * ?', 'second: "60" is out of range; second takes 0-59'],
    ['0 61 0 * * ?', 'minute: "61" is out of range; minute takes 0-59'],
    ['0 0 24 * * ?', 'hour: "24" is out of range; hour takes 0-23'],
    ['0 0 0 32 * ?', 'day-of-month: "32" is out of range; day-of-month takes 1-31'],
    ['0 0 0 L-31 * ?', 'day-of-month: "L-31" is malformed'],
    ['0 0 0 32W * ?', 'day-of-month: "32W" is malformed'],
    ['0 0 0 ? 13 *', 'month: "13" is out of range; month takes 1-12 or JAN-DEC'],
    ['0 0 0 ? FOO *', 'month: "FOO" is out of range; month takes 1-12 or JAN-DEC'],
    ['0 0 0 ? * 0', 'day-of-week: "0" is out of range; day-of-week takes 1-7 or SUN-SAT'],
    ['0 0 0 ? * 8L', 'day-of-week: "8L" is malformed'],
    ['0 0 0 ? * 6#6', 'day-of-week: "6#6" is malformed'],
    ['0 0 * * 8', 'day-of-week: "8" is out of range; day-of-week takes 0-7 or SUN-SAT'],
    ['0 0 0 * * ? 1969', 'year: "1969" is out of range; year takes 1970-2099'],
    ['0 0 0 * * ? 2030-2020', 'year: "2030-2020" runs backwards'],
    ['0 0/0 * * * ?', 'minute: "0/0" has a step outside 1-60'],
    ['0 0/61 * * * ?', 'minute: "0/61" has a step outside 1-60'],
    ['0 1,,2 * * * ?', 'minute: "" is malformed'],
    ['0 -5 * * * ?', 'minute: "-5" is malformed'],
    ['0 1e1 * * * ?', 'minute: "1E1" is malformed'],
    ['? 0 * * * ?', 'second: "?" is valid only as a whole day-of-month or day-of-week'],
    ['0 0 0 15 * 6', 'day-of-month and day-of-week are both set: "15" and "6"; use ? for one of them'],
    ['0 0 0 30 2 ?', '"0 0 0 30 2 ?" never runs from 1970 to 2099'],
    ['0 0 0 31W 2 ?', 'never runs'],
    ['* * * *', '"* * * *" is not a cron expression; use 6 or 7 fields'],
    [
      '@reboot',
      '"@reboot" is not a cron expression; use 6 or 7 fields (second minute hour day-of-month month day-of-week [year]), 5 unix fields, or @hourly, @daily, @weekly, @monthly or @yearly',
    ],
    ['@every 5m', '"@every 5m" is not a cron expression'],
    ['', '"" is not a cron expression'],
  ])('%j: %s', (expression, message) => {
    expect(() => parseCron(expression)).toThrow(message)
  })

  it('of excessive length is rejected at once', () => {
    expect(() => parseCron(`${'0,'.repeat(100_000)}0 * * * * ?`)).toThrow('is not a cron expression')
  })
})

function peerOf(expression: string, second: number): CronExpression | undefined {
  try {
    return CronExpressionParser.parse(expression, { currentDate: new Date(second * 1000), tz: 'UTC' })
  } catch (error) {
    if (String(error).includes('duplicate values')) return undefined
    throw error
  }
}
