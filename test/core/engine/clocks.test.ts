import { describe, expect, it } from 'vitest'
import { Clocks } from '../../../src/core/engine/clocks.ts'
import { parseSchedule } from '../../../src/core/schedule/parse-schedule.ts'
import type { ScheduleSettings } from '../../../src/core/schedule/schedule.ts'

const HOUR = 3_600_000
const cron = (expression: string, start: number, more: object = {}): ScheduleSettings => ({
  type: 'scheduled',
  cron: expression,
  start,
  ...more,
})
const rrule = (text: string, start: number): ScheduleSettings => ({ type: 'scheduled', rrule: text, start })

describe('schedules of one engine', () => {
  it.each([
    ['cron, whenever they start', cron('0 30 2 * * ?', 0), cron('0 30 2 * * ?', 5 * HOUR + 1)],
    [
      'rules with a DTSTART',
      rrule('DTSTART:20260101T000000\nRRULE:FREQ=DAILY', 0),
      rrule('DTSTART:20260101T000000\nRRULE:FREQ=DAILY', HOUR + 1),
    ],
    [
      'rules that do not depend on their start',
      rrule('FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0', 0),
      rrule('FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0', 17 * HOUR + 61_001),
    ],
    ['rules that start in the same second', rrule('FREQ=DAILY;INTERVAL=3', 1000), rrule('FREQ=DAILY;INTERVAL=3', 1999)],
  ])('are shared by all tasks: %s', (_, one, other) => {
    const clocks = new Clocks()
    expect(clocks.parse(other)).toBe(clocks.parse(other))
    const known = clocks.parse(one)
    expect(clocks.parse(other)).toBe(known)
  })

  it.each([
    ['another expression', cron('0 0 2 * * ?', 0)],
    ['another zone', cron('0 30 2 * * ?', 0, { timeZone: 'Europe/Brussels' })],
    ['another policy for gaps', cron('0 30 2 * * ?', 0, { dst: { gap: 'skip' } })],
    ['another policy for overlaps', cron('0 30 2 * * ?', 0, { dst: { overlap: 'both' } })],
  ])('differ with %s', (_, other) => {
    const clocks = new Clocks()
    expect(clocks.parse(other)).not.toBe(clocks.parse(cron('0 30 2 * * ?', 0)))
  })

  it.each([
    'FREQ=DAILY',
    'FREQ=DAILY;COUNT=5;BYHOUR=2;BYMINUTE=30;BYSECOND=0',
    'FREQ=MINUTELY;INTERVAL=15',
    'FREQ=MONTHLY;BYHOUR=2;BYMINUTE=30;BYSECOND=0',
    'FREQ=WEEKLY;BYHOUR=2;BYMINUTE=30;BYSECOND=0',
    'FREQ=YEARLY;BYMONTHDAY=1;BYHOUR=2;BYMINUTE=30',
  ])('of a rule that depends on its start differ by start: %s', (text) => {
    const clocks = new Clocks()
    for (const start of [0, 7_261_000, 40 * 24 * HOUR + 5000]) {
      const expected = parseSchedule(rrule(text, start))
      const found = clocks.parse(rrule(text, start))
      for (let at: number | null = start - 1, i = 0; at !== null && i < 6; i++) {
        expect(found.next(at)).toBe(expected.next(at))
        at = expected.next(at)
      }
    }
  })

  it('count the occurrences missed by a task that is restored from an earlier start', () => {
    const clocks = new Clocks()
    const text = 'FREQ=HOURLY;BYMINUTE=0;BYSECOND=0'
    clocks.parse(rrule(text, 10 * HOUR))
    expect(clocks.parse(rrule(text, 0)).next(1)).toBe(HOUR)
    expect(clocks.parse(rrule(text, 10 * HOUR)).next(1)).toBe(HOUR)
  })

  it('of periodic tasks count from their own start', () => {
    const clocks = new Clocks()
    const periodic = (start: number): ScheduleSettings => ({ type: 'periodic', frequency: 1000, start })
    expect([clocks.parse(periodic(5)).next(5), clocks.parse(periodic(7)).next(7)]).toEqual([1005, 1007])
  })

  it('are rejected when invalid', () => {
    const clocks = new Clocks()
    for (let i = 0; i < 2; i++) expect(() => clocks.parse(cron('0 61 * * * ?', 0))).toThrow(/minute takes 0-59/)
  })

  it('are limited to a thousand: the least recently requested one is dropped', () => {
    const clocks = new Clocks()
    const parse = (expression: string) => clocks.parse(cron(expression, 0))
    const first = parse('0 0 0 * * ?')
    const second = parse('0 0 1 * * ?')
    for (let i = 1; i < 999; i++) parse(`${i % 60} ${Math.floor(i / 60)} 1 * * ?`)
    expect(parse('0 0 0 * * ?')).toBe(first)
    parse('0 0 5 * * ?')
    expect(parse('0 0 0 * * ?')).toBe(first)
    expect(parse('0 0 1 * * ?')).not.toBe(second)
  })
})
