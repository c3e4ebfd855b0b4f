/** Door of the alarms service for a host. */
export { alarmsRoutes } from './api.ts'
export { createAlarmsService } from './service.ts'
