/** Calendars: hours, holidays, exceptions, shifts and their gaps, compared with a naive reading minute by minute. */
import * as fc from 'fast-check'
import { DateTime } from 'luxon'
import { expect, it } from 'vitest'
import type { CalendarDocument, DaySpan, WeeklySpan } from '../../../src/core/calendar/calendar.ts'
import { handOverGaps, readCalendar } from '../../../src/core/calendar/read-calendar.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const MINUTE = 60_000
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri'] as const

const at = (iso: string): number => Date.parse(iso)
const shown = (time: number | undefined): string => (time === undefined ? 'never' : new Date(time).toISOString())

it('is open in its hours, and not on holidays', () => {
  const office = readCalendar({
    zone: 'Europe/Brussels',
    hours: [{ days: WEEK, from: '08:00', to: '17:00' }],
    holidays: [
      { name: 'Christmas', rrule: 'FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25' },
      { date: '2026-12-31', until: '2027-01-01' },
    ],
  })
  const open = (iso: string): boolean => office.isOpen(at(iso))
  expect(open('2026-12-24T07:00:00Z')).toBe(true)
  expect(open('2026-12-24T06:59:59.999Z')).toBe(false)
  expect(open('2026-12-24T16:00:00Z')).toBe(false)
  expect(office.stateAt(at('2026-12-25T10:00:00Z'))).toEqual({
    open: false,
    holiday: 'Christmas',
    shifts: [],
    onCall: [],
  })
  expect(open('2026-12-26T10:00:00Z')).toBe(false)
  expect(open('2026-12-31T10:00:00Z')).toBe(false)
  expect(shown(office.nextChange(at('2026-12-24T12:00:00Z')))).toBe('2026-12-24T16:00:00.000Z')
  expect(shown(office.nextChange(at('2026-12-24T16:00:00Z')))).toBe('2026-12-28T07:00:00.000Z')
  expect(shown(office.nextChange(at('2026-12-30T16:00:00Z')))).toBe('2027-01-04T07:00:00.000Z')
})

it('replaces hours and duties by exceptions', () => {
  const calendar = readCalendar({
    zone: 'UTC',
    hours: [{ from: '00:00', to: '24:00' }],
    shifts: [{ name: 'day', from: '08:00', to: '20:00', onCall: ['ann'] }],
    exceptions: [
      { date: '2026-06-01', hours: [{ from: '10:00', to: '12:00' }] },
      { date: '2026-06-02', until: '2026-06-03', onCall: ['bob', 'eve'] },
      { date: '2026-06-04', hours: [] },
    ],
  })
  expect(calendar.isOpen(at('2026-06-01T09:00:00Z'))).toBe(false)
  expect(calendar.isOpen(at('2026-06-01T11:00:00Z'))).toBe(true)
  expect(calendar.stateAt(at('2026-06-01T11:00:00Z')).onCall).toEqual(['ann'])
  expect(calendar.stateAt(at('2026-06-03T11:00:00Z')).onCall).toEqual(['bob', 'eve'])
  expect(calendar.isOpen(at('2026-06-04T11:00:00Z'))).toBe(false)
})

it('passes the duty on by rotation, over midnight', () => {
  const rota = readCalendar({
    zone: 'Europe/Brussels',
    shifts: [
      {
        name: 'day',
        from: '07:00',
        to: '19:00',
        onCall: ['ann', 'bob'],
        rotation: { every: 'week', start: '2026-01-05' },
      },
      {
        name: 'night',
        from: '19:00',
        to: '07:00',
        onCall: ['eve', 'joe', 'kim'],
        rotation: { every: 'day', start: '2026-01-05' },
      },
    ],
  })
  const onCall = (iso: string) => rota.stateAt(at(iso)).onCall
  expect(onCall('2026-01-05T12:00:00Z')).toEqual(['ann'])
  expect(onCall('2026-01-12T12:00:00Z')).toEqual(['bob'])
  expect(onCall('2026-01-04T12:00:00Z')).toEqual(['bob'])
  expect(onCall('2026-01-06T23:30:00Z')).toEqual(['joe'])
  expect(onCall('2026-01-07T05:59:00Z')).toEqual(['joe'])
  expect(onCall('2026-01-07T06:00:00Z')).toEqual(['ann'])
  expect(rota.stateAt(at('2026-01-07T05:59:00Z')).shifts).toEqual(['night'])
  expect(handOverGaps(rota, at('2026-01-05T00:00:00Z'))).toEqual([])
})

it('finds gaps of the hand-over', () => {
  const rota = readCalendar({
    zone: 'UTC',
    hours: [{ days: ['mon'], from: '06:00', to: '22:00' }],
    shifts: [
      { name: 'early', from: '06:00', to: '14:00', onCall: ['ann'] },
      { name: 'late', from: '14:30', to: '22:00', onCall: ['bob'] },
    ],
  })
  const gaps = handOverGaps(rota, at('2026-01-05T00:00:00Z'))
  expect(gaps).toHaveLength(20)
  expect([shown(gaps[0]?.from), shown(gaps[0]?.until)]).toEqual([
    '2026-01-05T14:00:00.000Z',
    '2026-01-05T14:30:00.000Z',
  ])
  expect(shown(gaps[1]?.from)).toBe('2026-01-12T14:00:00.000Z')
  expect(handOverGaps(readCalendar({ zone: 'UTC' }), 0)).toEqual([])
})

