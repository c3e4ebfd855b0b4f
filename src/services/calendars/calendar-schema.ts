/** Schemas of calendars, with limits. */
import { Type } from 'typebox'
import {
  CHECKED,
  checked,
  closed,
  type Decoded,
  DOCUMENT_HEAD,
  instantWith,
  nullable,
  readOnly,
  text,
} from '#services/shared/contract'
import { CALENDAR_DAYS } from '#core/spi'

const MAX_SPANS = 200
const MAX_DATES = 1_000
const MAX_NAMES = 100

const Text = Type.String()
const name = text(200, { minLength: 1 })
const date = text(10, { minLength: 1, description: 'a date such as 2026-12-25', ...CHECKED })
const time = (description: string) => text(5, { minLength: 1, description, ...CHECKED })
const SPAN = {
  from: time('local time such as 08:30'),
  to: time('local time, at most 24:00; if it is not after `from`, the span ends on the next day'),
}
const WEEKLY = {
  ...SPAN,
  days: Type.Optional(
    Type.Array(Type.Enum([...CALENDAR_DAYS]), {
      minItems: 1,
      maxItems: CALENDAR_DAYS.length,
      description: 'default: all days, including holidays; on a holiday only `holiday` applies',
    }),
  ),
}
const onCall = Type.Array(name, { maxItems: MAX_NAMES, description: 'names of contacts' })

const CALENDAR = {
  zone: text(64, { minLength: 1, description: 'IANA name such as Europe/Brussels, or an offset', ...CHECKED }),
  description: Type.Optional(text(1_000)),
  hours: Type.Optional(
    Type.Array(closed(WEEKLY), {
      maxItems: MAX_SPANS,
      description: 'weekly opening hours; default: open all day, except on holidays',
    }),
  ),
  holidays: Type.Optional(
    Type.Array(
      closed(
        {
          name: Type.Optional(name),
          date: Type.Optional(date),
          until: Type.Optional(text(10, { minLength: 1, description: 'the last date', ...CHECKED })),
          rrule: Type.Optional(
            text(5_000, {
              minLength: 1,
              description: 'RFC 5545, such as FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25',
              ...CHECKED,
            }),
          ),
        },
        CHECKED,
      ),
      { maxItems: MAX_DATES, description: 'days by date or rrule' },
    ),
  ),
  exceptions: Type.Optional(
    Type.Array(
      closed({
        name: Type.Optional(name),
        date,
        until: Type.Optional(text(10, { minLength: 1, description: 'the last date', ...CHECKED })),
        hours: Type.Optional(
          Type.Array(closed(SPAN), { maxItems: MAX_SPANS, description: 'hours of these days; empty: closed' }),
        ),
        onCall: Type.Optional(onCall),
      }),
      { maxItems: MAX_DATES, description: 'replace hours, or contacts on call, of what begins on these days' },
    ),
  ),
  shifts: Type.Optional(
    Type.Array(
      closed({
        name,
        ...WEEKLY,
        onCall: Type.Optional(onCall),
        rotation: Type.Optional(
          closed(
            { every: Type.Enum(['day', 'week']), start: date },
            { description: 'one contact at a time: the first from `start`, then the next each day or week' },
          ),
        ),
      }),
      { maxItems: MAX_SPANS },
    ),
  ),
}

const SHOWN = {
  warnings: Type.Array(Text, { description: 'gaps of the hand-over in the next year' }),
}

const configuration = closed(
  { ...CALENDAR, ...readOnly(Object.keys({ ...DOCUMENT_HEAD, ...SHOWN })) },
  { title: 'CalendarConfiguration' },
)
export const CalendarConfiguration = checked(configuration, { subject: 'the calendar' })

export const CalendarSchema = Type.Object({ ...DOCUMENT_HEAD, ...CALENDAR, ...SHOWN }, { title: 'Calendar' })
export interface Calendar extends Decoded<typeof CalendarSchema> {}

const VersionSchema = Type.Object(
  { from: Type.String({ format: 'date-time', description: 'ISO 8601, UTC' }), ...CALENDAR },
  { title: 'CalendarVersion' },
)
export interface CalendarVersion extends Decoded<typeof VersionSchema> {}
export const CalendarVersionsSchema = Type.Object(
  { versions: Type.Array(VersionSchema) },
  { title: 'CalendarVersions' },
)

export const STATE_QUERY = {
  at: Type.Optional(instantWith('ISO 8601 or epoch ms; default: now')),
}

const LocalTime = Type.String({ format: 'date-time', description: 'ISO 8601 with the offset of the zone' })
export const CalendarStateSchema = Type.Object(
  {
    at: LocalTime,
    open: Type.Boolean(),
    holiday: Type.Optional(Text),
    shifts: Type.Array(Text, { description: 'names of current shifts' }),
    onCall: Type.Array(Text, { description: 'names of contacts on call' }),
    nextChange: nullable(LocalTime),
    nextState: nullable(LocalTime),
  },
  {
    title: 'CalendarState',
    description:
      '`nextChange`: when it opens or closes; `nextState`: when any part changes; null: not within two years',
  },
)
export interface CalendarStateInfo extends Decoded<typeof CalendarStateSchema> {}

export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'CalendarError' },
)
