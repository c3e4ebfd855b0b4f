import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import rr from 'rrule'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import type { DstPolicy } from '../../../src/core/rule/rule.ts'
import { isoLocal } from '../../../src/core/schedule/iso-time.ts'
import { occurrencesBetween } from './occurrences-between.ts'
import { parseSchedule } from '../../../src/core/schedule/parse-schedule.ts'
import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import { parseZone } from '../../../src/core/schedule/zone.ts'

const START = Date.UTC(2026, 0, 5, 9, 30, 15, 250)

function rruleSchedule(rrule: string, timeZone?: string, start = START): Schedule {
  return parseSchedule({ type: 'scheduled', rrule, start, ...(timeZone === undefined ? {} : { timeZone }) })
}

function firstOf(schedule: Schedule, count: number, from = START): string[] {
  return occurrencesBetween(schedule, from, Infinity, count).map((at) => new Date(at).toISOString().slice(0, 19))
}

interface Example {
  name: string
  dtstart: string
  zone: string
  rrule: string
  exdate?: string
  expected: string[]
  endless: boolean
}

describe("the examples of RFC 5545's recurrence rules", () => {
  const examples = JSON.parse(readFileSync('fixtures/schedules/rfc5545.json', 'utf8')) as Example[]
  it.each(examples)('$name', ({ dtstart, zone, rrule, exdate, expected, endless }) => {
    const lines = [`DTSTART;TZID=${zone}:${dtstart}`, `RRULE:${rrule}`]
    if (exdate !== undefined) lines.push(`EXDATE;TZID=${zone}:${exdate}`)
    const schedule = rruleSchedule(lines.join('\n'))
    const place = parseZone(zone)
    const found = occurrencesBetween(schedule, Date.UTC(1990, 0), Infinity, expected.length + (endless ? 0 : 1))
    expect(found.map((at) => isoLocal(at + place.stretchAt(at).offset).slice(0, 16))).toEqual(expected)
  })
})

describe('COUNT', () => {
  const days = (rrule: string, dst: DstPolicy): string[] =>
    firstOf(parseSchedule({ type: 'scheduled', rrule, start: 0, timeZone: 'Europe/Brussels', dst }), 9, 0).map((time) =>
      time.slice(5, 13),
    )
  const sunday = 'DTSTART:20260328T023000\nRRULE:FREQ=DAILY;COUNT=3'

  // RFC 5545, 3.3.10: a local time that does not exist is ignored and not counted
  it.each<[string, string, DstPolicy, string[]]>([
    ['counts what a shifted time becomes', sunday, { gap: 'shift' }, ['03-28T01', '03-29T01', '03-30T00']],
    ['does not count a time that is skipped', sunday, { gap: 'skip' }, ['03-28T01', '03-30T00', '03-31T00']],
    [
      'counts occurrences that EXDATE removes',
      `${sunday}\nEXDATE:20260330T023000`,
      { gap: 'skip' },
      ['03-28T01', '03-31T00'],
    ],
    [
      'ends when a rule has skipped times alone',
      'DTSTART:20260329T020000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU;COUNT=2',
      { gap: 'skip' },
      [],
    ],
  ])('%s', (_, rrule, dst, expected) => {
    expect(days(rrule, dst)).toEqual(expected)
  })
})

