/** Exports what a host needs to run the resources service. */
export { resourcesErrorBody } from './refusals.ts'
export { resourcesRoutes } from './api.ts'
export { Resources, RECONCILED_AT_ONCE } from './service.ts'
