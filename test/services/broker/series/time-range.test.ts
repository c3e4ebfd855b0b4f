import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { requestOf } from '../../../../src/services/broker/series/series-request.ts'
import { SeriesQueryBody } from '../../../../src/services/broker/series/series-schema.ts'
import { DAY, HOUR, NOW } from './support/series-in-memory.ts'

const FROM = NOW - 3 * DAY
const UNTIL = NOW - DAY

function resolve(parts: object): unknown {
  const query = SeriesQueryBody.read({ metric: 'm', resources: ['r'], ...parts })
  return requestOf(query, { now: NOW, most: 1 }).range
}

describe('the range of a query', () => {
  it.each([
    ['from and until: as given', { from: FROM, until: UNTIL }, FROM, UNTIL],
    ['from and window: from there on', { from: FROM, window: '2h' }, FROM, FROM + 2 * HOUR],
    ['until and window: up to there', { until: UNTIL, window: 'PT2H' }, UNTIL - 2 * HOUR, UNTIL],
    ['window alone: up to now', { window: 'hour' }, NOW - HOUR, NOW],
    ['from alone: up to now', { from: FROM }, FROM, NOW],
    ['until alone: seven days', { until: UNTIL }, UNTIL - 7 * DAY, UNTIL],
    ['nothing: the last seven days', {}, NOW - 7 * DAY, NOW],
    ['null is nothing', { from: null, until: null, window: null }, NOW - 7 * DAY, NOW],
    ['digits as text', { from: String(FROM), until: String(UNTIL) }, FROM, UNTIL],
    ['ISO 8601', { from: '2024-02-27T12:00:00Z', until: '2024-02-29T13:00:00+01:00' }, FROM, UNTIL],
    ['ages', { from: '-3d', until: '-P1D' }, FROM, UNTIL],
    ['ages without a sign', { from: '3d', until: 'PT24H' }, FROM, UNTIL],
    ['an age and a window', { from: '-3d', window: '2h' }, FROM, FROM + 2 * HOUR],
    ['one instant', { from: FROM, until: FROM }, FROM, FROM],
    ['before 1970', { from: -5, until: 5 }, -5, 5],
    ['the end of time', { from: 8.64e15, window: 'week' }, 8.64e15, 8.64e15],
    ['its begin', { until: -8.64e15 }, -8.64e15, -8.64e15],
  ])('%s', (_, parts, from, until) => {
    expect(resolve(parts)).toEqual({ from, until })
  })

  it.each([
    ['all three', { from: FROM, until: UNTIL, window: '1h' }, /\/window <- from, until and window cannot be combined/],
    ['from after until', { from: UNTIL, until: FROM }, /\/from <- \d+ is after until/],
    ['from after now', { from: NOW + 1 }, /\/from <- \d+ is after now/],
    ['no time', { from: 'yesterday' }, /\/from <- "yesterday" is not a valid time/],
    [
      'a day that there is not',
      { until: '2026-04-31' },
      /\/until <- "2026-04-31" is not a valid time: day 2026-04-31 does not exist/,
    ],
    ['half a millisecond', { from: 1.5 }, /\/from <- 1.5 is not a valid time/],
    ['beyond dates', { until: 8.64e15 + 1 }, /\/until <- \d+ is not a valid time/],
    ['an age that is none', { from: '--2d' }, /\/from <- "--2d" is not a valid time/],
    ['a list', { from: [1] }, /\/from <- \[1\] is not a valid time/],
    ['a window of nothing', { window: '0h' }, /\/window <- "0h" is not a length of time/],
    ['a window that goes back', { window: '-PT1H' }, /\/window/],
    ['two problems', { from: 'x', window: 'y' }, /\/from .*\/window /],
  ])('is rejected for %s', (_, parts, text) => {
    expect(() => resolve(parts)).toThrow(AppError)
    expect(() => resolve(parts)).toThrow(text)
  })
})