describe('the start of a rule', () => {
  it('is the start of the task to the second without a DTSTART', () => {
    expect(firstOf(rruleSchedule('FREQ=DAILY'), 2)).toEqual(['2026-01-06T09:30:15', '2026-01-07T09:30:15'])
  })

  it('is read in the zone of the schedule', () => {
    expect(firstOf(rruleSchedule('FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0', 'Asia/Tokyo'), 1)).toEqual([
      '2026-01-06T00:00:00',
    ])
  })

  it.each([
    ['a local time', 'DTSTART:20260110T080000', 'Europe/Brussels', '2026-01-10T07:00:00'],
    ['a time with a zone', 'DTSTART;TZID=Europe/Brussels:20260110T080000', undefined, '2026-01-10T07:00:00'],
    ['a UTC time', 'DTSTART:20260110T080000Z', 'Europe/Brussels', '2026-01-10T08:00:00'],
    ['a date', 'DTSTART;VALUE=DATE:20260110', 'Europe/Brussels', '2026-01-09T23:00:00'],
  ])('may be %s', (_name, line, zone, expected) => {
    expect(firstOf(rruleSchedule(`${line}\nRRULE:FREQ=DAILY`, zone), 1)).toEqual([expected])
  })

  it('bounds the occurrences from below', () => {
    const before = START - 1e10
    expect(rruleSchedule('FREQ=MINUTELY').next(before)).toBe(Date.UTC(2026, 0, 5, 9, 30, 15))
    expect(rruleSchedule('FREQ=DAILY;BYHOUR=1').next(before)).toBe(Date.UTC(2026, 0, 6, 1, 30, 15))
  })

  it('is ignored in the key of a rule that does not depend on it', () => {
    const keyAt = (rrule: string, start: number) => rruleSchedule(rrule, 'Europe/Paris', start).key
    const other = START + 7_345_000
    const daily = 'FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0'
    expect(keyAt(daily, START)).toBe(keyAt(daily, other))
    expect(keyAt('FREQ=MINUTELY;INTERVAL=15', START)).toBe(keyAt('FREQ=MINUTELY;INTERVAL=15', START + 1_800_000))
    expect(keyAt('FREQ=MINUTELY;INTERVAL=15', START)).not.toBe(keyAt('FREQ=MINUTELY;INTERVAL=15', other))
    expect(keyAt('FREQ=DAILY', START)).not.toBe(keyAt('FREQ=DAILY', other))
    expect(keyAt(`${daily};COUNT=3`, START)).not.toBe(keyAt(`${daily};COUNT=3`, other))
    expect(keyAt(`${daily};INTERVAL=2`, START)).not.toBe(keyAt(`${daily};INTERVAL=2`, START + 86_400_000))
  })
})

describe('lines around a rule', () => {
  it('EXDATE removes times and whole days, RDATE adds times', () => {
    const schedule = rruleSchedule(
      [
        'DTSTART:20260201T060000Z',
        'RRULE:FREQ=HOURLY;INTERVAL=6;COUNT=8',
        'EXDATE:20260201T120000Z,20260201T180000',
        'EXDATE;VALUE=DATE:20260202',
        'RDATE;TZID=Europe/Brussels:20260201T101500',
      ].join('\r\n'),
    )
    expect(firstOf(schedule, 9)).toEqual(['2026-02-01T06:00:00', '2026-02-01T09:15:00', '2026-02-03T00:00:00'])
  })

  it('merge two rules without duplicating common occurrences', () => {
    const schedule = rruleSchedule(
      'DTSTART:20260201T000000\nRRULE:FREQ=DAILY;BYHOUR=6,12;COUNT=4\nRRULE:FREQ=DAILY;BYHOUR=12,18;COUNT=4',
    )
    expect(firstOf(schedule, 9).map((time) => time.slice(8, 13))).toEqual([
      '01T06',
      '01T12',
      '01T18',
      '02T06',
      '02T12',
      '02T18',
    ])
  })

  it('folded lines are joined', () => {
    expect(firstOf(rruleSchedule('DTSTART:20260201T000000\r\nRRULE:FREQ=DAI\r\n LY;COUNT=1'), 2)).toEqual([
      '2026-02-01T00:00:00',
    ])
  })

  it.each([
    ['a UTC time', 'UNTIL=20260203T060000Z', 3],
    ['a local time', 'UNTIL=20260203T055959', 2],
    ['a date, to its end', 'UNTIL=20260203', 3],
  ])('UNTIL may be %s', (_name, until, count) => {
    const schedule = rruleSchedule(`DTSTART:20260201T060000\nRRULE:FREQ=DAILY;${until}`)
    expect(firstOf(schedule, 9)).toHaveLength(count)
  })
})

