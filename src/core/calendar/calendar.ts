/** Defines calendars: weekly hours, holidays, exceptions and shifts in the local time of one zone. */
export const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
/** `holiday` selects holidays, whatever their day of the week; the other names then exclude them. */
export const CALENDAR_DAYS = [...DAY_NAMES, 'holiday'] as const
export type CalendarDay = (typeof CALENDAR_DAYS)[number]

/** Local times `HH:MM`; `to` may be `24:00`. If `to` is not after `from`, the span ends on the next day. */
export interface DaySpan {
  readonly from: string
  readonly to: string
}

export interface WeeklySpan extends DaySpan {
  /** default: all days, including holidays */
  readonly days?: readonly CalendarDay[]
}

/** Either `date`, and optionally its last date `until`, or `rrule`. Dates: `YYYY-MM-DD`. */
export interface Holiday {
  readonly name?: string
  readonly date?: string
  readonly until?: string
  readonly rrule?: string
}

/** Replaces what begins on the dates from `date` to `until`. */
export interface CalendarException {
  readonly name?: string
  readonly date: string
  readonly until?: string
  /** empty: closed; absent: the hours are unchanged */
  readonly hours?: readonly DaySpan[]
  /** names of those on call; absent: unchanged */
  readonly onCall?: readonly string[]
}

export interface Shift extends WeeklySpan {
  readonly name: string
  /** names of contacts on call during the shift; with a rotation one of them */
  readonly onCall?: readonly string[]
  readonly rotation?: Rotation
}

/** The first name is on call in the period that begins on `start`; then each period continues with the next name. */
export interface Rotation {
  readonly every: 'day' | 'week'
  readonly start: string
}

export interface CalendarDocument {
  /** IANA name or offset */
  readonly zone: string
  readonly description?: string
  /** default: open all day, except on holidays */
  readonly hours?: readonly WeeklySpan[]
  readonly holidays?: readonly Holiday[]
  readonly exceptions?: readonly CalendarException[]
  readonly shifts?: readonly Shift[]
}
