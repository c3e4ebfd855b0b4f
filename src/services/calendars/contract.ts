/**
 * Contract of calendars: opening hours, holidays and shifts of a tenant, by name; in process and over fetch
 * (`client.ts`).
 *
 * CALENDAR-1 an instant is open if its local time is, whatever the clock changes
 * CALENDAR-2 each write keeps the former version: a question about a past instant is answered by the version of then
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `PRECONDITION`, `TOO_LARGE`.
 */
import type { CalendarReading } from '#core/spi'
import type { Caller } from '#kernel'
import type { DocumentsApi } from '#services/shared/contract'
import type { Calendar, CalendarStateInfo, CalendarVersion } from './calendar-schema.ts'

export type { Calendar, CalendarStateInfo, CalendarVersion } from './calendar-schema.ts'

export interface CalendarsService {
  as(caller: Caller): CalendarsApi
}

/** Calendars for use inside the host. */
export interface InternalCalendars extends CalendarsService {
  /** Returns the calendar as it is now, or as it was at an instant (epoch ms); undefined if it does not exist. */
  reading(name: string, at?: number): Promise<CalendarReading | undefined>
}

export interface CalendarsApi extends DocumentsApi<Calendar> {
  /** Returns the kept versions, newest first. */
  versions(name: string): Promise<readonly CalendarVersion[]>
  /** Returns whether the calendar is open at an instant (epoch ms; default now), and who is on call. */
  state(name: string, at?: number): Promise<CalendarStateInfo>
}
