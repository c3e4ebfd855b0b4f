/** Door of the resources service for a host. */
export { resourcesErrorBody } from './refusals.ts'
export { resourcesRoutes } from './api.ts'
export { createResourcesService, type HostedResources, RECONCILED_AT_ONCE } from './service.ts'
