/** Door of the converter service for a host. */
export { converterErrorBody, converterRoutes } from './api.ts'
export { createConverterService } from './service.ts'
export { previewOf } from './stored.ts'