describe('an invalid rule', () => {
  it.each([
    ['FREQ=FOO', 'FREQ: "FOO" is not a valid frequency'],
    ['INTERVAL=2', 'FREQ is missing'],
    ['FREQ=DAILY;INTERVAL=0', 'INTERVAL: "0" is out of range; INTERVAL takes 1-1000000000'],
    ['FREQ=DAILY;COUNT=99999', 'COUNT: "99999" is out of range; COUNT takes 1-10000'],
    ['FREQ=DAILY;BYHOUR=7,24', 'BYHOUR: "24" is out of range; BYHOUR takes 0-23'],
    ['FREQ=DAILY;BYMINUTE=60', 'BYMINUTE: "60" is out of range; BYMINUTE takes 0-59'],
    ['FREQ=DAILY;BYSECOND=60', 'BYSECOND: "60" is out of range; BYSECOND takes 0-59'],
    ['FREQ=DAILY;BYMONTH=0', 'BYMONTH: "0" is out of range; BYMONTH takes 1-12'],
    ['FREQ=MONTHLY;BYMONTHDAY=-32', 'BYMONTHDAY: "-32" is out of range; BYMONTHDAY takes 1-31 or -31--1'],
    ['FREQ=YEARLY;BYYEARDAY=367', 'BYYEARDAY: "367" is out of range'],
    ['FREQ=YEARLY;BYWEEKNO=54', 'BYWEEKNO: "54" is out of range'],
    ['FREQ=MONTHLY;BYDAY=MO;BYSETPOS=0', 'BYSETPOS: "0" is out of range'],
    ['FREQ=WEEKLY;BYDAY=XX', 'BYDAY: "XX" is not a weekday'],
    ['FREQ=WEEKLY;BYDAY=2MO', 'BYDAY with a number needs FREQ=MONTHLY'],
    ['FREQ=WEEKLY;WKST=1', 'WKST: "1" is not a weekday'],
    ['FREQ=WEEKLY;BYMONTHDAY=1', 'BYMONTHDAY is not allowed with FREQ=WEEKLY'],
    ['FREQ=DAILY;BYYEARDAY=1', 'BYYEARDAY is not allowed with FREQ=DAILY'],
    ['FREQ=MONTHLY;BYWEEKNO=1', 'BYWEEKNO needs FREQ=YEARLY'],
    ['FREQ=DAILY;BYSETPOS=1', 'BYSETPOS needs another BY part'],
    ['FREQ=DAILY;COUNT=1;UNTIL=20300101', 'COUNT and UNTIL are both set'],
    ['FREQ=DAILY;UNTIL=20300230', 'UNTIL: "20300230" is not a valid date'],
    ['FREQ=DAILY;FREQ=DAILY', 'FREQ appears twice'],
    ['FREQ=DAILY;__PROTO__=1', '"__PROTO__=1" is not a part of a rule'],
    ['FREQ=DAILY;CONSTRUCTOR=1', '"CONSTRUCTOR=1" is not a part of a rule'],
    ['every day', '"every day" is not a valid line; use lines of DTSTART, RRULE, RDATE and EXDATE'],
    ['', 'RRULE is missing'],
    ['DTSTART:20260101T000000', 'RRULE is missing'],
    ['DTSTART:20261301T000000\nRRULE:FREQ=DAILY', 'DTSTART: "20261301T000000" is not a valid date'],
    ['DTSTART:20260101T000000,20260102T000000\nRRULE:FREQ=DAILY', 'DTSTART appears more than once'],
    ['DTSTART;TZID=Europe/Brusels:20260101T000000\nRRULE:FREQ=DAILY', 'did you mean Europe/Brussels?'],
    ['RDATE;VALUE=PERIOD:20260101T000000/PT1H', 'RDATE: "VALUE=PERIOD" is not a valid parameter'],
    ['EXRULE:FREQ=DAILY', '"EXRULE:FREQ=DAILY" is not a valid line'],
  ])('%j: %s', (rrule, message) => {
    expect(() => rruleSchedule(rrule)).toThrow(message)
  })

  it('of more than 20,000 characters is rejected unread', () => {
    expect(() => rruleSchedule('x'.repeat(30_000))).toThrow('is not a rule of at most 20000 characters')
  })

  it('reports all problems at once, with positions', () => {
    const error = thrownBy(() => rruleSchedule('FREQ=DAILY;BYHOUR=24,25;COUNT=x;FOO=1', 'Nowhere'))
    expect(error.code).toBe('SCHEDULE')
    expect(error.issues.map(({ path }) => path)).toEqual(['/timeZone', '/rrule', '/rrule', '/rrule', '/rrule'])
  })

  it('cannot contradict the zone of the task', () => {
    const rule = 'DTSTART;TZID=Europe/Brussels:20260101T000000\nRRULE:FREQ=DAILY'
    expect(() => rruleSchedule(rule, 'Asia/Tokyo')).toThrow('timeZone is Asia/Tokyo but DTSTART is in Europe/Brussels')
    expect(rruleSchedule(rule, 'Europe/Brussels').key).toBe(rruleSchedule(rule).key)
  })
})

