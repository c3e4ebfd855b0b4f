/** Alarms, as a host puts them together. */
export { alarmsErrorBody } from './error-body.ts'
export { alarmsRoutes } from './api.ts'
export { createAlarmsService } from './service.ts'
