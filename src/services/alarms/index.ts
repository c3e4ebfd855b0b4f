/** Alarms, as a host puts them together. */
export { alarmsRoutes } from './api.ts'
export { createAlarmsService } from './service.ts'
