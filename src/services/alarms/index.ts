/** Alarms, as a host puts them together. */
export { alarmsErrorBody } from './error-body.ts'
export { alarmsRoutes } from './routes.ts'
export { createAlarmsService } from './service.ts'
