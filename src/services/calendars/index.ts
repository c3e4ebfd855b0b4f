/** Everything a host needs to offer calendars. */
export { calendarRoutes } from './api.ts'
export { Calendars, warningsOfStored } from './service.ts'
