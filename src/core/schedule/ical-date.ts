/** Parses dates and times in iCalendar form: `19970902`, `19970902T090000`, `19970902T090000Z`. */
import { DAY_MS, SECOND_MS, dayNumber, daysInMonth } from './civil.ts'
import { instantsOf } from './dst-policy.ts'
import type { Zone } from './schedule.ts'

export interface IcalDate {
  /** wall clock in ms as if it were UTC; midnight for a date without time */
  local: number
  kind: 'date' | 'local' | 'utc'
}

export const ICAL_FIRST_YEAR = 1600
export const ICAL_LAST_YEAR = 2199

const DATE = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?$/i

/** Parses a date; undefined when it is malformed, out of range, or not in the calendar. */
export function icalDate(text: string): IcalDate | undefined {
  const match = DATE.exec(text)
  if (!match) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  if (year < ICAL_FIRST_YEAR || year > ICAL_LAST_YEAR || month < 1 || month > 12) return undefined
  if (day < 1 || day > daysInMonth(year, month) || hour > 23 || minute > 59 || second > 59) return undefined
  const local = dayNumber(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * SECOND_MS
  if (match[4] === undefined) return { local, kind: 'date' }
  return { local, kind: match[7] === undefined ? 'local' : 'utc' }
}

/** Converts a date from its own zone (UTC for a `Z`) to the wall clock of `zone`. */
export function localIn(zone: Zone, date: IcalDate, ownZone: Zone | undefined): number {
  if (date.kind === 'utc') return date.local + zone.stretchAt(date.local).offset
  if (ownZone === undefined || ownZone.name === zone.name) return date.local
  const [instant = date.local] = instantsOf(date.local, ownZone)
  return instant + zone.stretchAt(instant).offset
}
