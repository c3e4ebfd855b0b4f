/** Resources, as a host puts them together. */
export { resourcesErrorBody } from './refusals.ts'
export { resourcesRoutes } from './api.ts'
export { createResourcesService, type HostedResources } from './service.ts'
