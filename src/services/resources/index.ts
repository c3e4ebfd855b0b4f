/** Resources, as a host puts them together. */
export { resourcesErrorBody } from './error-body.ts'
export { createBackgroundWork, type OperatedBackgroundWork } from './managed-tasks/create-background-work.ts'
export { resourcesRoutes } from './routes.ts'
export { createResourcesService } from './service.ts'
