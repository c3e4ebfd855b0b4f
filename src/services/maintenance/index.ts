/** Everything a host needs to offer maintenance windows. */
export { maintenanceRoutes } from './api.ts'
export { ignoringState, Maintenance, type PausableTasks } from './service.ts'
