/** Creates the calendars of a host. */
import { calendarRoutes, Calendars } from '#services/calendars'
import { errorBodyOfLines } from '#services/shared'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

export const makeCalendars: MakeService = ({ now, tenants }) => ({
  name: 'calendars',
  description: 'Calendars: opening hours, holidays and shifts, and who is on call',
  example: '/api/calendars',
  errorBody: errorBodyOfLines,
  routes: (app) => calendarRoutes(app, { service: ofCaller(tenants, ({ calendars }) => calendars) }),
  open: ({ store }) => ({ provides: { calendars: new Calendars({ store, now }) } }),
})