it('selects by BYSETPOS from whole periods, including that of DTSTART', () => {
  const thursday = 'DTSTART:19980101T000000'
  const schedule = rruleSchedule(`${thursday}\nRRULE:FREQ=WEEKLY;BYDAY=MO,FR;BYSETPOS=1`)
  expect(firstOf(schedule, 1, 0)).toEqual(['1998-01-05T00:00:00'])
})

// Holds RRULE-3
describe('a hostile rule', () => {
  const all = (size: number): string => Array.from({ length: size }, (_, index) => index).join(',')
  it.each([
    ['a day that no month has', 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30'],
    ['a week without its day', 'FREQ=YEARLY;BYWEEKNO=20;BYMONTH=1'],
    ['an hour that its interval never meets', 'DTSTART:20200101T000000\nRRULE:FREQ=HOURLY;INTERVAL=2;BYHOUR=3'],
    ['seconds that its interval never meets', 'DTSTART:20200101T000000\nRRULE:FREQ=SECONDLY;INTERVAL=2;BYSECOND=1,3'],
    ['a position that its set never has', 'FREQ=MONTHLY;BYDAY=1MO;BYSETPOS=2'],
    [
      'weekdays that its interval never meets',
      'DTSTART:20260105T000000\nRRULE:FREQ=SECONDLY;INTERVAL=7;BYDAY=TU;BYHOUR=0;BYMINUTE=0;BYSECOND=0,7,14',
    ],
  ])('%s: is rejected with a reason', (_name, rrule) => {
    expect(() => rruleSchedule(rrule)).toThrow(/never runs, or too rarely/)
  })

  it.each([
    ['an old start with seconds', 'DTSTART:19700101T000000\nRRULE:FREQ=SECONDLY'],
    ['an old start with an unusual interval', 'DTSTART:19700101T000007\nRRULE:FREQ=SECONDLY;INTERVAL=86399'],
    [
      'a set of every second of the year',
      `FREQ=YEARLY;BYHOUR=${all(24)};BYMINUTE=${all(60)};BYSECOND=${all(60)};BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=-1`,
    ],
    ['a large count', 'DTSTART:20000101T000000\nRRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=10000'],
  ])('%s: is evaluated from any point in a limited number of steps', (_name, rrule) => {
    const schedule = rruleSchedule(rrule)
    for (const after of [0, START, Date.UTC(2150, 5)]) {
      const next = schedule.next(after)
      expect(next === null || next > after).toBe(true)
    }
  })
})

// Holds RRULE-1, RRULE-2
describe('a rule agrees with the package rrule', () => {
  const weekday = fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU')
  const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T[] | undefined> =>
    fc.option(
      // rrule returns the times of a day in the order in which its parts list them
      fc
        .uniqueArray(value, { minLength: 1, maxLength: 3 })
        .map((list) => list.toSorted((a, b) => Number(a) - Number(b))),
      { nil: undefined },
    )
  const signed = (max: number): fc.Arbitrary<number> => fc.integer({ min: -max, max }).filter((value) => value !== 0)
  const common = {
    BYMONTH: some(fc.integer({ min: 1, max: 12 })),
    BYHOUR: some(fc.integer({ min: 0, max: 23 })),
    BYMINUTE: some(fc.integer({ min: 0, max: 59 })),
    BYSECOND: some(fc.integer({ min: 0, max: 59 })),
  }
  // rrule requires both MO and 2MO where RFC 5545 requires either, so no list mixes the two kinds
  const ordinal = fc.tuple(fc.constantFrom('1', '2', '-1', '-2'), weekday).map(([nth, day]) => nth + day)
  const rule = fc.oneof(
    fc.record({
      FREQ: fc.constant('YEARLY'),
      ...common,
      BYDAY: fc.oneof(some(ordinal), some(weekday)),
      BYMONTHDAY: some(signed(31)),
      BYYEARDAY: some(signed(366)),
    }),
    fc.record({
      FREQ: fc.constant('YEARLY'),
      ...common,
      BYDAY: some(weekday).filter((days) => days !== undefined),
      BYWEEKNO: some(signed(53)),
    }),
    fc.record({
      FREQ: fc.constant('MONTHLY'),
      ...common,
      BYDAY: fc.oneof(some(ordinal), some(weekday)),
      BYMONTHDAY: some(signed(31)),
    }),
    fc.record({ FREQ: fc.constant('WEEKLY'), ...common, BYDAY: some(weekday) }),
    fc.record({ FREQ: fc.constant('DAILY'), ...common, BYDAY: some(weekday), BYMONTHDAY: some(signed(31)) }),
    fc.record({
      FREQ: fc.constant('HOURLY'),
      BYDAY: some(weekday),
      BYMINUTE: common.BYMINUTE,
      BYSECOND: common.BYSECOND,
    }),
    // without BYMINUTE: rrule never returns for a rule whose interval never matches
    fc.record({ FREQ: fc.constant('MINUTELY'), BYDAY: some(weekday), BYSECOND: common.BYSECOND }),
  )
  const start = fc.integer({ min: Date.UTC(1998, 0) / 1000, max: Date.UTC(2030, 0) / 1000 })

  it('for any parts, interval, week start and position', () => {
    fc.assert(
      fc.property(
        rule,
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('', ';WKST=SU', ';WKST=TH'),
        // rrule wraps positions beyond the set around and returns duplicates, so use only positions that every set has
        fc.constantFrom('', ';BYSETPOS=1', ';BYSETPOS=-1'),
        start,
        (parts, interval, week, position, second) => {
          const by = Object.entries(parts).filter((entry) => entry[1] !== undefined)
          // rrule cuts the week of DTSTART before it picks positions; here they apply to the whole week
          const hasBy = parts.FREQ !== 'WEEKLY' && by.some(([name]) => name.startsWith('BY'))
          const value = `${by.map(([name, part]) => `${name}=${String(part)}`).join(';')};INTERVAL=${interval}${week}${hasBy ? position : ''}`
          const dtstart = new Date(second * 1000)
          const until = new Date(second * 1000 + 6 * 366 * 86_400_000)
          const peer = new rr.RRule({ ...rr.RRule.parseString(value), dtstart, until })
          const theirs = peer.all((_date, count) => count < 12).map((date) => date.getTime())
          const line = dtstart.toISOString().replaceAll(/[-:]|\.\d+/g, '')
          let ours: readonly number[] = []
          try {
            ours = occurrencesBetween(rruleSchedule(`DTSTART:${line}\nRRULE:${value}`), 0, until.getTime() + 1, 12)
          } catch (error) {
            expect(String(error)).toContain('never runs')
          }
          expect(ours).toEqual(theirs)
        },
      ),
      runs(100),
    )
  })
})

function thrownBy(action: () => unknown): AppError {
  try {
    action()
  } catch (error) {
    if (error instanceof AppError) return error
  }
  throw new Error('nothing was thrown')
}
