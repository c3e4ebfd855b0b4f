/** The converter, as a host puts it together. */
export { converterErrorBody } from './error-body.ts'
export { converterRoutes } from './routes.ts'
export { createConverterService } from './service.ts'
export { previewOf } from './stored.ts'
