/** Routes of calendars. */
import type { FastifyInstance } from 'fastify'
import { addRoutes, documentRoutes, routesOf } from '#services/shared'
import {
  STATE_QUERY,
  type Calendar,
  CalendarConfiguration,
  CalendarSchema,
  CalendarStateSchema,
  CalendarVersionsSchema,
  ErrorSchema,
} from './calendar-schema.ts'
import type { CalendarsApi, CalendarsService } from './contract.ts'

const route = routesOf<CalendarsApi>()

const ROUTES = [
  ...documentRoutes<CalendarsApi, Calendar>({
    path: '/api/calendars',
    one: 'calendar',
    many: 'calendars',
    scope: 'author',
    body: CalendarConfiguration,
    shown: CalendarSchema,
    pick: (api) => api,
  }),
  route({
    method: 'GET',
    path: '/api/calendars/:name/versions',
    scope: 'read',
    summary: 'Versions of a calendar, newest first; the latest hundred',
    answers: { 200: CalendarVersionsSchema },
    handler: async ({ api, params }) => ({ versions: await api.versions(params.name) }),
  }),
  route({
    method: 'GET',
    path: '/api/calendars/:name/state',
    scope: 'read',
    summary: 'Whether a calendar is open, which shift it is, and who is on call',
    query: STATE_QUERY,
    answers: { 200: CalendarStateSchema },
    handler: ({ api, params, query }) => api.state(params.name, query.at),
  }),
]

export function calendarRoutes(app: FastifyInstance, { service }: { service: CalendarsService }): Promise<void> {
  return addRoutes(app, service, { tag: 'calendars', errors: ErrorSchema, routes: ROUTES })
}