it('never changes when it is always open', () => {
  expect(readCalendar({ zone: 'Europe/Brussels' }).nextChange(at('2026-01-01T00:00:00Z'))).toBeUndefined()
})

it('rejects all problems at once', () => {
  const wrong: CalendarDocument = {
    zone: 'Europe/Brusels',
    hours: [{ from: '24:00', to: '8:00' }],
    holidays: [{}, { date: '2026-02-30' }, { rrule: 'FREQ=SOMETIMES' }, { date: '2026-02-02', until: '2026-02-01' }],
    exceptions: [{ date: 'tomorrow' }],
    shifts: [{ name: 'a', from: '00:00', to: '12:60', rotation: { every: 'day', start: '' } }],
  }
  const paths = (() => {
    try {
      readCalendar(wrong)
      return []
    } catch (error) {
      return (error as { issues: { path: string }[] }).issues.map(({ path }) => path)
    }
  })()
  expect(new Set(paths)).toEqual(
    new Set([
      '/zone',
      '/hours/0/from',
      '/hours/0/to',
      '/shifts/0/to',
      '/shifts/0/rotation/start',
      '/holidays/0',
      '/holidays/1/date',
      '/holidays/2/rrule',
      '/holidays/3/until',
      '/exceptions/0/date',
    ]),
  )
})

const time = fc.integer({ min: 0, max: 95 }).map((quarter) => {
  const [hour, minute] = [Math.floor(quarter / 4), (quarter % 4) * 15]
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
})
const span = fc.record({ from: time, to: fc.oneof(time, fc.constant('24:00')) })
const weekly: fc.Arbitrary<WeeklySpan> = fc
  .tuple(span, fc.option(fc.subarray([...DAYS, 'holiday'] as const, { minLength: 1 }), { nil: undefined }))
  .map(([one, days]) => ({ ...one, ...(days && { days }) }))

/** Weeks with and without a change of the clock, in zones on both hemispheres. */
const places = fc.constantFrom(
  ['Europe/Brussels', '2026-03-27'],
  ['Europe/Brussels', '2026-10-23'],
  ['America/New_York', '2026-03-06'],
  ['America/New_York', '2026-10-30'],
  ['Australia/Lord_Howe', '2026-04-03'],
  ['Australia/Lord_Howe', '2026-10-02'],
  ['America/Santiago', '2026-04-03'],
  ['Asia/Kathmandu', '2026-05-01'],
) as fc.Arbitrary<[string, string]>

// Holds CALENDAR-1
it('equals a naive reading minute by minute, over changes of the clock', () => {
  const cases = fc.tuple(
    places,
    fc.array(weekly, { maxLength: 4 }),
    fc.subarray([0, 1, 2, 3]),
    fc.option(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.array(span, { maxLength: 2 })), { nil: undefined }),
  )
  fc.assert(
    fc.property(cases, ([[zone, first], hours, free, special]) => {
      const from = DateTime.fromISO(first, { zone })
      const dates = [0, 1, 2, 3].map((day) => from.plus({ days: day }).toISODate() ?? '')
      const holidays = free.map((day) => ({ date: dates[day] ?? '' }))
      const exceptions = special === undefined ? [] : [{ date: dates[special[0]] ?? '', hours: special[1] }]
      const reading = readCalendar({ zone, hours, holidays, exceptions })
      const naive = naiveReading(
        hours,
        new Set(holidays.map(({ date }) => date)),
        new Map(exceptions.map((one) => [one.date, one.hours])),
      )
      let expected: number | undefined
      let change = from.toMillis()
      let former: boolean | undefined
      for (let t = from.toMillis(); t < from.plus({ days: 4 }).toMillis(); t += MINUTE) {
        const isOpen = naive(DateTime.fromMillis(t, { zone }))
        if (reading.isOpen(t) !== isOpen || reading.isOpen(t + MINUTE - 1) !== isOpen)
          throw new Error(`${zone} ${new Date(t).toISOString()}: ${isOpen}`)
        if (former !== undefined && former !== isOpen) {
          expected = t
          expect(shown(reading.nextChange(change))).toBe(shown(expected))
          change = t
        }
        former = isOpen
      }
    }),
    runs(20),
  )
})

function naiveReading(
  hours: readonly WeeklySpan[],
  free: ReadonlySet<string>,
  special: ReadonlyMap<string, readonly DaySpan[]>,
) {
  const begunOn = (day: DateTime): readonly DaySpan[] => {
    const date = day.toISODate() ?? ''
    const name = free.has(date) ? 'holiday' : DAYS[day.weekday - 1]
    return special.get(date) ?? hours.filter(({ days }) => days === undefined || days.some((one) => one === name))
  }
  const minutes = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
  return (local: DateTime): boolean => {
    const now = local.hour * 60 + local.minute
    const yesterday = DateTime.fromISO(local.toISODate() ?? '', { zone: 'UTC' }).minus({ days: 1 })
    const ofToday = begunOn(local).some(({ from, to }) => {
      const isOver = minutes(to) <= minutes(from)
      return now >= minutes(from) && (isOver || now < minutes(to))
    })
    const ofYesterday = begunOn(yesterday).some(({ from, to }) => minutes(to) <= minutes(from) && now < minutes(to))
    return ofToday || ofYesterday
  }
}
