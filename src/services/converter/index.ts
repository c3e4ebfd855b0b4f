/** The converter, as a host puts it together. */
export { converterErrorBody, converterRoutes } from './api.ts'
export { createConverterService } from './service.ts'
export { previewOf } from './stored.ts'
