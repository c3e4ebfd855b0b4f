/** Everything a host needs to offer retention. */
export { retentionRoutes } from './api.ts'
export { Retention } from './service.ts'
