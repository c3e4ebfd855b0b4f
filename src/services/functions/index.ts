/** The function registry, as a host puts it together. */
export { webscriptOf } from './function-caller.ts'
export { FUNCTION_TYPES, type FunctionType, TYPE_NAMES } from './function-type.ts'
export { MAX_ASSETS, MAX_BYTES, pathProblem } from './registry/archive.ts'
export { type Manifest, readManifest } from './manifest-schema.ts'
export { functionsErrorBody, functionsRoutes } from './api.ts'
export { type Runtime, RUNTIMES } from './runtimes/catalog.ts'
export type { PlugCallParams } from './runtimes/plug-call.ts'
export { createFunctionsService, type OpenedPool } from './service.ts'
