/** Exports what a host needs to run the alarms service. */
export { alarmsRoutes } from './api.ts'
export { Alarms } from './service.ts'
