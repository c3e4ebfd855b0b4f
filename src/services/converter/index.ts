/** Everything a host needs to offer the converter service. */
export { converterErrorBody, converterRoutes } from './api.ts'
export { ConverterService } from './service.ts'
export { previewOf } from './forwarding.ts'
